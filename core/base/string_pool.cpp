#include "base/string_pool.h"

namespace gs {

namespace {
constexpr size_t kChunkBytes = 64 * 1024;
}

StringPool::StringPool(const StringPool& other) {
    for (std::string_view text : other.views_)
        intern(text);
}

StringId StringPool::intern(std::string_view text) {
    auto found = ids_.find(text);
    if (found != ids_.end())
        return found->second;
    if (chunks_.empty() || chunks_.back().size() + text.size() > chunks_.back().capacity()) {
        chunks_.emplace_back();
        chunks_.back().reserve(text.size() > kChunkBytes ? text.size() : kChunkBytes);
    }
    std::string& chunk = chunks_.back();
    const size_t begin = chunk.size();
    chunk.append(text);
    const std::string_view stored(chunk.data() + begin, text.size());
    const auto id = static_cast<StringId>(views_.size());
    views_.push_back(stored);
    ids_.emplace(stored, id);
    return id;
}

StringId StringPool::find(std::string_view text) const {
    auto found = ids_.find(text);
    return found == ids_.end() ? kEmptyString : found->second;
}

} // namespace gs

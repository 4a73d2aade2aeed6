#include "base/string_pool.h"

namespace gs {

namespace {
constexpr size_t kChunkBytes = 64 * 1024;
}

StringId StringPool::intern(std::string_view text) {
    const StringId known = find(text);
    if (known != kEmptyString || (text.empty() && size() > 0))
        return known;
    if (chunks_.empty() || chunks_.back().size() + text.size() > chunks_.back().capacity()) {
        chunks_.emplace_back();
        chunks_.back().reserve(text.size() > kChunkBytes ? text.size() : kChunkBytes);
    }
    std::string& chunk = chunks_.back();
    const size_t begin = chunk.size();
    chunk.append(text);
    const std::string_view stored(chunk.data() + begin, text.size());
    const auto id = static_cast<StringId>(size());
    views_.push_back(stored);
    ids_.emplace(stored, id);
    return id;
}

StringId StringPool::find(std::string_view text) const {
    const auto found = ids_.find(text);
    if (found != ids_.end())
        return found->second;
    return base_ ? base_->find(text) : kEmptyString;
}

} // namespace gs

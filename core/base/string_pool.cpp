#include "base/string_pool.h"

#include <functional>

namespace gs {

namespace {
constexpr size_t kChunkBytes = 64 * 1024;
constexpr size_t kFirstSlots = 64;

uint64_t hashOf(std::string_view text) {
    return std::hash<std::string_view>()(text);
}
} // namespace

StringId StringPool::intern(std::string_view text) {
    const uint64_t hash = hashOf(text);
    const StringId known = find(text, hash);
    if (known != kEmptyString || (text.empty() && size() > 0))
        return known;
    if (chunks_.empty() || chunks_.back().size() + text.size() > chunks_.back().capacity()) {
        chunks_.emplace_back();
        chunks_.back().reserve(text.size() > kChunkBytes ? text.size() : kChunkBytes);
    }
    std::string& chunk = chunks_.back();
    const size_t begin = chunk.size();
    chunk.append(text);
    const auto id = static_cast<StringId>(size());
    views_.emplace_back(chunk.data() + begin, text.size());
    hashes_.push_back(static_cast<uint32_t>(hash));
    if (views_.size() * 2 > slots_.size()) {
        grow();
        return id;
    }
    size_t at = hash & (slots_.size() - 1);
    while (slots_[at] != 0)
        at = (at + 1) & (slots_.size() - 1);
    slots_[at] = static_cast<uint32_t>(views_.size());
    return id;
}

StringId StringPool::find(std::string_view text) const {
    return find(text, hashOf(text));
}

StringId StringPool::find(std::string_view text, uint64_t hash) const {
    const size_t mask = slots_.size() - 1;
    for (size_t at = hash & mask; !slots_.empty() && slots_[at] != 0; at = (at + 1) & mask) {
        const uint32_t index = slots_[at] - 1;
        if (hashes_[index] == static_cast<uint32_t>(hash) && views_[index] == text)
            return base_size_ + index;
    }
    return base_ ? base_->find(text, hash) : kEmptyString;
}

void StringPool::grow() {
    slots_.assign(slots_.empty() ? kFirstSlots : slots_.size() * 2, 0);
    for (size_t index = 0; index < hashes_.size(); ++index) {
        size_t at = hashes_[index] & (slots_.size() - 1);
        while (slots_[at] != 0)
            at = (at + 1) & (slots_.size() - 1);
        slots_[at] = static_cast<uint32_t>(index + 1);
    }
}

} // namespace gs

#include "base/string_pool.h"

#include <algorithm>
#include <cstring>
#include <functional>

namespace gs {

namespace {

constexpr size_t kChunkBytes = 64 * 1024;
constexpr size_t kFirstSlots = 64;
constexpr StringId kFreeSlot = std::numeric_limits<StringId>::max();

uint32_t hashOf(std::string_view text) {
    return static_cast<uint32_t>(std::hash<std::string_view>()(text));
}

} // namespace

StringPool::StringPool() : slots_(kFirstSlots, kFreeSlot) {
    intern({});
}

StringPool::StringPool(const StringPool& other)
    : chunks_(other.chunks_), views_(other.views_), hashes_(other.hashes_), slots_(other.slots_) {}

size_t StringPool::slotOf(std::string_view text, uint32_t hash) const {
    size_t slot = hash & (slots_.size() - 1);
    while (slots_[slot] != kFreeSlot && (hashes_[slots_[slot]] != hash || views_[slots_[slot]] != text))
        slot = (slot + 1) & (slots_.size() - 1);
    return slot;
}

std::string_view StringPool::store(std::string_view text) {
    if (text.size() > free_bytes_) {
        free_bytes_ = std::max(text.size(), kChunkBytes);
        chunks_.push_back(std::make_shared_for_overwrite<char[]>(free_bytes_));
        free_ = chunks_.back().get();
    }
    if (!text.empty())
        std::memcpy(free_, text.data(), text.size());
    const std::string_view stored(free_, text.size());
    free_ += text.size();
    free_bytes_ -= text.size();
    return stored;
}

void StringPool::grow() {
    slots_.assign(slots_.size() * 2, kFreeSlot);
    for (StringId id = 0; id < views_.size(); ++id)
        slots_[slotOf(views_[id], hashes_[id])] = id;
}

StringId StringPool::intern(std::string_view text) {
    const uint32_t hash = hashOf(text);
    size_t slot = slotOf(text, hash);
    if (slots_[slot] != kFreeSlot)
        return slots_[slot];
    if (2 * (views_.size() + 1) > slots_.size()) {
        grow();
        slot = slotOf(text, hash);
    }
    const auto id = static_cast<StringId>(views_.size());
    views_.push_back(store(text));
    hashes_.push_back(hash);
    slots_[slot] = id;
    return id;
}

StringId StringPool::find(std::string_view text) const {
    const StringId id = slots_[slotOf(text, hashOf(text))];
    return id == kFreeSlot ? kEmptyString : id;
}

} // namespace gs

// Interned strings: each distinct text is stored once, ids compare as integers.
#pragma once

#include "base/ids.h"

#include <memory>
#include <string_view>
#include <vector>

namespace gs {

class StringPool {
public:
    StringPool();
    // A copy shares the texts, which never change; what it adds is its own.
    StringPool(const StringPool& other);
    StringPool& operator=(const StringPool&) = delete;
    StringPool(StringPool&&) noexcept = default;
    StringPool& operator=(StringPool&&) noexcept = default;

    StringId intern(std::string_view text);
    /// Id of `text`, or kEmptyString if it was never interned.
    StringId find(std::string_view text) const;
    std::string_view view(StringId id) const { return views_[id]; }
    size_t size() const { return views_.size(); }

private:
    size_t slotOf(std::string_view text, uint32_t hash) const;
    std::string_view store(std::string_view text);
    void grow();

    std::vector<std::shared_ptr<char[]>> chunks_; ///< Texts never move, so views stay valid.
    char* free_ = nullptr;                        ///< Rest of the last chunk that this pool itself made.
    size_t free_bytes_ = 0;
    std::vector<std::string_view> views_;
    std::vector<uint32_t> hashes_; ///< By id.
    std::vector<StringId> slots_;  ///< Open addressing, a power of two, at most half full.
};

} // namespace gs

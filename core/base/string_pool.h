// Interned strings: each distinct text is stored once, ids compare as integers.
#pragma once

#include "base/ids.h"

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gs {

class StringPool {
public:
    StringPool() { intern({}); }
    // The map's keys point into the stored texts, so a copy must be rebuilt.
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
    std::deque<std::string> chunks_; ///< Large blocks; texts never move, so views stay valid.
    std::vector<std::string_view> views_;
    std::unordered_map<std::string_view, StringId> ids_;
};

} // namespace gs

// Interned strings: each distinct text is stored once, ids compare as integers.
#pragma once

#include "base/ids.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gs {

/// A pool can extend another one: ids of the base stay valid, and making it copies nothing. Passes that
/// rewrite a graph extend its pool.
class StringPool {
public:
    StringPool() { intern({}); }
    explicit StringPool(std::shared_ptr<const StringPool> base)
        : base_(std::move(base)), base_size_(static_cast<StringId>(base_->size())) {}
    StringPool(const StringPool&) = delete;
    StringPool& operator=(const StringPool&) = delete;
    StringPool(StringPool&&) noexcept = default;
    StringPool& operator=(StringPool&&) noexcept = default;

    StringId intern(std::string_view text);
    /// Id of `text`, or kEmptyString if it was never interned.
    StringId find(std::string_view text) const;
    std::string_view view(StringId id) const {
        return id < base_size_ ? base_->view(id) : views_[id - base_size_];
    }
    size_t size() const { return base_size_ + views_.size(); }

private:
    StringId find(std::string_view text, uint64_t hash) const;
    void grow();

    std::shared_ptr<const StringPool> base_;
    StringId base_size_ = 0;
    std::deque<std::string> chunks_; ///< large blocks; texts never move, so views stay valid
    std::vector<std::string_view> views_;
    std::vector<uint32_t> hashes_; ///< of views_: most texts that differ are told apart by it
    /// Positions in views_ plus 1, where their hashes lead, else in the next free slot; 0 = free. Its size is
    /// a power of two, at most half of it in use. Graphs of a million nodes are read at the speed of these
    /// lookups.
    std::vector<uint32_t> slots_;
};

} // namespace gs

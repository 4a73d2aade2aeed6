// Interned strings: each distinct text is stored once, ids compare as integers.
#pragma once

#include "base/ids.h"

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
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
    std::shared_ptr<const StringPool> base_;
    StringId base_size_ = 0;
    std::deque<std::string> chunks_; ///< large blocks; texts never move, so views stay valid
    std::vector<std::string_view> views_;
    std::unordered_map<std::string_view, StringId> ids_;
};

} // namespace gs

#include "schedule/overlap_bucketing/ancestor_bits.h"

#include <algorithm>

namespace gs {

namespace {

constexpr size_t kBlockWords = 8;

} // namespace

AncestorBits::AncestorBits(const Order& order, const Dependencies& dependencies, const ExtraOrder& extra,
                           std::span<const NodeId> rows, std::span<const NodeId> columns)
    : words_((columns.size() + 63) / 64), bits_(rows.size() * words_, 0), row_of_(dependencies.size(), -1),
      column_of_(dependencies.size(), -1), scratch_(dependencies.size() * std::min(kBlockWords, words_), 0) {
    for (size_t i = 0; i < rows.size(); ++i)
        row_of_[rows[i]] = static_cast<int32_t>(i);
    for (size_t i = 0; i < columns.size(); ++i)
        column_of_[columns[i]] = static_cast<int32_t>(i);
    for (size_t word = 0; word < words_; word += kBlockWords)
        addBlock(order, dependencies, extra, word);
}

void AncestorBits::addBlock(const Order& order, const Dependencies& dependencies, const ExtraOrder& extra,
                            size_t first_word) {
    const size_t width = std::min(kBlockWords, words_ - first_word);
    const auto first_column = static_cast<int32_t>(first_word * 64);
    const auto column_count = static_cast<int32_t>(width * 64);
    std::fill(scratch_.begin(), scratch_.end(), 0);
    for (size_t at = order.size(); at-- > 0;) {
        const NodeId id = order[at];
        uint64_t* row = scratch_.data() + id * width;
        const auto add = [&](NodeId user) {
            const uint64_t* other = scratch_.data() + user * width;
            for (size_t w = 0; w < width; ++w)
                row[w] |= other[w];
            const int32_t column = column_of_[user] - first_column;
            if (column >= 0 && column < column_count)
                row[column / 64] |= uint64_t{1} << (column % 64);
        };
        for (const NodeId user : dependencies.after(id))
            add(user);
        for (const ExtraOrder::Link& link : extra.after(id))
            add(link.node);
        if (row_of_[id] >= 0)
            std::copy_n(row, width, bits_.data() + static_cast<size_t>(row_of_[id]) * words_ + first_word);
    }
}

} // namespace gs

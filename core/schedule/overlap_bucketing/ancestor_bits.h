// Ancestors among chosen nodes, one bit each, in a graph with extra edges.
#pragma once

#include "passes/extra_order.h"
#include "schedule/overlap_scheduler/relations.h"

namespace gs {

/// Which of `rows` are ancestors of which of `columns`. Memory: rows × columns / 8 bytes, and 64 bytes per
/// node.
class AncestorBits {
public:
    /// `order`: a topological order of data and extra edges; edges against it do not count.
    AncestorBits(const Order& order, const Dependencies& dependencies, const ExtraOrder& extra,
                 std::span<const NodeId> rows, std::span<const NodeId> columns);

    bool isAncestor(size_t row, size_t column) const {
        return (bits_[row * words_ + column / 64] >> (column % 64) & 1) != 0;
    }

private:
    void addBlock(const Order& order, const Dependencies& dependencies, const ExtraOrder& extra,
                  size_t first_word);

    size_t words_ = 0;
    std::vector<uint64_t> bits_;
    std::vector<int32_t> row_of_, column_of_; ///< per node, -1 = none
    std::vector<uint64_t> scratch_;
};

} // namespace gs

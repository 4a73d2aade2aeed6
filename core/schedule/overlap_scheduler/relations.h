// Depths and ancestor bitsets that the overlap schedulers ask for.
#pragma once

#include "graph/graph.h"

namespace gs {

/// Predecessors and successors per node: the arguments, and mutation and effect edges if asked for.
class Dependencies {
public:
    Dependencies(const Graph& graph, bool with_order_edges);

    size_t size() const { return before_begin_.size() - 1; }
    std::span<const NodeId> before(NodeId id) const { return row(before_begin_, before_, id); }
    std::span<const NodeId> after(NodeId id) const { return row(after_begin_, after_, id); }

private:
    static std::span<const NodeId> row(const std::vector<uint32_t>& begin, const std::vector<NodeId>& items,
                                       NodeId id) {
        return {items.data() + begin[id], begin[id + 1] - begin[id]};
    }
    std::vector<uint32_t> before_begin_, after_begin_;
    std::vector<NodeId> before_, after_;
};

/// Depth of nodes that no compute node depends on.
inline constexpr uint32_t kBlocksNothing = 0x7fffffff;

/// Per node, the least depth among the compute nodes it blocks, itself included. The depth of a compute node
/// is the number of compute nodes on the longest path to it, itself included.
std::vector<uint32_t> computeDominance(const Dependencies& dependencies, const std::vector<bool>& is_compute);

/// For some nodes ("items"), which of some others ("columns") are their ancestors or descendants: one bit
/// each. Which of the two sets is the larger matters: time grows with the columns, memory with both.
class NodeRelations {
public:
    /// Columns are worked off in blocks of 512, so that memory is nodes × 64 bytes plus the kept rows.
    NodeRelations(const Dependencies& dependencies, std::span<const NodeId> columns,
                  std::span<const NodeId> items);

    bool related(size_t item, size_t column) const {
        return (bits_[item * words_ + column / 64] >> (column % 64) & 1) != 0;
    }
    /// First column that is neither related to the item nor in `used` (words of bits;
    /// may be empty); -1 if there is none.
    int64_t firstUnrelated(size_t item, std::span<const uint64_t> used) const;
    size_t words() const { return words_; }

private:
    void addBlock(const Dependencies& dependencies, size_t first_word, bool forwards);

    size_t columns_;
    size_t words_ = 0;
    std::vector<uint64_t> bits_;
    std::vector<int32_t> column_of_; ///< per node, -1 = no column
    std::vector<int32_t> item_of_;   ///< per node, -1 = no item
    std::vector<uint64_t> scratch_;
};

} // namespace gs

#include "schedule/overlap_scheduler/relations.h"

#include <algorithm>
#include <bit>

namespace gs {

namespace {

constexpr size_t kBlockWords = 8;

} // namespace

Dependencies::Dependencies(const Graph& graph, bool with_order_edges) {
    const auto count = static_cast<NodeId>(graph.size());
    before_begin_.assign(count + 1, 0);
    after_begin_.assign(count + 1, 0);
    for (NodeId id = 0; id < count; ++id) {
        const auto inputs = graph.inputs(id);
        before_.insert(before_.end(), inputs.begin(), inputs.end());
        if (with_order_edges) {
            for (const OrderEdge& edge : graph.orderEdges(id))
                before_.push_back(edge.node);
        }
        before_begin_[id + 1] = static_cast<uint32_t>(before_.size());
    }
    for (const NodeId id : before_)
        ++after_begin_[id + 1];
    for (size_t i = 0; i < count; ++i)
        after_begin_[i + 1] += after_begin_[i];
    after_.resize(before_.size());
    std::vector<uint32_t> fill(after_begin_.begin(), after_begin_.end() - 1);
    for (NodeId id = 0; id < count; ++id) {
        for (const NodeId input : before(id))
            after_[fill[input]++] = id;
    }
}

std::vector<uint32_t> computeDominance(const Dependencies& dependencies,
                                       const std::vector<bool>& is_compute) {
    const auto count = static_cast<NodeId>(dependencies.size());
    std::vector<uint32_t> depth(count, 0);
    for (NodeId id = 0; id < count; ++id) {
        for (const NodeId input : dependencies.before(id))
            depth[id] = std::max(depth[id], depth[input]);
        depth[id] += is_compute[id] ? 1 : 0;
    }
    for (NodeId id = count; id-- > 0;) {
        if (is_compute[id])
            continue;
        depth[id] = kBlocksNothing;
        for (const NodeId user : dependencies.after(id))
            depth[id] = std::min(depth[id], depth[user]);
    }
    return depth;
}

NodeRelations::NodeRelations(const Dependencies& dependencies, std::span<const NodeId> columns,
                             std::span<const NodeId> items)
    : columns_(columns.size()), words_((columns.size() + 63) / 64), bits_(items.size() * words_, 0),
      column_of_(dependencies.size(), -1), item_of_(dependencies.size(), -1) {
    for (size_t i = 0; i < columns.size(); ++i)
        column_of_[columns[i]] = static_cast<int32_t>(i);
    for (size_t i = 0; i < items.size(); ++i)
        item_of_[items[i]] = static_cast<int32_t>(i);
    scratch_.resize(dependencies.size() * std::min(kBlockWords, words_));
    for (size_t word = 0; word < words_; word += kBlockWords) {
        addBlock(dependencies, word, true);
        addBlock(dependencies, word, false);
    }
}

void NodeRelations::addBlock(const Dependencies& dependencies, size_t first_word, bool forwards) {
    const size_t width = std::min(kBlockWords, words_ - first_word);
    const auto first_column = static_cast<int32_t>(first_word * 64);
    const auto column_count = static_cast<int32_t>(width * 64);
    const auto count = static_cast<NodeId>(dependencies.size());
    for (NodeId i = 0; i < count; ++i) {
        const NodeId id = forwards ? i : count - 1 - i;
        uint64_t* row = scratch_.data() + id * width;
        std::fill_n(row, width, 0);
        for (const NodeId from : forwards ? dependencies.before(id) : dependencies.after(id)) {
            const uint64_t* other = scratch_.data() + from * width;
            for (size_t w = 0; w < width; ++w)
                row[w] |= other[w];
            const int32_t column = column_of_[from] - first_column;
            if (column >= 0 && column < column_count)
                row[column / 64] |= uint64_t{1} << (column % 64);
        }
        if (item_of_[id] >= 0) {
            uint64_t* kept = bits_.data() + static_cast<size_t>(item_of_[id]) * words_ + first_word;
            for (size_t w = 0; w < width; ++w)
                kept[w] |= row[w];
        }
    }
}

int64_t NodeRelations::firstUnrelated(size_t item, std::span<const uint64_t> used) const {
    const uint64_t* row = bits_.data() + item * words_;
    for (size_t w = 0; w < words_; ++w) {
        const uint64_t taken = row[w] | (used.empty() ? 0 : used[w]);
        if (~taken == 0)
            continue;
        const size_t column = w * 64 + static_cast<size_t>(std::countr_one(taken));
        return column < columns_ ? static_cast<int64_t>(column) : -1;
    }
    return -1;
}

} // namespace gs

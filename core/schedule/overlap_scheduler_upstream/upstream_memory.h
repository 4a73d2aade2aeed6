// Peak memory of a program order as the reference's MemoryTracker estimates it.
#pragma once

#include "graph/graph.h"

namespace gs {

/// Bytes of each node's value on devices other than the CPU. Every value counts as a storage of its own,
/// views too: aliases are not known. Sizes that nobody knows count as 0.
std::vector<int64_t> storageBytes(const Graph& graph);

/// Bytes alive while nodes are scheduled one after the other. Inputs of the graph are alive from the start;
/// those called "primals…" to the end. Source: memory_estimator.py of PyTorch 2.15.
class MemoryTracker {
public:
    MemoryTracker(const Graph& graph, const std::vector<int64_t>& bytes);

    void schedule(NodeId node);
    int64_t current() const { return current_; }
    int64_t peak() const { return peak_; }

private:
    const Graph& graph_;
    const std::vector<int64_t>& bytes_;
    std::vector<uint32_t> uses_left_;
    std::vector<bool> freed_;
    int64_t current_ = 0;
    int64_t peak_ = 0;
};

} // namespace gs

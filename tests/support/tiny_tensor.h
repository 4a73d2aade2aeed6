// Tensors of integers, enough to run lowered graphs on all ranks at once and see what comes out.
#pragma once

#include "graph/graph.h"

#include <cstdint>
#include <vector>

namespace gs::test {

struct TinyTensor {
    std::vector<int64_t> shape;
    std::vector<int64_t> data; ///< row-major

    bool operator==(const TinyTensor&) const = default;
};

/// 0, 1, 2, … in this shape.
TinyTensor countingTensor(std::vector<int64_t> shape);
/// Rows [begin, end) along `dim`.
TinyTensor sliceAlong(const TinyTensor& tensor, size_t dim, int64_t begin, int64_t end);
/// Tensors side by side along `dim`.
TinyTensor concatenate(const std::vector<TinyTensor>& parts, size_t dim);

/// Runs the graphs of all ranks in step; they have the same nodes. `locals[rank]` is what the rank's to_local
/// of the one parameter yields. Knows the operators of lowered redistributes. Returns what each rank's output
/// node is given.
std::vector<TinyTensor> runLockstep(const std::vector<GraphPtr>& graphs,
                                    const std::vector<TinyTensor>& locals);

} // namespace gs::test

// Loops over rows: reductions, and operators that read and write whole rows of one dimension.
#pragma once

#include "host_op.h"
#include "tile_kernels.h"

namespace gs::host {

/// Sums, products or extrema of `in` over the dimensions where `out` has 1 and the others agree; then times
/// `scale`. `truth` reads operands as 0 and 1.
Body reduceLoop(const Tensor& in, const Tensor& out, Combine how, double start, double scale, bool truth);

/// One row of each operand, as doubles.
struct Rows {
    std::vector<double*> in, out;
};
/// Calls f(rows, length) for every row along `axis`. The length is that of the first input; how long the rows
/// of the others must be is for the caller to check. Not supported if operands differ from each other in
/// another dimension.
Result<Body> rowLoop(std::vector<Tensor> in, std::vector<Tensor> out, size_t axis,
                     std::function<void(const Rows& row, int64_t n)> f);

} // namespace gs::host

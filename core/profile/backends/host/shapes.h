// What makers ask of shapes before anything runs: a graph is a file, and its shapes may contradict each
// other.
#pragma once

#include "host_tensor.h"

#include <optional>

namespace gs::host {

/// A dimension as PyTorch counts, negative from the end; nothing if there is no such dimension.
std::optional<size_t> dimensionOf(int64_t stated, size_t rank);

bool sameShape(const Tensor& a, const Tensor& b);
/// Sizes may differ along `dim` only.
bool sameBut(const Tensor& a, const Tensor& b, size_t dim);
/// Each size is 1 or that of `shape`, from the last dimension on.
bool broadcastsTo(const Tensor& tensor, const std::vector<int64_t>& shape);

/// Integers in [from, to); `ignored` is allowed as well.
bool valuesWithin(const Tensor& index, int64_t from, int64_t to,
                  std::optional<int64_t> ignored = std::nullopt);

} // namespace gs::host

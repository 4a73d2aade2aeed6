// The one meaning of "median" for measured times.
#pragma once

#include <cstdint>
#include <vector>

namespace gs {

/// The value in the middle; of an even number the mean of the two in the middle, rounded down. 0 without
/// values.
int64_t median(std::vector<int64_t> values);

} // namespace gs

#include "base/median.h"

#include <algorithm>
#include <cstddef>

namespace gs {

int64_t median(std::vector<int64_t> values) {
    if (values.empty())
        return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1)
        return *middle;
    // Half of the sum without the sum, which may overflow; an arithmetic shift rounds down.
    const int64_t low = *std::max_element(values.begin(), middle), high = *middle;
    return (low & high) + ((low ^ high) >> 1);
}

} // namespace gs

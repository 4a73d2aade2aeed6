// Human text of the command line.
#pragma once

#include "analysis/analysis.h"

#include <string>

namespace gs {

/// A few aligned lines: graph, groups, costs, hidden and exposed, step before and after, lower bound, peak
/// bytes.
std::string summaryText(const Analysis& analysis);

} // namespace gs

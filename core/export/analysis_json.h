// The analysis as JSON: `gatherscope.analysis` version 1 (formats.md).
#pragma once

#include "analysis/analysis.h"

#include <string>

namespace gs {

inline constexpr int kAnalysisJsonVersion = 1;

/// Stable key order, two spaces of indent, a newline at the end; byte-identical for equal analyses. `graph`,
/// `costs` and `schedule` describe the scheduled program (after lowering and bucketing). Decisions list the
/// candidates; gathers that are none are diagnostics. Positions (cur, target, floor, first_consumer) are in
/// that program's input order.
std::string writeAnalysisJson(const Analysis& analysis);

} // namespace gs

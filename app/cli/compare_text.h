// Rows of a comparison as a table for a terminal, as CSV and as JSON.
#pragma once

#include "analysis/compare.h"
#include "analysis/compare_gathers.h"

#include <nlohmann/json_fwd.hpp>

namespace gs {

/// One aligned line per row with a heading; the row `best` (-1 = none) begins with "*". Settings are stated
/// as far as they differ from `base`.
std::string compareTable(const std::vector<CompareRow>& rows, const Settings& base, int best);
std::string compareCsv(const std::vector<CompareRow>& rows, const Settings& base, int best);
nlohmann::ordered_json compareJson(const std::vector<CompareRow>& rows, const Settings& base, int best);
/// The gathers that differ, greatest change of exposure first, at most `limit` lines, and the totals.
std::string gatherDiffText(const GatherDiff& diff, const std::string& label_a, const std::string& label_b,
                           size_t limit);
nlohmann::ordered_json gatherDiffJson(const GatherDiff& diff);
/// "overlap-scheduler max_in_flight_gb=0.1"
std::string rowLabel(const CompareRow& row, const Settings& base);

} // namespace gs

// What a bundle holds of the other ranks: their programs, each distinct graph once.
#pragma once

#include "analysis/analysis.h"

#include <string>

namespace gs {

/// {"graphs":[gatherscope.graph],"programs":[{"rank","file","graphs":[{"label","compile_id","file","graph"}],
/// "schedules":[{"compile_id","line","targets"}],"execution_order":[…],"timeouts":[…]}]}; "graph" of a
/// program is an index into "graphs", or -1 for the bundle's own graph. "null" without a comparison. Read by
/// analysis/bundle_ranks.h.
std::string bundleRanks(const Analysis& analysis);

} // namespace gs

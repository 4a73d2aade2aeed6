// A rank comparison as JSON (`gatherscope.ranks`, version 1), for scripts; stable key order.
#pragma once

#include "explain/rank_compare.h"

namespace gs {

std::string writeRanksJson(const RankComparison& comparison);

} // namespace gs

// Curve of gathered bytes alive during a simulated step.
#pragma once

#include "simulate/timeline.h"

namespace gs {

/// A gather's output lives from its launch to the end of its last consumer (through views). Fills live_bytes
/// and peak_gathered_bytes. Gathers of unknown size count as 0. O(n log n) in the gathers.
void addLiveBytes(const Graph& graph, const CollectiveTable& collectives, const Order& order,
                  Timeline& timeline);

} // namespace gs

// Document 004's checks on graphs: launches and waits that do not belong together.
#pragma once

#include "graph/collectives.h"

namespace gs {

/// Adds a diagnostic for each finding, with the node, its line in the input file where it is known, and what
/// to do about it. Codes:
///   in-flight-at-entry (Info)  a graph input is waited for: eager code launched the collective
///   in-flight-read-early       such an input is read before its wait
///   leaves-in-flight (Info)    a launch without a wait whose result the graph returns
///   used-unwaited              a result is read before or without a wait: a race
///   never-waited               nothing waits for a launch and nothing uses it
///   waited-twice               a later wait for the same tensor: it does nothing
///   wait-of-wait               a wait for the result of a wait: it does nothing
///   wait-without-collective    a wait for what no collective writes: it does nothing
/// Without a severity: Warning. O(nodes + edges).
void lintCollectives(const Graph& graph, const CollectiveTable& collectives, Diagnostics& diagnostics);

} // namespace gs

// Times of collectives in flight when the graph starts (document 004): nothing in the graph says how long
// they take, so the user or a cost file does.
#pragma once

#include "base/diagnostics.h"
#include "graph/collectives.h"

#include <map>
#include <string>

namespace gs {

/// A setting's value: "none", one number of ns for all, or "NAME=ns,NAME=ns" with names of waits or of graph
/// inputs (node names or parameter names).
struct InFlightTimes {
    int64_t all_ns = -1; ///< -1 = not stated
    std::map<std::string, int64_t> by_name;

    /// -1 if nothing is stated for it; a name counts before the number for all.
    int64_t namedNs(const Graph& graph, const Collective& collective) const;
};

/// Error "bad-setting" naming the setting, the faulty part and the syntax.
Result<InFlightTimes> parseInFlightTimes(std::string_view setting, std::string_view text);

/// One warning ("unknown-in-flight-name") for each name that is neither a graph input with a collective in
/// flight nor a wait for one, with those that are.
void checkInFlightNames(std::string_view setting, const InFlightTimes& times, const Graph& graph,
                        const CollectiveTable& collectives, Diagnostics& diagnostics);

} // namespace gs

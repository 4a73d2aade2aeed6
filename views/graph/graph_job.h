// The part of a layout that needs no widget and no Graphviz; runs in a worker thread.
#pragma once

#include "layout/focus.h"
#include "layout/fold.h"
#include "layout/lanes.h"

#include <memory>

namespace gs {

/// What the graph view shows.
enum class GraphMode : uint8_t {
    Focus,   ///< the selection's neighbourhood
    Modules, ///< the whole program folded by module
    Lanes    ///< the whole program, one row a node
};

struct GraphJobInput {
    AnalysisPtr analysis;
    GraphMode mode = GraphMode::Focus;
    std::string name; ///< Focus: node
    FocusOptions focus;
    FoldOptions fold;
};

struct GraphJobResult {
    GraphMode mode = GraphMode::Focus;
    FocusPair pair; ///< Focus and Modules; only `before` and `after` for Modules
    std::shared_ptr<const LaneLayout> before_lanes, after_lanes; ///< Lanes
    size_t refused = 0; ///< Modules: unfolded modules that would not have fitted
};

/// Both programs of the analysis must have a graph and its collectives.
GraphJobResult runGraphJob(const GraphJobInput& input);

} // namespace gs

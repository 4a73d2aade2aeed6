// What the simulated step takes from the settings.
#pragma once

#include "analysis/settings.h"
#include "graph/graph.h"
#include "simulate/timeline.h"

namespace gs {

/// Setting simulated_contention, or where that is 0 the factor that the schedulers reckon with.
double simulatedContention(const Settings& settings);

/// What the simulation of `graph` takes from the settings. Links that name groups which the graph lacks are
/// diagnostics.
SimulationSettings simulationSettings(const Graph& graph, const Settings& settings, Diagnostics& diagnostics);

} // namespace gs

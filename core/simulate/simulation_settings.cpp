#include "simulate/simulation_settings.h"

#include "simulate/shared_links.h"

#include <algorithm>

namespace gs {

double simulatedContention(const Settings& settings) {
    const double own = settings.number(Setting::SimulatedContention);
    return own == 0 ? settings.number(Setting::Contention) : std::max(1.0, own);
}

SimulationSettings simulationSettings(const Graph& graph, const Settings& settings,
                                      Diagnostics& diagnostics) {
    SimulationSettings out;
    out.contention = simulatedContention(settings);
    out.compute_slowdown = settings.number(Setting::ComputeSlowdown);
    out.shared_links = parseSharedLinks(graph, settings.text(Setting::SharedLinks), diagnostics);
    return out;
}

} // namespace gs

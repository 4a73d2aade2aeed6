#include "analysis/simulate_stage.h"

#include "simulate/simulation_settings.h"

namespace gs {

SimulatedPrograms simulatePrograms(const Program& before, const Program& after, const Settings& settings) {
    SimulatedPrograms made;
    const auto run = [&](const Program& program, int64_t& lower_bound_ns, Diagnostics& diagnostics) {
        const SimulationSettings how = simulationSettings(*program.graph, settings, diagnostics);
        lower_bound_ns = stepLowerBound(*program.graph, *program.collectives, *program.costs, how);
        return simulate(*program.graph, *program.collectives, *program.costs, program.schedule->order, how);
    };
    Diagnostics same; // as those of the other program
    made.before = run(before, made.lower_bound_before_ns, same);
    made.after = run(after, made.lower_bound_ns, made.diagnostics);
    return made;
}

} // namespace gs

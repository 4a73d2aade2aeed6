// Files and log artifacts that belong to a graph without being one: estimates, execution order, schedules.
#pragma once

#include "import/importer.h"

#include <optional>

namespace gs {

/// Artifacts of a TORCH_TRACE log that are companions.
std::vector<Companion> companionsInLog(const InputText& input);
/// Files in the folder of `path` whose names say that they are companions and of the same rank.
std::vector<Companion> companionsBeside(const std::string& path);
/// The companion that a file is by its name ("inductor_runtime_and_tensor_meta_13.json"), if it is one.
std::optional<Companion> companionByName(const std::string& path);

/// Says in `diagnostics` what lies beside the chosen graph, whether ranks ran their graphs in different
/// orders, and whether the recorded collective schedule of the same compilation agrees with the graph.
void reportCompanions(const std::vector<Companion>& companions, const GraphEntry& entry, const Graph& graph,
                      const InputText& input, Diagnostics& diagnostics);

} // namespace gs

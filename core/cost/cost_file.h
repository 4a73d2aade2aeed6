// Files of costs: our own (`gatherscope.costs`, version 1) and all that core/cost/readers knows.
#pragma once

#include "base/diagnostics.h"
#include "base/progress.h"
#include "cost/cost_model.h"

namespace gs {

/// Longest time of one operator that is believed: one hour.
inline constexpr int64_t kMaxFileCostNs = 3'600'000'000'000;

/// Reads a file of costs of any format that costReaders() knows, plain or gzip, chosen by content; a large
/// trace is streamed, with progress and cancel. Error codes: those of readInput, "not-a-cost-file" (with what
/// it is instead), "cancelled", and those of the reader. CostModel::check tells what fits a graph.
Result<CostModelPtr> loadCostFile(const std::string& path, Diagnostics& diagnostics,
                                  const JobContext& job = {});

/// Reads our own format: {"format":"gatherscope.costs","version":1,"unit":"ns","graph":…,
/// "model":…,"nodes":{"name":ns}}. Entries that are no integer from 0 to kMaxFileCostNs are ignored with a
/// diagnostic each ("bad-cost"), so that their nodes count as missing. Error codes: those of readInput,
/// "bad-json", "not-a-cost-file", "unsupported-version", "unsupported-unit"; each with line and column.
///
/// A launch that a pass made (Graph::origins) and that has no entry of its own gets the sum of its members'
/// costs, as Interpolated. CostModel::check tells which names a graph lacks.
Result<CostModelPtr> readNamedCosts(const std::string& path, Diagnostics& diagnostics, const JobContext& job);

/// First 64 KiB of a file, decompressed, without a byte order mark. Errors: those of readInput.
Result<std::string> fileHead(const std::string& path);
/// True if a reader of costs is sure of a file that begins so.
bool looksLikeCosts(std::string_view head);
/// True if it begins as a trace of a run (Kineto, nsys), which measureRun() reads, too.
bool looksLikeTrace(std::string_view head);

} // namespace gs

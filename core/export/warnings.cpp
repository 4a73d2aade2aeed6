#include "export/warnings.h"

#include "analysis/compare.h"
#include "base/units.h"

#include <algorithm>
#include <fmt/format.h>

namespace gs {

namespace {

/// Collectives of a kind that reduces: merging them changes the order in which numbers are added.
size_t reductions(const CollectiveTable& collectives) {
    return static_cast<size_t>(
        std::count_if(collectives.all().begin(), collectives.all().end(), [](const Collective& item) {
            return item.kind == CollectiveKind::ReduceScatter ||
                   item.kind == CollectiveKind::ReduceScatterCoalesced ||
                   item.kind == CollectiveKind::AllReduce || item.kind == CollectiveKind::AllReduceCoalesced;
        }));
}

void addMergeWarnings(const Analysis& analysis, std::vector<std::string>& out) {
    const size_t before = analysis.before.collectives->size(), after = analysis.after.collectives->size();
    if (before == after)
        return;
    out.push_back(fmt::format("{} become {}: what applies the schedule must make the same buckets first",
                              counted(before, "collective"), counted(after, "launch")));
    if (reductions(*analysis.before.collectives) != reductions(*analysis.after.collectives))
        out.emplace_back(
            "reductions are merged: across nodes another packing may change the last bits of the "
            "gradients");
}

} // namespace

std::vector<std::string> commonWarnings(const Analysis& analysis) {
    std::vector<std::string> out;
    const CostTable& costs = *analysis.after.costs;
    if (const size_t missing = costs.count(Provenance::Missing); missing > 0)
        out.push_back(fmt::format("{} {} missing and count{} as 0", counted(missing, "cost"),
                                  missing == 1 ? "is" : "are", missing == 1 ? "s" : ""));
    const size_t modelled = costs.count(Provenance::Analytical);
    if (modelled > 0 && modelled + costs.count(Provenance::Missing) == costs.entries().size())
        out.emplace_back("every cost comes from the model of the device, none was measured");
    if (analysis.diagnostics.hasErrors())
        out.emplace_back("the input could be read only in part, see the diagnostics");
    return out;
}

std::vector<std::string> scheduleWarnings(const Analysis& analysis) {
    std::vector<std::string> out;
    const Program& after = analysis.after;
    addMergeWarnings(analysis, out);
    if (const size_t displaced = nodesDisplaced(after.schedule->order); displaced > 0)
        out.push_back(
            fmt::format("{} of {} run elsewhere in the order: what Inductor would have fused across "
                        "them it may no longer fuse",
                        counted(displaced, "node"), formatCount(static_cast<int64_t>(after.graph->size()))));
    const int64_t more = after.timeline->peak_held_bytes - analysis.before.timeline->peak_held_bytes;
    if (more > 0)
        out.push_back(fmt::format("communication holds up to {} more at once ({} instead of {})",
                                  formatBytes(more), formatBytes(after.timeline->peak_held_bytes),
                                  formatBytes(analysis.before.timeline->peak_held_bytes)));
    if (after.timeline->step_ns > analysis.before.timeline->step_ns)
        out.push_back(fmt::format("the simulated step is longer than in program order: {} instead of {}",
                                  formatTime(after.timeline->step_ns),
                                  formatTime(analysis.before.timeline->step_ns)));
    if (!analysis.request.edits.empty())
        out.push_back(counted(analysis.request.edits.size(), "change") + " made by hand");
    return out;
}

} // namespace gs

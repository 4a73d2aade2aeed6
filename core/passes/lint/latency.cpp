#include "base/units.h"
#include "cost/analytical_model.h"
#include "passes/lint/checks.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>

namespace gs {

namespace {

/// Share of the time of a transfer that is latency from which it counts as bound by it.
constexpr double kLatencyShare = 0.5;
/// A finding saves at least this share of the group's gathers and this time; less is not worth a line.
constexpr double kWorthSaving = 0.05;
constexpr double kLeastSavedUs = 10;

class GroupModel {
public:
    GroupModel(const DevicePreset& device, const Graph& graph, const Collective& item) : device_(device) {
        group_ = {item.group_size,
                  device.place_by_ranks ? nodesOfGroup(graph, item, device.nccl.gpus_per_node) : 0};
        group_.nodes = ncclNodes(device.nccl, group_);
    }
    /// Time of a gather with `bytes` in and out.
    double us(int64_t bytes) const {
        if (device_.uses_nccl) {
            const auto found = ncclEstimate(device_.nccl, group_, NcclCollective::AllGather, bytes);
            return found ? found->us : 0;
        }
        const LinearLinks& links = device_.links;
        const bool inside = group_.nodes == 1;
        const double gbps = (inside ? links.intra_gbps : links.inter_gbps) * links.efficiency;
        const double latency = inside ? links.intra_latency_us : links.inter_latency_us;
        return gbps > 0 ? latency + static_cast<double>(bytes) / (gbps * 1000) : 0;
    }
    bool latencyBound(int64_t bytes) const { return us(1) >= kLatencyShare * us(bytes); }

private:
    const DevicePreset& device_;
    NcclGroup group_;
};

struct Gather {
    const Collective* item = nullptr;
    int64_t bytes = 0;
    bool bound = false;
    bool joins = false; ///< follows the one before it on the group directly and has its dtype
};

struct Saving {
    size_t bound = 0;
    size_t launches = 0; ///< that would go away
    double saved_us = 0;
    double all_us = 0;
    std::vector<const Collective*> best; ///< the run that saves most
    double best_us = 0;
};

/// Runs of neighbours: at most one gather of a run is large, the small ones ride along with it.
Saving addUp(const GroupModel& model, const std::vector<Gather>& gathers) {
    Saving saving;
    for (size_t begin = 0; begin < gathers.size();) {
        size_t end = begin, large = 0;
        int64_t bytes = 0;
        double alone = 0;
        std::vector<const Collective*> run;
        while (end < gathers.size() && (end == begin || gathers[end].joins)) {
            const Gather& next = gathers[end];
            if (!next.bound && ++large > 1)
                break;
            bytes += next.bytes;
            alone += model.us(next.bytes);
            saving.bound += next.bound ? 1 : 0;
            run.push_back(next.item);
            ++end;
        }
        const double saved = run.size() > 1 ? std::max(alone - model.us(bytes), 0.0) : 0;
        saving.all_us += alone;
        saving.saved_us += saved;
        saving.launches += saved > 0 ? run.size() - 1 : 0;
        if (saved > saving.best_us) {
            saving.best_us = saved;
            saving.best = std::move(run);
        }
        begin = end;
    }
    return saving;
}

std::string namesOf(const Graph& graph, const std::vector<const Collective*>& run) {
    std::string names;
    for (size_t i = 0; i < run.size() && i < 4; ++i)
        names += fmt::format("{}{}", i ? "," : "", graph.name(run[i]->launch));
    return names;
}

void reportGroup(LintContext& context, GroupId group, const std::vector<Gather>& gathers) {
    const GroupModel model(*context.device, context.graph, *gathers.front().item);
    const Saving saving = addUp(model, gathers);
    if (saving.bound == 0 || saving.saved_us < kLeastSavedUs ||
        saving.saved_us < kWorthSaving * saving.all_us)
        return;
    const auto time = [](double us) { return formatTime(static_cast<int64_t>(us * 1000)); };
    context.report(
        Severity::Warning, "latency-bound-gathers", saving.best.front()->launch,
        fmt::format(
            "{} of {} weight gathers on {} spend most of their time in latency and are not bucketed: shared "
            "launches would save about {} of {} of transfer ({} launch{} less, by the model of {})",
            saving.bound, gathers.size(), context.groupText(group), time(saving.saved_us),
            time(saving.all_us), saving.launches, saving.launches == 1 ? "" : "es", context.device->name),
        fmt::format("bucket_mode=coalesced, or by hand where it pays most: --edit bucket:{}{}",
                    namesOf(context.graph, saving.best),
                    saving.best.size() > 4 ? fmt::format(" (the first 4 of {})", saving.best.size())
                                           : std::string()));
}

} // namespace

void lintLatency(LintContext& context) {
    if (!context.device)
        return;
    std::map<GroupId, std::vector<Gather>> by_group;
    std::map<GroupId, const Collective*> last; // of any kind
    for (const Collective& item : context.collectives.all()) {
        if (item.inFlightAtEntry() || item.group == kNoGroup)
            continue;
        const Collective* before = std::exchange(last[item.group], &item);
        const int64_t bytes = collectiveMessageBytes(context.graph, item);
        if (item.kind != CollectiveKind::AllGather || !item.weight_gather || item.parameters.size() != 1 ||
            item.group_size < 2 || bytes < 0)
            continue;
        std::vector<Gather>& gathers = by_group[item.group];
        const GroupModel model(*context.device, context.graph, item);
        const bool joins = before && !gathers.empty() && gathers.back().item == before &&
                           before->dtype == item.dtype && before->group_size == item.group_size &&
                           context.phaseOf(before->launch) == context.phaseOf(item.launch);
        gathers.push_back({&item, bytes, model.latencyBound(bytes), joins});
    }
    for (const auto& [group, gathers] : by_group) {
        if (gathers.size() > 1)
            reportGroup(context, group, gathers);
    }
}

} // namespace gs

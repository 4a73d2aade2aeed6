#include "schedule/just_in_time.h"

#include "schedule/gather_budget.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace gs {

namespace {

class JustInTime {
public:
    JustInTime(const Graph& graph, const CollectiveTable& collectives, std::span<const double> cost_ns,
               const GatherCandidates& candidates, int64_t budget_bytes)
        : graph_(graph), collectives_(collectives), candidates_(candidates),
          budget_(collectives, candidates, budget_bytes), prefix_ns_(graph.size() + 1, 0) {
        for (NodeId id = 0; id < graph.size(); ++id) {
            const NodeKind kind = graph.node(id).kind;
            const bool counts =
                kind != NodeKind::Launch && kind != NodeKind::Wait && !candidates.in_group[id];
            prefix_ns_[id + 1] = prefix_ns_[id] + (counts ? cost_ns[id] : 0);
        }
    }

    std::vector<Decision> run() {
        findDeadlines();
        std::vector<Decision> decisions;
        std::map<GroupId, size_t> before; // last candidate placed per group
        for (size_t i = 0; i < candidates_.items.size(); ++i) {
            const GroupId group = collectives_[static_cast<size_t>(candidates_.items[i].collective)].group;
            const auto found = before.find(group);
            decisions.push_back(place(i, found == before.end() ? nullptr : &decisions[found->second]));
            before[group] = i;
        }
        return decisions;
    }

private:
    void findDeadlines() {
        finish_ns_.resize(candidates_.items.size());
        stream_end_ns_.clear();
        std::map<GroupId, double> next_start;
        for (size_t i = candidates_.items.size(); i-- > 0;) {
            const GatherCandidate& item = candidates_.items[i];
            const GroupId group = collectives_[static_cast<size_t>(item.collective)].group;
            const auto next = next_start.try_emplace(group, INFINITY).first;
            finish_ns_[i] = std::min(prefix_ns_[item.first_wait], next->second);
            next->second = finish_ns_[i] - item.need_ns;
        }
    }

    Decision place(size_t index, const Decision* before) {
        const GatherCandidate& item = candidates_.items[index];
        Decision decision = startDecision(item);

        const GroupId group = collectives_[static_cast<size_t>(item.collective)].group;
        double& stream_end_ns = stream_end_ns_[group];
        const double at_floor = prefix_ns_[item.floor];
        const double wanted = finish_ns_[index] - item.need_ns;
        const double start = std::max({at_floor, wanted, before ? stream_end_ns : 0.0});
        // The last position whose prefix is ≤ start, inside [floor, wait) and not before the group's last
        // launch.
        const auto begin = prefix_ns_.begin() + item.floor;
        const auto end = prefix_ns_.begin() + item.first_wait;
        uint32_t target = item.floor + static_cast<uint32_t>(std::upper_bound(begin, end, start) - begin);
        target = target > item.floor ? target - 1 : item.floor;
        if (before)
            target = std::max(target, before->target);
        const uint32_t allowed = budget_.place(index, target);
        decision.target = std::min(allowed, item.first_wait);

        const double begins = std::max(start, prefix_ns_[decision.target]);
        const double deadline = prefix_ns_[item.first_wait];
        decision.window_ns = std::max(0.0, deadline - begins);
        decision.verdict = begins + item.need_ns <= deadline ? Verdict::Hidden : Verdict::ComputeLimited;
        if (decision.verdict == Verdict::ComputeLimited)
            explain(item, before, stream_end_ns, at_floor, allowed > target, decision);
        stream_end_ns = begins + item.need_ns;
        return decision;
    }

    static void explain(const GatherCandidate& item, const Decision* before, double stream_end_ns,
                        double at_floor, bool budget_bound, Decision& decision) {
        if (budget_bound) {
            decision.reason = BindingReason::Budget;
        } else if (before && stream_end_ns > at_floor) {
            decision.reason = BindingReason::Claimed; // the stream carries the gather before it
            decision.claimed_by = before->launch;
        } else if (item.floor_node == kNoNode) {
            decision.reason = BindingReason::GraphStart;
        } else {
            decision.reason =
                item.floor_edge == EdgeKind::Data ? BindingReason::DataDependency : BindingReason::Effect;
        }
    }

    const Graph& graph_;
    const CollectiveTable& collectives_;
    const GatherCandidates& candidates_;
    GatherBudget budget_;
    std::vector<double> prefix_ns_;
    std::vector<double> finish_ns_; ///< deadline per candidate
    std::map<GroupId, double> stream_end_ns_;
};

} // namespace

std::vector<Decision> placeJustInTime(const Graph& graph, const CollectiveTable& collectives,
                                      std::span<const double> cost_ns, const GatherCandidates& candidates,
                                      int64_t budget_bytes) {
    return JustInTime(graph, collectives, cost_ns, candidates, budget_bytes).run();
}

Schedule runJustInTime(const ScheduleInput& input) {
    const GatherMoveSettings settings = gatherMoveSettings(input);
    const std::vector<double> cost_ns = costsAsDouble(input.costs);
    const GatherCandidates candidates =
        findGatherCandidates(input.graph, input.collectives, cost_ns, settings);
    const int64_t budget = gatherBudgetBytes(input.settings);
    return finishSchedule("just-in-time", input, candidates,
                          placeJustInTime(input.graph, input.collectives, cost_ns, candidates, budget));
}

Schedule runProgramOrder(const ScheduleInput& input) {
    const GatherMoveSettings settings = gatherMoveSettings(input);
    const std::vector<double> cost_ns = costsAsDouble(input.costs);
    const GatherCandidates candidates =
        findGatherCandidates(input.graph, input.collectives, cost_ns, settings);
    // The order is the input's own, so nothing is rebuilt: groups of a coalesced launch must not close up
    // either.
    Schedule schedule;
    schedule.scheduler = "program-order";
    schedule.order = identityOrder(input.graph);
    schedule.candidates = candidates.items.size();
    for (const GatherCandidate& item : candidates.items) {
        Decision decision = startDecision(item);
        for (NodeId id = item.launch; id < item.first_wait; ++id)
            decision.window_ns += input.graph.node(id).kind == NodeKind::Launch ? 0 : cost_ns[id];
        decision.verdict = decision.window_ns >= item.need_ns ? Verdict::Hidden : Verdict::ComputeLimited;
        decision.reason =
            decision.verdict == Verdict::Hidden ? BindingReason::None : BindingReason::ProgramOrder;
        schedule.decisions.push_back(std::move(decision));
    }
    schedule.decisions.insert(schedule.decisions.end(), candidates.others.begin(), candidates.others.end());
    std::sort(schedule.decisions.begin(), schedule.decisions.end(),
              [](const Decision& a, const Decision& b) { return a.launch < b.launch; });
    return schedule;
}

} // namespace gs

#include "schedule/merged_schedule.h"

#include "schedule/overlap_scheduler/overlap_report.h"

#include <algorithm>

namespace gs {

namespace {

class DecisionMapper {
public:
    DecisionMapper(const Graph& graph, const Schedule& before, const MergedBuckets& merged,
                   const ScheduleInput& input)
        : graph_(graph), before_(before), merged_(merged), input_(input),
          placer_(input.graph, input.collectives, input.costs, merged.order), decision_of_(graph.size(), -1),
          launch_of_(merged.node_of) {
        for (size_t i = 0; i < before.decisions.size(); ++i)
            decision_of_[before.decisions[i].launch] = static_cast<int32_t>(i);
        members_.resize(input.graph.size());
        for (size_t i = 0; i < merged.launches.size(); ++i) {
            const NodeId launch = merged.launches[i];
            if (launch == kNoNode)
                continue;
            members_[launch] = before.buckets.members[i];
            for (const NodeId member : members_[launch])
                launch_of_[member] = launch;
        }
        for (NodeId id = 0; id < graph.size(); ++id) {
            if (graph.node(id).kind == NodeKind::Launch && launch_of_[id] != kNoNode &&
                members_[launch_of_[id]].empty())
                members_[launch_of_[id]] = {id};
        }
    }

    std::vector<Decision> run() const {
        std::vector<Decision> decisions;
        for (size_t i = 0; i < input_.collectives.size(); ++i) {
            const Collective& gather = input_.collectives[i];
            if (!gather.isGather() || gather.launch == kNoNode)
                continue;
            Decision decision = placer_.place(i);
            decision.reason = BindingReason::NoWait;
            bool judged = false, exposed = false;
            double exposed_ns = 0;
            for (const NodeId member : members_[gather.launch]) {
                if (decision_of_[member] < 0)
                    continue;
                const Decision& old = before_.decisions[static_cast<size_t>(decision_of_[member])];
                exposed_ns += old.verdict == Verdict::Hidden ? 0 : old.comm_ns - old.window_ns;
                if (old.verdict == Verdict::NotCandidate)
                    continue;
                judged = true;
                if (old.verdict == Verdict::ComputeLimited && !exposed) {
                    exposed = true;
                    decision.reason = old.reason;
                    decision.claimed_by = current(old.claimed_by);
                }
            }
            if (judged && !exposed)
                decision.reason = BindingReason::None;
            decision.verdict = !judged   ? Verdict::NotCandidate
                               : exposed ? Verdict::ComputeLimited
                                         : Verdict::Hidden;
            // What the bucket saves (latencies) is neither exposed nor part of what it takes now.
            decision.window_ns = judged ? std::max(0.0, decision.comm_ns - exposed_ns) : 0;
            decisions.push_back(std::move(decision));
        }
        return decisions;
    }

private:
    NodeId current(NodeId old) const { return old == kNoNode ? kNoNode : launch_of_[old]; }

    const Graph& graph_;
    const Schedule& before_;
    const MergedBuckets& merged_;
    const ScheduleInput& input_;
    GatherPlacer placer_;
    std::vector<int32_t> decision_of_; ///< per node of the graph before: its decision, or -1
    std::vector<NodeId> launch_of_;    ///< per node of the graph before: what it became, launches by bucket
    std::vector<std::vector<NodeId>> members_; ///< per launch of the merged graph: its launches before
};

} // namespace

Schedule mergedSchedule(const Graph& graph_before, const Schedule& before, const MergedBuckets& merged,
                        const ScheduleInput& input) {
    Schedule schedule = before;
    schedule.buckets = {};
    schedule.diagnostics.append(merged.report.diagnostics);
    if (!merged.graph)
        return schedule;
    schedule.order = merged.order;
    schedule.decisions = DecisionMapper(graph_before, before, merged, input).run();
    schedule.log_info.push_back(merged.report.summary);
    countDecisions(schedule);
    return schedule;
}

} // namespace gs

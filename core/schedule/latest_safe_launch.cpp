#include "schedule/latest_safe_launch.h"

#include <algorithm>

namespace gs {

namespace {

class Sweep {
public:
    Sweep(const Graph& graph, std::span<const double> cost_ns, const GatherCandidates& candidates,
          const GatherMoveSettings& settings, SweepSteps* record)
        : graph_(graph), candidates_(candidates), settings_(settings), record_(record),
          window_ns_(graph.size(), 0), prefix_ns_(graph.size() + 1, 0) {
        for (NodeId id = 0; id < graph.size(); ++id) {
            const NodeKind kind = graph.node(id).kind;
            const bool communicates = kind == NodeKind::Launch || kind == NodeKind::Wait;
            if (!communicates && !candidates.in_group[id])
                window_ns_[id] = cost_ns[id];
            prefix_ns_[id + 1] = prefix_ns_[id] + window_ns_[id];
        }
    }

    std::vector<Decision> run() {
        std::vector<Decision> decisions(candidates_.items.size());
        pointer_ = static_cast<uint32_t>(graph_.size());
        for (size_t i = decisions.size(); i-- > 0;)
            decisions[i] = place(i);
        clamp(decisions);
        if (record_)
            record_->compute_ns = std::move(window_ns_);
        return decisions;
    }

private:
    Decision place(size_t index) {
        const GatherCandidate& item = candidates_.items[index];
        Decision decision = startDecision(item);
        const size_t first_walked = record_ ? record_->walked.size() : 0;

        const uint32_t start = std::min(pointer_, decision.cur);
        if (settings_.carry && carry_ns_ > 0 && decision.cur > boundary_) {
            decision.carry_in_ns = carry_ns_;
            decision.carry_from = last_claimer_;
        }
        double sum = decision.carry_in_ns;
        uint32_t at = start;
        while (sum < item.need_ns && at > item.floor) {
            --at;
            sum += window_ns_[at];
            if (record_ && window_ns_[at] > 0)
                record_->walked.push_back({at, sum});
        }
        decision.window_ns = sum;
        decision.target = std::max(item.floor, at);
        decision.verdict = sum >= item.need_ns ? Verdict::Hidden : Verdict::ComputeLimited;
        explain(item, start, decision);
        if (record_)
            record(index, start, at, first_walked, decision);

        carry_ns_ = std::max(0.0, sum - item.need_ns);
        if (at < start)
            boundary_ = at;
        pointer_ = decision.target; // a floor above the pointer takes it up again: the reference does so
        last_claimer_ = item.launch;
        return decision;
    }

    /// Before the step's results replace pointer, boundary and claimer of the step before.
    void record(size_t index, uint32_t start, uint32_t at, size_t first_walked, const Decision& decision) {
        SweepStep step;
        step.decision = index;
        step.launch = decision.launch;
        step.pointer = pointer_;
        step.start = start;
        step.end = at;
        step.target = decision.target;
        step.carry_at = decision.carry_in_ns > 0 ? boundary_ : start;
        step.left_over_ns = std::max(0.0, decision.window_ns - decision.need_ns);
        step.claimed_by = last_claimer_;
        step.walk_end = decision.verdict == Verdict::Hidden            ? WalkEnd::Reached
                        : decision.reason == BindingReason::Claimed    ? WalkEnd::Claimed
                        : decision.reason == BindingReason::GraphStart ? WalkEnd::GraphStart
                                                                       : WalkEnd::Floor;
        step.first_walked = first_walked;
        step.last_walked = record_->walked.size();
        record_->steps.push_back(step);
    }

    /// The one reason that binds: without the claims of later gathers, would the compute above the floor do?
    void explain(const GatherCandidate& item, uint32_t start, Decision& decision) const {
        if (decision.verdict == Verdict::Hidden)
            return;
        const uint32_t floor = std::min(item.floor, decision.cur);
        if (start < decision.cur && prefix_ns_[decision.cur] - prefix_ns_[floor] >= item.need_ns) {
            decision.reason = BindingReason::Claimed;
            decision.claimed_by = last_claimer_;
        } else if (item.floor_node == kNoNode) {
            decision.reason = BindingReason::GraphStart;
        } else {
            decision.reason =
                item.floor_edge == EdgeKind::Data ? BindingReason::DataDependency : BindingReason::Effect;
        }
    }

    /// Running maximum in program order: launches keep their relative order on every rank.
    void clamp(std::vector<Decision>& decisions) const {
        uint32_t highest = 0;
        for (Decision& decision : decisions) {
            if (decision.target < highest) {
                decision.target = highest;
                decision.reason = BindingReason::Order;
            }
            highest = decision.target;
        }
    }

    const Graph& graph_;
    const GatherCandidates& candidates_;
    const GatherMoveSettings& settings_;
    SweepSteps* record_;            ///< null: nothing is recorded
    std::vector<double> window_ns_; ///< compute that a window may count, per node
    std::vector<double> prefix_ns_;
    uint32_t pointer_ = 0;
    uint32_t boundary_ = 0; ///< node whose rest is the carry
    double carry_ns_ = 0;
    NodeId last_claimer_ = kNoNode;
};

} // namespace

std::vector<Decision> sweepLatestSafeLaunch(const Graph& graph, std::span<const double> cost_ns,
                                            const GatherCandidates& candidates,
                                            const GatherMoveSettings& settings, SweepSteps* record) {
    return Sweep(graph, cost_ns, candidates, settings, record).run();
}

SweepSteps sweepSteps(const ScheduleInput& input) {
    SweepSteps steps;
    steps.settings = gatherMoveSettings(input);
    const std::vector<double> cost_ns = costsAsDouble(input.costs);
    const GatherCandidates candidates =
        findGatherCandidates(input.graph, input.collectives, cost_ns, steps.settings);
    steps.decisions = sweepLatestSafeLaunch(input.graph, cost_ns, candidates, steps.settings, &steps);
    return steps;
}

Schedule runLatestSafeLaunch(const ScheduleInput& input) {
    const GatherMoveSettings settings = gatherMoveSettings(input);
    const std::vector<double> cost_ns = costsAsDouble(input.costs);
    const GatherCandidates candidates =
        findGatherCandidates(input.graph, input.collectives, cost_ns, settings);
    return finishSchedule("latest-safe-launch", input, candidates,
                          sweepLatestSafeLaunch(input.graph, cost_ns, candidates, settings));
}

} // namespace gs

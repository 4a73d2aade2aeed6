#include "schedule/two_sided/two_sided_report.h"

#include "base/units.h"
#include "schedule/gather_moves.h"

#include <algorithm>
#include <fmt/format.h>

namespace gs {

namespace {

class Reporter {
public:
    Reporter(const ScheduleInput& input, const StepProblem& problem, const TwoSidedOutcome& outcome)
        : input_(input), p_(problem), outcome_(outcome), position_(positionsOf(outcome.order)),
          timeline_(problem.simulate(outcome.order)) {
        before_.assign(problem.collectives.size(), -1);
        std::vector<int32_t> by_start;
        for (const Transfer& transfer : timeline_->transfers)
            by_start.push_back(transfer.collective);
        std::stable_sort(by_start.begin(), by_start.end(), [&](int32_t a, int32_t b) {
            return transferOf(a).start_ns != transferOf(b).start_ns
                       ? transferOf(a).start_ns < transferOf(b).start_ns
                       : transferOf(a).end_ns < transferOf(b).end_ns;
        });
        std::vector<int32_t> last(timeline_->streams.size(), -1);
        for (const int32_t index : by_start) {
            before_[static_cast<size_t>(index)] = last[transferOf(index).stream];
            last[transferOf(index).stream] = index;
        }
    }

    void decide(Schedule& schedule) const {
        GatherMoveSettings settings = gatherMoveSettings(input_);
        settings.move_prep_chain = true;
        settings.all_gathers = true; // every collective moves
        const std::vector<double> cost_ns = costsAsDouble(input_.costs);
        const GatherCandidates candidates =
            findGatherCandidates(input_.graph, input_.collectives, cost_ns, settings);
        schedule.candidates = candidates.items.size();
        for (const GatherCandidate& item : candidates.items) {
            schedule.decisions.push_back(decision(item));
            schedule.moved += schedule.decisions.back().moved() ? 1 : 0;
        }
        for (Decision other : candidates.others) {
            other.target = position_[other.launch];
            schedule.decisions.push_back(std::move(other));
        }
        std::sort(schedule.decisions.begin(), schedule.decisions.end(),
                  [](const Decision& a, const Decision& b) { return a.launch < b.launch; });
    }

    std::string gap() const {
        std::string text = gapToBound();
        const StepCost& unlimited = outcome_.unlimited;
        if (unlimited.step_ns > 0 && unlimited.step_ns < timeline_->step_ns)
            text += fmt::format("; without the budget of {} it would be {}, holding {} (budget)",
                                formatBytes(outcome_.budget_bytes), formatTime(unlimited.step_ns),
                                formatBytes(unlimited.peak_bytes));
        return text;
    }

private:
    std::string gapToBound() const {
        const int64_t step = timeline_->step_ns;
        const int64_t bound = p_.bounds.bound_ns;
        if (step <= bound)
            return fmt::format("the step of {} reaches the lower bound, which is set by {}", formatTime(step),
                               boundSetBy());
        std::string text =
            fmt::format("the step of {} is {} above the lower bound of {}, which is set by {}",
                        formatTime(step), formatTime(step - bound), formatTime(bound), boundSetBy());
        if (bound > 0)
            text += fmt::format(
                " ({})", formatPercent(static_cast<double>(step - bound) / static_cast<double>(bound), true));
        const auto longest = std::max_element(
            timeline_->stalls.begin(), timeline_->stalls.end(),
            [](const Stall& a, const Stall& b) { return a.end_ns - a.start_ns < b.end_ns - b.start_ns; });
        if (longest == timeline_->stalls.end())
            return text + "; nothing stalls: the last transfers end after all computation";
        return text + fmt::format("; the longest stall, {} at \"{}\": {}",
                                  formatTime(longest->end_ns - longest->start_ns),
                                  input_.graph.name(longest->wait), stallCause(longest->collective));
    }

    const Transfer& transferOf(int32_t collective) const {
        return timeline_->transfers[static_cast<size_t>(collective)];
    }

    std::string boundSetBy() const {
        switch (p_.bounds.kind) {
        case StepBounds::Kind::Compute:
            return "the computation (compute-bound)";
        case StepBounds::Kind::Stream:
            return p_.bounds.group == kNoGroup
                       ? std::string("one stream's transfers (stream-bound)")
                       : fmt::format("the transfers of group \"{}\" (stream-bound)",
                                     input_.graph.text(input_.graph.groups()[p_.bounds.group].name));
        case StepBounds::Kind::Path:
            return "a path of computation and transfers (data path)";
        }
        return {};
    }

    std::string stallCause(int32_t collective) const {
        const Collective& item = input_.collectives[static_cast<size_t>(collective)];
        if (item.launch == kNoNode)
            return "it was launched before the graph";
        NodeId floor_node = kNoNode;
        for (const NodeId id : p_.before(item.launch)) {
            if (p_.role[id] != StepRole::Prep &&
                (floor_node == kNoNode || position_[id] > position_[floor_node]))
                floor_node = id;
        }
        switch (reasonOf(collective, floor_node, EdgeKind::Data)) {
        case BindingReason::GraphStart:
            return "it was launched at the start of the step (floor)";
        case BindingReason::DataDependency:
        case BindingReason::Effect:
            return fmt::format("it was launched as soon as \"{}\" was there (data path)",
                               input_.graph.name(floor_node));
        case BindingReason::Claimed:
            return fmt::format("its stream was busy with \"{}\" (stream)",
                               input_.graph.name(launchBefore(collective)));
        case BindingReason::Budget:
            return fmt::format("the budget of {} allowed no earlier launch (budget)",
                               formatBytes(outcome_.budget_bytes));
        default:
            return "no order was found that launches it earlier and costs less elsewhere";
        }
    }

    NodeId launchBefore(int32_t collective) const {
        const int32_t before = before_[static_cast<size_t>(collective)];
        return before < 0 ? kNoNode : input_.collectives[static_cast<size_t>(before)].launch;
    }

    Decision decision(const GatherCandidate& item) const {
        Decision out = startDecision(item);
        const Transfer& transfer = transferOf(item.collective);
        out.target = position_[item.launch];
        out.floor = 0;
        out.floor_node = kNoNode;
        EdgeKind edge = EdgeKind::Data;
        findFloor(item, out, edge);
        // What runs between launch and wait hides the transfer.
        out.window_ns = static_cast<double>(
            std::max<int64_t>(0, transfer.end_ns - transfer.launched_ns - transfer.exposed_ns));
        out.verdict = transfer.exposed_ns == 0 ? Verdict::Hidden : Verdict::ComputeLimited;
        if (out.verdict == Verdict::ComputeLimited) {
            out.reason = reasonOf(item.collective, out.floor_node, edge);
            if (out.reason == BindingReason::Claimed)
                out.claimed_by = launchBefore(item.collective);
        }
        return out;
    }

    void findFloor(const GatherCandidate& item, Decision& out, EdgeKind& edge) const {
        const auto depend = [&](NodeId before, EdgeKind kind) {
            const NodeKind node = input_.graph.node(before).kind;
            if (std::find(item.group.begin(), item.group.end(), before) != item.group.end() ||
                position_[before] + 1 <= out.floor)
                return;
            out.floor = position_[before] + 1;
            edge = kind;
            out.floor_node = node == NodeKind::Placeholder || node == NodeKind::GetAttr ? kNoNode : before;
        };
        for (const NodeId id : item.group) {
            for (const NodeId input : input_.graph.inputs(id))
                depend(input, EdgeKind::Data);
            for (const OrderEdge& order : input_.graph.orderEdges(id))
                depend(order.node, order.kind);
        }
    }

    /// What kept the transfer from starting earlier.
    BindingReason reasonOf(int32_t collective, NodeId floor_node, EdgeKind edge) const {
        const Transfer& transfer = transferOf(collective);
        const int32_t before = before_[static_cast<size_t>(collective)];
        const int64_t ready = floor_node == kNoNode ? 0 : timeline_->end_ns[floor_node];
        if (before >= 0 && transferOf(before).end_ns >= transfer.start_ns && transfer.start_ns > ready)
            return BindingReason::Claimed;
        if (transfer.start_ns <= ready) {
            const NodeKind kind =
                floor_node == kNoNode ? NodeKind::Placeholder : input_.graph.node(floor_node).kind;
            if (kind == NodeKind::Placeholder || kind == NodeKind::GetAttr)
                return BindingReason::GraphStart;
            return edge == EdgeKind::Effect ? BindingReason::Effect : BindingReason::DataDependency;
        }
        if (outcome_.budget_bytes >= 0)
            return BindingReason::Budget;
        return before >= 0 && transferOf(before).end_ns > ready ? BindingReason::Claimed
                                                                : BindingReason::Order;
    }

    const ScheduleInput& input_;
    const StepProblem& p_;
    const TwoSidedOutcome& outcome_;
    std::vector<uint32_t> position_;
    TimelinePtr timeline_;
    std::vector<int32_t> before_; ///< per collective: the one before it on its stream
};

} // namespace

Schedule reportTwoSided(const ScheduleInput& input, const StepProblem& problem, TwoSidedOutcome outcome) {
    Schedule schedule;
    schedule.scheduler = "two-sided";
    const Reporter reporter(input, problem, outcome);
    reporter.decide(schedule);
    const std::string gap = reporter.gap();
    schedule.diagnostics.add({Severity::Info, "bound-gap", {}, {}, gap, ""});
    if (outcome.budget_bytes >= 0 && outcome.cost.peak_bytes > outcome.budget_bytes)
        schedule.diagnostics.add(
            {Severity::Warning,
             "budget-exceeded",
             {},
             {},
             fmt::format("no order was found inside the budget of {}; this one holds {} at its peak",
                         formatBytes(outcome.budget_bytes), formatBytes(outcome.cost.peak_bytes)),
             "gather_budget_mib takes a larger limit, or none"});
    if (outcome.stopped)
        schedule.diagnostics.add({Severity::Info,
                                  "search-stopped",
                                  {},
                                  {},
                                  "the search was stopped",
                                  "this is the best order so far"});
    schedule.log_info.push_back(
        fmt::format("two-sided: moved {}/{} all-gather launch(es); order by {}; {} simulation(s) "
                    "of local search; peak {}",
                    schedule.moved, schedule.candidates, outcome.made_by, outcome.simulations,
                    formatBytes(outcome.cost.peak_bytes)));
    schedule.log_info.push_back("two-sided: " + gap);
    schedule.order = std::move(outcome.order);
    return schedule;
}

} // namespace gs

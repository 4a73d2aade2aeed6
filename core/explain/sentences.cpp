// Headline, detail and the one binding reason, in plain words.
#include "explain/names.h"
#include "explain/parts.h"

#include "base/units.h"
#include "schedule/scheduler.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>

namespace gs::explain {

namespace {

std::string label(const Subject& s, NodeId launch) {
    const int32_t index = s.analysis.after.collectives->indexOf(launch);
    if (index < 0)
        return std::string(s.graph.name(launch));
    return gatherLabel(s.graph, (*s.analysis.after.collectives)[static_cast<size_t>(index)]);
}

/// First node at or after the target that does work and does not move along: what the launch now precedes.
NodeId landmark(const Subject& s) {
    const Decision& d = s.decision;
    std::vector<NodeId> fallback;
    for (NodeId id = d.target; id < s.graph.size(); ++id) {
        const bool moves = std::find(d.moved_group.begin(), d.moved_group.end(), id) != d.moved_group.end();
        if (!moves && countsAsCompute(s.graph, id) && s.analysis.after.costs->ns(id) > 0)
            return id;
        if (!moves && fallback.empty() && id != d.launch)
            fallback.push_back(id);
    }
    return fallback.empty() ? kNoNode : fallback.front();
}

/// Gather whose place the running maximum took over: the nearest earlier decision with the same target.
NodeId clampedBehind(const Subject& s) {
    const size_t index = static_cast<size_t>(&s.decision - s.schedule.decisions.data());
    for (size_t i = index; i-- > 0;) {
        const Decision& other = s.schedule.decisions[i];
        if (other.verdict != Verdict::NotCandidate && other.target == s.decision.target)
            return other.launch;
    }
    return kNoNode;
}

/// "(line 512 of the graph file)" or nothing.
std::string lineOf(const Subject& s, NodeId id) {
    if (id == kNoNode || s.graph.node(id).source_line == 0)
        return {};
    return fmt::format(" (line {} of the graph file)", formatCount(s.graph.node(id).source_line));
}

std::string shortfall(const Subject& s) {
    return micros(std::max(0.0, s.decision.need_ns - s.decision.window_ns));
}

/// What stopped the walk back at its floor.
WhyText floorText(const Subject& s, const char* with_node) {
    const NodeId node = s.decision.floor_node;
    if (node == kNoNode)
        return {"Only the graph's inputs lie before it: no earlier compute could hide it.", kNoNode};
    return {fmt::format(fmt::runtime(with_node), s.graph.name(node), lineOf(s, node)), node};
}

WhyText claimedText(const Subject& s) {
    const NodeId by = s.decision.claimed_by;
    if (by == kNoNode)
        return {"The compute in front of it already hides later gathers, and both share one stream.",
                kNoNode};
    return {fmt::format("The compute in front of it already hides the gather of {}{}; two gathers cannot use "
                        "the same compute, since they share one stream.",
                        label(s, by), lineOf(s, by)),
            by};
}

WhyText orderText(const Subject& s) {
    const NodeId ahead = clampedBehind(s);
    if (ahead == kNoNode)
        return {"It stays behind the gather before it: launches keep their order on every rank.", kNoNode};
    return {fmt::format("It stays behind the gather of {}{}: launches keep their order, so that all ranks "
                        "launch alike.",
                        label(s, ahead), lineOf(s, ahead)),
            ahead};
}

WhyText notWeightText(const Subject& s) {
    return {
        fmt::format("{} does not gather a parameter: its input does not come from exactly one graph input, "
                    "so moving it could change what is gathered.",
                    s.graph.name(s.launch())),
        s.launch()};
}

WhyText budgetText(const Subject& s) {
    const Settings& settings = s.analysis.request.settings;
    const SchedulerInfo* scheduler = findScheduler(s.schedule.scheduler);
    const bool in_flight = scheduler && std::count(scheduler->settings.begin(), scheduler->settings.end(),
                                                   Setting::MaxInFlightGb) != 0;
    return {
        fmt::format("Launching it earlier would keep more gathered weights alive than the budget of {} {} "
                    "allows.",
                    settings.text(in_flight ? Setting::MaxInFlightGb : Setting::GatherBudgetMib),
                    in_flight ? "GiB" : "MiB"),
        s.launch()};
}

/// Peers of one group match its n-th call with the n-th of theirs: what one passes, all must pass.
WhyText ranksText(const Subject& s) {
    const RankHold& hold = s.decision.hold;
    const std::string behind =
        hold.behind == kNoNode ? std::string("the collective before it") : label(s, hold.behind);
    if (hold.rank.empty())
        return {fmt::format("The ranks are pinned: no gather may pass another collective, so it stays behind "
                            "{}.",
                            behind),
                hold.behind};
    return {fmt::format("Held back by {}: {} slot {}, behind {}; all ranks launch it there.", hold.rank,
                        hold.at_floor ? "its floor is in" : "its scheduler launches it in",
                        formatCount(hold.slot), behind),
            hold.behind};
}

WhyText reasonText(const Subject& s) {
    switch (s.decision.reason) {
    case BindingReason::None:
        return {};
    case BindingReason::GraphStart:
        return floorText(
            s, "The walk back ended at {}{}, the last of the graph's inputs: no compute lies before it.");
    case BindingReason::DataDependency:
        return floorText(s, "It cannot pass {}{}: the gather needs that result.");
    case BindingReason::Effect:
        return floorText(s, "It cannot pass {}{}: that node frees or writes storage, or is a barrier.");
    case BindingReason::Claimed:
        return claimedText(s);
    case BindingReason::Order:
        return orderText(s);
    case BindingReason::ProgramOrder:
        return {"This scheduler keeps the program's order; another one may hide it.", kNoNode};
    case BindingReason::NoConsumer:
        return {fmt::format("Nothing in the graph uses what {}{} gathers.", s.graph.name(s.launch()),
                            lineOf(s, s.launch())),
                s.launch()};
    case BindingReason::NoWait:
        return {fmt::format("Nothing in the graph waits for {}{}.", s.graph.name(s.launch()),
                            lineOf(s, s.launch())),
                s.launch()};
    case BindingReason::NotWeightGather:
        return notWeightText(s);
    case BindingReason::Budget:
        return budgetText(s);
    case BindingReason::Depth:
        return {
            "The prefetch depth of its phase lets it start no more consumers ahead; a greater forward_depth "
            "or backward_depth would.",
            s.launch()};
    case BindingReason::ByHand:
        return {"You have placed it by hand; the schedulers work around it.", s.launch()};
    case BindingReason::Ranks:
        return ranksText(s);
    case BindingReason::Invalid:
        return {
            "The new order as a whole would have broken an edge between nodes, so the program keeps its old "
            "order. Diagnostics names the edge.",
            kNoNode};
    }
    return {};
}

/// The reason in a few words, for the headline of a gather that stays.
std::string shortReason(const Subject& s) {
    switch (s.decision.reason) {
    case BindingReason::None:
        return s.decision.verdict == Verdict::Hidden ? "the compute right before it is enough"
                                                     : "this scheduler leaves it in place";
    case BindingReason::GraphStart:
        return "only the graph's inputs come before it";
    case BindingReason::DataDependency:
        return "it needs the node right before it";
    case BindingReason::Effect:
        return "it cannot pass the node right before it";
    case BindingReason::Claimed:
        return s.decision.claimed_by < s.launch() ? "its stream is busy with an earlier gather"
                                                  : "a later gather uses the compute before it";
    case BindingReason::ProgramOrder:
        return "this scheduler moves nothing";
    case BindingReason::Order:
        return "the gather before it holds it back";
    case BindingReason::NoConsumer:
        return "nothing uses the result";
    case BindingReason::NoWait:
        return "nothing waits for it";
    case BindingReason::NotWeightGather:
        return "it does not gather a parameter";
    case BindingReason::Budget:
        return "the memory budget is used up";
    case BindingReason::Depth:
        return "the prefetch depth lets it start no earlier";
    case BindingReason::ByHand:
        return "you have placed it by hand";
    case BindingReason::Ranks:
        return "the other ranks hold it back";
    case BindingReason::Invalid:
        return "the new order was dropped";
    }
    return "no reason recorded";
}

std::string headlineText(const Subject& s) {
    const Decision& d = s.decision;
    if (!d.moved())
        return fmt::format("Stays where it is: {}.", shortReason(s));
    const int64_t steps = static_cast<int64_t>(d.cur) - static_cast<int64_t>(d.target);
    const NodeId next = landmark(s);
    return fmt::format("Launched {} {} {}{}.", formatCount(std::abs(steps)),
                       std::abs(steps) == 1 ? "node" : "nodes", steps > 0 ? "earlier" : "later",
                       next == kNoNode ? std::string()
                                       : fmt::format(", just before {}", placeName(s.graph, next)));
}

std::string detailText(const Subject& s) {
    const Decision& d = s.decision;
    if (d.verdict == Verdict::NotCandidate)
        return "It is not a candidate for moving.";
    if (d.need_ns <= 0)
        return "This scheduler states no need and no window.";
    if (d.verdict == Verdict::Hidden) {
        if (d.carry_in_ns >= d.need_ns && d.carry_from != kNoNode)
            return fmt::format("What {} left over of its compute hides all of the transfer.",
                               label(s, d.carry_from));
        if (d.reason == BindingReason::None)
            return d.moved() ? "That compute hides all of the transfer; nothing binds it."
                             : "That compute hides all of the transfer.";
        return "The window hides all of the transfer.";
    }
    if (d.window_ns <= 0)
        return fmt::format("It needs {} of compute in front of it and finds none.", micros(d.need_ns));
    return fmt::format("The window holds {} of the {} it needs: {} too little.", micros(d.window_ns),
                       micros(d.need_ns), shortfall(s));
}

} // namespace

void addSentences(const Subject& subject, WhyCard& card) {
    card.headline = headlineText(subject);
    card.detail = detailText(subject);
    card.reason = reasonText(subject);
    if (card.reason.node != kNoNode)
        card.reason_source = std::string(subject.graph.text(subject.graph.node(card.reason.node).source));
}

} // namespace gs::explain

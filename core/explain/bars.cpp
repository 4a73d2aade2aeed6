// The two bars of the card: what the gather needs and the window that was found for it.
#include "explain/names.h"
#include "explain/parts.h"

#include "base/units.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace gs::explain {

namespace {

constexpr size_t kNamedParts = 3;

/// Nodes that move with some gather: they are in nobody's window.
std::vector<bool> groupMembers(const Program& program) {
    std::vector<bool> member(program.graph->size(), false);
    for (const Decision& decision : program.schedule->decisions) {
        for (NodeId id : decision.moved_group)
            member[id] = true;
    }
    return member;
}

/// A compute node and how much of it counts.
struct Counted {
    NodeId node = kNoNode;
    double ns = 0;
};

std::vector<Counted> computeBetween(const Program& program, uint32_t begin, uint32_t end) {
    const std::vector<bool> member = groupMembers(program);
    std::vector<Counted> nodes;
    for (NodeId id = begin; id < end && id < program.graph->size(); ++id) {
        if (!member[id] && countsAsCompute(*program.graph, id) && program.costs->ns(id) > 0)
            nodes.push_back({id, static_cast<double>(program.costs->ns(id))});
    }
    return nodes;
}

/// The last window_ns of compute before the wait, in the new order: the window of the schedulers that count
/// what lies between launch and wait.
std::vector<Counted> computeInFlight(const Subject& subject) {
    const Program& program = subject.analysis.after;
    const Order& order = program.schedule->order;
    std::vector<Counted> nodes;
    double left = subject.decision.window_ns;
    bool behind = true;
    for (size_t i = order.size(); i-- > 0 && order[i] != subject.launch() && left > 0;) {
        const NodeId id = order[i];
        if (!subject.collective.waits.empty() && id == subject.collective.waits.front())
            behind = false;
        if (behind || !countsAsCompute(*program.graph, id) || program.costs->ns(id) <= 0)
            continue;
        nodes.push_back({id, std::min(left, static_cast<double>(program.costs->ns(id)))});
        left -= nodes.back().ns;
    }
    return nodes;
}

double sumOf(const std::vector<Counted>& nodes) {
    double sum = 0;
    for (const Counted& item : nodes)
        sum += item.ns;
    return sum;
}

void addNeed(const Subject& subject, WhyCard& card) {
    const Decision& d = subject.decision;
    card.need_ns = d.need_ns;
    if (d.need_ns <= 0)
        return;
    // Other schedulers count in their own way; the parts still add up to what they call the need.
    const double comm = std::min(d.comm_ns, d.need_ns);
    const double slack =
        std::clamp(subject.analysis.request.settings.number(Setting::SlackNs), 0.0, d.need_ns - comm);
    const double contention = d.need_ns - comm - slack;
    card.need.push_back({WhyPart::Kind::Comm, "transfer alone", comm, d.launch});
    if (contention > 0)
        card.need.push_back({WhyPart::Kind::Contention, "contention", contention, kNoNode});
    if (slack > 0)
        card.need.push_back({WhyPart::Kind::Slack, "slack", slack, kNoNode});
}

/// The largest nodes by name, the rest as one part, then the carry.
void addWindow(const Subject& subject, std::vector<Counted> nodes, WhyCard& card) {
    const Decision& d = subject.decision;
    card.window_ns = d.window_ns;
    std::stable_sort(nodes.begin(), nodes.end(),
                     [](const Counted& a, const Counted& b) { return a.ns > b.ns; });
    double named = 0;
    const size_t count = std::min(nodes.size(), kNamedParts);
    for (size_t i = 0; i < count; ++i) {
        card.window.push_back({WhyPart::Kind::Compute, std::string(subject.graph.name(nodes[i].node)),
                               nodes[i].ns, nodes[i].node});
        named += nodes[i].ns;
    }
    const double rest = d.window_ns - d.carry_in_ns - named;
    if (rest >= 1) {
        const size_t others = nodes.size() - count;
        card.window.push_back(
            {WhyPart::Kind::Rest,
             others == 0 ? std::string("other time in flight") : fmt::format("{} more", others), rest,
             kNoNode});
    }
    if (d.carry_in_ns > 0)
        card.window.push_back({WhyPart::Kind::CarryIn, "carried in", d.carry_in_ns, d.carry_from});
}

std::string labelOf(const Subject& subject, NodeId launch) {
    const int32_t index = subject.analysis.after.collectives->indexOf(launch);
    return index < 0 ? std::string(subject.graph.name(launch))
                     : gatherLabel(subject.graph,
                                   (*subject.analysis.after.collectives)[static_cast<size_t>(index)]);
}

/// Which gather took the compute right in front of the launch.
void addClaimed(const Subject& subject, WhyCard& card) {
    NodeId by = subject.decision.claimed_by;
    for (const Decision& other : subject.schedule.decisions) {
        if (by == kNoNode && other.verdict != Verdict::NotCandidate && other.launch > subject.launch())
            by = other.launch; // the next candidate: the sweep came from there
    }
    card.rows.push_back({"claimed",
                         by == kNoNode ? fmt::format("{} by later gathers", micros(card.claimed_ns))
                                       : fmt::format("{} by later gathers, {} first", micros(card.claimed_ns),
                                                     labelOf(subject, by)),
                         by});
}

void addCarry(const Subject& subject, WhyCard& card) {
    const Decision& d = subject.decision;
    if (d.carry_in_ns > 0 && d.carry_from != kNoNode)
        card.rows.push_back(
            {"carry in",
             fmt::format("{} left over by {}", micros(d.carry_in_ns), labelOf(subject, d.carry_from)),
             d.carry_from});
    else
        card.rows.push_back({"carry in", "0 µs"});
    const double left_over = d.window_ns - d.need_ns;
    if (d.need_ns <= 0 || left_over < 1)
        return;
    for (const Decision& other : subject.schedule.decisions) {
        if (other.carry_from != d.launch || other.carry_in_ns <= 0)
            continue;
        card.carry = {fmt::format("the {} left over carry to {}", micros(other.carry_in_ns),
                                  labelOf(subject, other.launch)),
                      other.launch};
        return;
    }
    card.carry = {fmt::format("{} left over, which no gather takes", micros(left_over)), kNoNode};
}

} // namespace

std::string micros(double ns) {
    const auto whole = static_cast<int64_t>(std::llround(ns));
    return formatMicros(whole, whole == 0 ? 0 : 1) + " µs";
}

bool countsAsCompute(const Graph& graph, NodeId id) {
    const NodeKind kind = graph.node(id).kind;
    return kind != NodeKind::Launch && kind != NodeKind::Wait;
}

std::vector<WindowSpan> replaySweep(const Program& program) {
    const std::vector<Decision>& decisions = program.schedule->decisions;
    const std::vector<bool> member = groupMembers(program);
    std::vector<WindowSpan> spans(decisions.size());
    uint32_t pointer = static_cast<uint32_t>(program.graph->size());
    for (size_t i = decisions.size(); i-- > 0;) {
        const Decision& d = decisions[i];
        if (d.verdict == Verdict::NotCandidate)
            continue;
        uint32_t at = std::min(pointer, d.cur);
        spans[i].end = at;
        double sum = d.carry_in_ns;
        while (sum < d.need_ns && at > d.floor) {
            --at;
            if (!member[at] && countsAsCompute(*program.graph, at))
                sum += static_cast<double>(program.costs->ns(at));
        }
        spans[i].begin = at;
        pointer = std::max(d.floor, at); // as in the sweep itself
    }
    return spans;
}

void addBars(const Subject& subject, WhyCard& card) {
    const Program& program = subject.analysis.after;
    const Decision& d = subject.decision;
    addNeed(subject, card);
    const size_t index = static_cast<size_t>(&d - subject.schedule.decisions.data());
    const WindowSpan span = replaySweep(program)[index];
    const std::vector<Counted> swept = computeBetween(program, span.begin, span.end);
    const bool sweep = subject.schedule.scheduler == "latest-safe-launch" &&
                       std::abs(sumOf(swept) + d.carry_in_ns - d.window_ns) < 1;
    addWindow(subject, sweep ? swept : computeInFlight(subject), card);
    if (sweep) {
        addCarry(subject, card);
        card.claimed_ns = sumOf(computeBetween(program, span.end, d.cur));
        if (card.claimed_ns > 0)
            addClaimed(subject, card);
    }
    card.left_over_ns = std::max(0.0, d.window_ns - d.need_ns);
}

} // namespace gs::explain

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

std::vector<NodeId> computeBetween(const Program& program, uint32_t begin, uint32_t end) {
    const std::vector<bool> member = groupMembers(program);
    std::vector<NodeId> nodes;
    for (NodeId id = begin; id < end && id < program.graph->size(); ++id) {
        if (!member[id] && countsAsCompute(*program.graph, id) && program.costs->ns(id) > 0)
            nodes.push_back(id);
    }
    return nodes;
}

/// Compute between launch and wait in the new order: the window of schedulers that work on the time axis.
std::vector<NodeId> computeInFlight(const Subject& subject) {
    const Program& program = subject.analysis.after;
    std::vector<NodeId> nodes;
    bool inside = false;
    for (NodeId id : program.schedule->order) {
        if (id == subject.launch())
            inside = true;
        if (!subject.collective.waits.empty() && id == subject.collective.waits.front())
            break;
        if (inside && countsAsCompute(*program.graph, id) && program.costs->ns(id) > 0)
            nodes.push_back(id);
    }
    return nodes;
}

double sumOf(const CostTable& costs, const std::vector<NodeId>& nodes) {
    double sum = 0;
    for (NodeId id : nodes)
        sum += static_cast<double>(costs.ns(id));
    return sum;
}

void addNeed(const Subject& subject, WhyCard& card) {
    const Decision& d = subject.decision;
    card.need_ns = d.need_ns;
    if (d.need_ns <= 0)
        return;
    const double slack =
        std::clamp(subject.analysis.request.settings.number(Setting::SlackNs), 0.0, d.need_ns - d.comm_ns);
    const double contention = d.need_ns - d.comm_ns - slack;
    card.need.push_back({WhyPart::Kind::Comm, "transfer alone", d.comm_ns, d.launch});
    if (contention > 0)
        card.need.push_back({WhyPart::Kind::Contention, "contention", contention, kNoNode});
    if (slack > 0)
        card.need.push_back({WhyPart::Kind::Slack, "slack", slack, kNoNode});
}

/// The largest nodes by name, the rest as one part, then the carry.
void addWindow(const Subject& subject, std::vector<NodeId> nodes, WhyCard& card) {
    const CostTable& costs = *subject.analysis.after.costs;
    const Decision& d = subject.decision;
    card.window_ns = d.window_ns;
    std::stable_sort(nodes.begin(), nodes.end(),
                     [&](NodeId a, NodeId b) { return costs.ns(a) > costs.ns(b); });
    double named = 0;
    const size_t count = std::min(nodes.size(), kNamedParts);
    for (size_t i = 0; i < count; ++i) {
        const double ns = static_cast<double>(costs.ns(nodes[i]));
        card.window.push_back(
            {WhyPart::Kind::Compute, std::string(subject.graph.name(nodes[i])), ns, nodes[i]});
        named += ns;
    }
    const double rest = d.window_ns - d.carry_in_ns - named;
    if (rest >= 1) {
        const size_t others = nodes.size() - count;
        card.window.push_back({WhyPart::Kind::Rest,
                               others == 0 ? std::string("other compute") : fmt::format("{} more", others),
                               rest, kNoNode});
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

void addCarry(const Subject& subject, WhyCard& card) {
    const Decision& d = subject.decision;
    if (d.carry_in_ns > 0 && d.carry_from != kNoNode)
        card.rows.push_back(
            {"carry in",
             fmt::format("{} left over by {}", micros(d.carry_in_ns), labelOf(subject, d.carry_from)),
             d.carry_from});
    else
        card.rows.push_back({"carry in", "0 µs"});
    card.left_over_ns = std::max(0.0, d.window_ns - d.need_ns);
    if (d.need_ns <= 0 || card.left_over_ns < 1)
        return;
    for (const Decision& other : subject.schedule.decisions) {
        if (other.carry_from != d.launch || other.carry_in_ns <= 0)
            continue;
        card.carry = {fmt::format("the {} left over carry to {}", micros(other.carry_in_ns),
                                  labelOf(subject, other.launch)),
                      other.launch};
        return;
    }
    card.carry = {fmt::format("{} left over", micros(card.left_over_ns)), kNoNode};
}

} // namespace

std::string micros(double ns) {
    const auto whole = static_cast<int64_t>(std::llround(ns));
    return formatMicros(whole, whole == 0 ? 0 : 1) + " µs";
}

bool countsAsCompute(const Graph& graph, NodeId id) {
    return graph.node(id).kind == NodeKind::Compute;
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
        pointer = std::min(pointer, d.cur);
        spans[i].end = pointer;
        double sum = d.carry_in_ns;
        while (sum < d.need_ns && pointer > d.floor) {
            --pointer;
            if (!member[pointer] && countsAsCompute(*program.graph, pointer))
                sum += static_cast<double>(program.costs->ns(pointer));
        }
        spans[i].begin = pointer;
    }
    return spans;
}

void addBars(const Subject& subject, WhyCard& card) {
    const Program& program = subject.analysis.after;
    const Decision& d = subject.decision;
    addNeed(subject, card);
    const size_t index = static_cast<size_t>(&d - subject.schedule.decisions.data());
    const WindowSpan span = replaySweep(program)[index];
    std::vector<NodeId> nodes = computeBetween(program, span.begin, span.end);
    const bool sweep = std::abs(sumOf(*program.costs, nodes) + d.carry_in_ns - d.window_ns) < 1;
    if (!sweep)
        nodes = computeInFlight(subject);
    addWindow(subject, nodes, card);
    if (sweep) {
        card.claimed_ns = sumOf(*program.costs, computeBetween(program, span.end, d.cur));
        if (card.claimed_ns > 0) {
            const NodeId by = d.claimed_by;
            card.rows.push_back({"claimed",
                                 by == kNoNode
                                     ? fmt::format("{} by later gathers", micros(card.claimed_ns))
                                     : fmt::format("{} by {}", micros(card.claimed_ns), labelOf(subject, by)),
                                 by});
        }
    }
    addCarry(subject, card);
}

} // namespace gs::explain

// What the simulated step says of a gather, and why it contradicts the scheduler's promise where it does.
#include "explain/names.h"
#include "explain/parts.h"

#include <algorithm>
#include <fmt/format.h>

namespace gs {

namespace {

/// Sum of the stalls before for the gathers `names` point at; -1 if none of them exists.
int64_t exposedByName(const Program& before, std::string_view name) {
    if (!before.graph || !before.timeline)
        return -1;
    const std::optional<NodeId> id = before.graph->find(name);
    if (!id)
        return -1;
    const int32_t index = before.collectives->indexOf(*id);
    if (index < 0)
        return -1;
    const Collective& item = (*before.collectives)[static_cast<size_t>(index)];
    if (item.launch != *id && item.input != *id)
        return -1;
    return before.timeline->transfers[static_cast<size_t>(index)].exposed_ns;
}

} // namespace

int64_t exposedAfter(const Analysis& analysis, int32_t collective) {
    if (collective < 0 || !analysis.after.timeline)
        return -1;
    return analysis.after.timeline->transfers[static_cast<size_t>(collective)].exposed_ns;
}

int64_t exposedBefore(const Analysis& analysis, NodeId launch) {
    const Graph& graph = *analysis.after.graph;
    const int64_t same = exposedByName(analysis.before, graph.name(launch));
    if (same >= 0)
        return same;
    int64_t sum = -1;
    for (StringId origin : graph.origins(launch)) {
        const int64_t part = exposedByName(analysis.before, graph.text(origin));
        if (part >= 0)
            sum = std::max<int64_t>(sum, 0) + part;
    }
    return sum;
}

namespace explain {

namespace {

/// The transfer that kept the stream busy when this one was launched: the last to end before it started.
const Transfer* occupant(const Timeline& timeline, const Transfer& own) {
    const Transfer* found = nullptr;
    for (const Transfer& other : timeline.transfers) {
        if (&other == &own || other.stream != own.stream || other.end_ns > own.start_ns ||
            other.end_ns <= own.launched_ns)
            continue;
        if (!found || other.end_ns > found->end_ns)
            found = &other;
    }
    return found;
}

NodeId launchOf(const Subject& s, const Transfer* transfer) {
    return transfer ? (*s.analysis.after.collectives)[static_cast<size_t>(transfer->collective)].launch
                    : kNoNode;
}

std::string transferLabel(const Subject& s, const Transfer* transfer) {
    return transfer ? gatherLabel(s.graph,
                                  (*s.analysis.after.collectives)[static_cast<size_t>(transfer->collective)])
                    : std::string("another collective");
}

/// Promised hidden, simulated exposed: queueing first, since it is none of the gather's own doing.
WhyText brokenPromise(const Subject& s, const Timeline& timeline, const Transfer& t) {
    const double exposed = static_cast<double>(t.exposed_ns);
    const int64_t queued = t.start_ns - t.launched_ns;
    const int64_t stretched = (t.end_ns - t.start_ns) - t.alone_ns;
    if (queued > 0) {
        const Transfer* busy = occupant(timeline, t);
        return {
            fmt::format("Promised hidden, but {} are exposed: its stream was busy with {} for {} after the "
                        "launch.",
                        micros(exposed), transferLabel(s, busy), micros(static_cast<double>(queued))),
            launchOf(s, busy)};
    }
    if (t.exposed_ns <= stretched)
        return {fmt::format("Promised hidden, but {} are exposed: contention made the transfer {} longer.",
                            micros(exposed), micros(static_cast<double>(stretched))),
                kNoNode};
    return {fmt::format("Promised hidden, but {} are exposed: it is launched too late, the compute that was "
                        "counted does not all lie between launch and wait.",
                        micros(exposed)),
            kNoNode};
}

/// Called limited, simulated hidden.
WhyText luckyLimit(const Subject& s, const Timeline& timeline, const Transfer& t) {
    const Decision& d = s.decision;
    for (const Stall& stall : timeline.stalls) {
        if (stall.collective == t.collective || stall.start_ns >= t.end_ns || stall.end_ns <= t.launched_ns)
            continue;
        const Transfer& other = timeline.transfers[static_cast<size_t>(stall.collective)];
        return {
            fmt::format("Called COMPUTE-LIMITED, yet nothing is exposed: it is done while the compute stream "
                        "stalls for {} anyway.",
                        transferLabel(s, &other)),
            launchOf(s, &other)};
    }
    for (NodeId id = d.cur;
         id < s.graph.size() && !s.collective.waits.empty() && id < s.collective.waits.front(); ++id) {
        if (countsAsCompute(s.graph, id) && s.analysis.after.costs->ns(id) > 0)
            return {
                "Called COMPUTE-LIMITED, yet nothing is exposed: compute between its old place and the wait "
                "hides it too, which the sweep does not count.",
                id};
    }
    return {"Called COMPUTE-LIMITED, yet nothing is exposed: the need includes contention and slack that the "
            "simulated step did not use up.",
            kNoNode};
}

} // namespace

void addSimulation(const Subject& s, WhyCard& card) {
    if (!s.analysis.after.timeline)
        return;
    const Timeline& timeline = *s.analysis.after.timeline;
    const Transfer& t = timeline.transfers[static_cast<size_t>(s.decision.collective)];
    const int64_t before = exposedBefore(s.analysis, s.launch());
    const Transfer* busy = t.start_ns > t.launched_ns ? occupant(timeline, t) : nullptr;
    const std::string queue = t.start_ns > t.launched_ns
                                  ? fmt::format("stream busy with {} for {}", transferLabel(s, busy),
                                                micros(static_cast<double>(t.start_ns - t.launched_ns)))
                                  : std::string("stream idle before launch");
    const std::string state =
        t.exposed_ns > 0 ? micros(static_cast<double>(t.exposed_ns)) + " exposed" : std::string("hidden");
    card.rows.push_back({"simulated", state + " · " + queue, launchOf(s, busy)});
    if (before >= 0)
        card.rows.push_back(
            {"exposed before", before > 0 ? micros(static_cast<double>(before)) : std::string("nothing")});
    if (s.decision.verdict == Verdict::Hidden && t.exposed_ns > 0)
        card.disagreement = brokenPromise(s, timeline, t);
    else if (s.decision.verdict == Verdict::ComputeLimited && t.exposed_ns == 0)
        card.disagreement = luckyLimit(s, timeline, t);
}

} // namespace explain
} // namespace gs

#include "explain/in_flight.h"

#include "base/units.h"
#include "explain/names.h"
#include "explain/parts.h"

#include <algorithm>
#include <fmt/format.h>

namespace gs {

namespace {

uint32_t firstPlace(const Collective& item, const std::vector<uint32_t>& position) {
    uint32_t first = position[item.waits.front()];
    for (const NodeId wait : item.waits)
        first = std::min(first, position[wait]);
    return first;
}

} // namespace

std::vector<InFlightFacts> inFlightFacts(const Analysis& analysis) {
    std::vector<InFlightFacts> all;
    const Program& after = analysis.after;
    if (!after.collectives || after.collectives->inFlightCount() == 0 || !after.schedule)
        return all;
    const std::vector<uint32_t> position = positionsOf(after.schedule->order);
    for (size_t i = 0; i < after.collectives->size(); ++i) {
        const Collective& item = (*after.collectives)[i];
        if (!item.inFlightAtEntry())
            continue;
        InFlightFacts facts;
        facts.index = static_cast<int32_t>(i);
        facts.input = item.input;
        facts.time = after.costs->inFlight(i);
        facts.cost = after.costs->entry(item.input);
        if (!item.consumers.empty())
            facts.first_use = item.consumers.front();
        if (const auto wait = analysis.before.graph->find(after.graph->name(item.waits.front())))
            facts.wait_before = *wait;
        facts.wait_after = firstPlace(item, position);
        facts.exposed_before_ns = exposedBefore(analysis, item.input);
        facts.exposed_after_ns = exposedAfter(analysis, facts.index);
        all.push_back(facts);
    }
    return all;
}

namespace explain {

void addInFlight(const Analysis& analysis, const Collective& item, WhyCard& card) {
    const Graph& graph = *analysis.after.graph;
    const std::vector<InFlightFacts> all = inFlightFacts(analysis);
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const InFlightFacts& facts) { return facts.input == item.input; });
    if (found == all.end())
        return;
    const InFlightFacts& f = *found;
    const std::string name = parameterName(graph, item.input);
    card.title = "in flight at entry · " + name;
    const bool missing = !f.cost || f.cost->provenance == Provenance::Missing;
    const std::string left = micros(static_cast<double>(f.time.remaining()));
    card.headline =
        missing ? "It is in flight when the graph starts, and nobody knows for how long."
        : f.exposed_after_ns > 0
            ? fmt::format("It is in flight when the graph starts and has {} left, of which {} are exposed.",
                          left, micros(static_cast<double>(f.exposed_after_ns)))
            : fmt::format("It is in flight when the graph starts; the {} that are left of it are hidden.",
                          left);
    card.detail = "Code before the graph launched it, so only its wait can move: back, up to the first use.";
    if (missing)
        card.reason = {
            fmt::format("Set its duration with in_flight_ns={}=NS, or edit its cost: it counts as 0.",
                        graph.name(item.input)),
            item.input};
    const auto place = [&](NodeId id) { return fmt::format("{} · {}", id, placeName(graph, id)); };
    card.rows.push_back({"graph input", place(item.input), item.input});
    for (const NodeId wait : item.waits)
        card.rows.push_back({"wait", place(wait), wait});
    if (f.first_use != kNoNode)
        card.rows.push_back({"first use", place(f.first_use), f.first_use});
    card.rows.push_back(
        {"duration", costText(f.cost), kNoNode, missing ? Provenance::Missing : f.cost->provenance});
    if (f.time.elapsed_ns > 0)
        card.rows.push_back(
            {"elapsed at entry", micros(static_cast<double>(f.time.elapsed_ns)), kNoNode, Provenance::User});
    if (item.output_bytes >= 0)
        card.rows.push_back({"bytes", formatBytes(item.output_bytes)});
    if (f.exposed_after_ns >= 0)
        card.rows.push_back({"simulated", fmt::format("exposed {} → {}",
                                                      f.exposed_before_ns < 0
                                                          ? std::string("?")
                                                          : micros(static_cast<double>(f.exposed_before_ns)),
                                                      micros(static_cast<double>(f.exposed_after_ns)))});
}

} // namespace explain

} // namespace gs

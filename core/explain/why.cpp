#include "explain/why.h"

#include "base/units.h"
#include "explain/names.h"
#include "explain/parts.h"

#include <algorithm>
#include <fmt/format.h>

namespace gs {

namespace {

using namespace explain;

constexpr size_t kListedCosts = 8;

void addCost(const CostTable& costs, NodeId id, WhyCard& card) {
    const CostEntry* entry = costs.entry(id);
    if (!entry)
        return;
    for (const WhyCost& known : card.costs) {
        if (known.key == entry->key && known.ns == entry->ns)
            return;
    }
    card.costs.push_back(
        {entry->key, entry->label, entry->ns, entry->provenance, entry->source, entry->note, id});
}

std::string positionAndPlace(const Graph& graph, NodeId id) {
    return fmt::format("{} · {}", id, placeName(graph, id));
}

/// Facts that every card of a node has.
void addNodeRows(const Graph& graph, NodeId id, WhyCard& card) {
    const Node& node = graph.node(id);
    if (graph.targetText(id) != graph.name(id)) // a placeholder has no op
        card.rows.push_back({"op", std::string(graph.targetText(id))});
    if (node.module != kEmptyString)
        card.rows.push_back({"module", std::string(graph.text(node.module))});
    if (node.source != kEmptyString)
        card.rows.push_back({"source", std::string(graph.text(node.source))});
}

void addGatherRows(const Subject& s, WhyCard& card) {
    const Decision& d = s.decision;
    if (d.verdict != Verdict::NotCandidate) {
        card.rows.push_back({"dep floor",
                             fmt::format("{} · {}", d.floor,
                                         d.floor_node == kNoNode ? std::string("the graph's inputs")
                                                                 : placeName(s.graph, d.floor_node)),
                             d.floor_node});
    }
    if (d.first_consumer != kNoNode)
        card.rows.push_back(
            {"first consumer", positionAndPlace(s.graph, d.first_consumer), d.first_consumer});
    const CostEntry* entry = s.analysis.after.costs->entry(d.launch);
    card.rows.push_back({"comm", costText(entry), kNoNode, entry ? entry->provenance : Provenance::Missing});
}

/// The private preparation that goes along.
void addGroupRow(const Subject& s, WhyCard& card) {
    std::string names;
    for (NodeId id : s.decision.moved_group) {
        if (id != s.launch())
            names += (names.empty() ? "" : ", ") + std::string(s.graph.name(id));
    }
    if (!names.empty())
        card.rows.push_back({"moves with it", names});
}

/// Card of a collective the scheduler made no decision for.
WhyCard undecided(const Analysis& analysis, NodeId launch, const Collective& collective) {
    const Graph& graph = *analysis.after.graph;
    WhyCard card;
    card.node = launch;
    card.title = gatherLabel(graph, collective);
    card.headline = collective.isGather()
                        ? std::string("Stays where it is: the scheduler made no decision for it.")
                        : fmt::format("Stays where it is: {} is a {}, not a weight gather.",
                                      graph.name(launch), collectiveKindName(collective.kind));
    card.detail = "It is not a candidate for moving.";
    addNodeRows(graph, launch, card);
    const CostEntry* entry = analysis.after.costs->entry(launch);
    card.rows.push_back({"comm", costText(entry), kNoNode, entry ? entry->provenance : Provenance::Missing});
    const int32_t index = analysis.after.collectives->indexOf(launch);
    const int64_t exposed = exposedAfter(analysis, index);
    if (exposed >= 0)
        card.rows.push_back({"simulated", exposed > 0 ? micros(static_cast<double>(exposed)) + " exposed"
                                                      : std::string("hidden")});
    addCost(*analysis.after.costs, launch, card);
    return card;
}

/// Name of the gather whose window counted the node, as a row; the walk is repeated to find it.
void addClaimRow(const Analysis& analysis, NodeId id, WhyCard& card) {
    if (!analysis.after.schedule || !countsAsCompute(*analysis.after.graph, id))
        return;
    const std::vector<WindowSpan> spans = replaySweep(analysis.after);
    const std::vector<Decision>& decisions = analysis.after.schedule->decisions;
    for (size_t i = 0; i < spans.size(); ++i) {
        if (id < spans[i].begin || id >= spans[i].end)
            continue;
        const Collective& owner = (*analysis.after.collectives)[static_cast<size_t>(decisions[i].collective)];
        card.rows.push_back({"hides", gatherLabel(*analysis.after.graph, owner), owner.launch});
        return;
    }
}

std::string nodeHeadline(const Graph& graph, NodeId id) {
    const NodeKind kind = graph.node(id).kind;
    if (kind == NodeKind::Placeholder || kind == NodeKind::GetAttr)
        return fmt::format("Input of the graph: {}.", parameterName(graph, id));
    return fmt::format("Node {} of {}: {}.", formatCount(id), formatCount(static_cast<int64_t>(graph.size())),
                       placeName(graph, id));
}

} // namespace

namespace explain {

std::string costText(const CostEntry* entry) {
    if (!entry || entry->provenance == Provenance::Missing)
        return "no cost known: counted as 0 µs";
    std::string text =
        fmt::format("{} · {}", micros(static_cast<double>(entry->ns)), provenanceName(entry->provenance));
    if (!entry->source.empty())
        text += ", " + entry->source;
    return text;
}

} // namespace explain

WhyCard explainGather(const Analysis& analysis, NodeId launch) {
    const Program& after = analysis.after;
    const int32_t index = after.collectives->indexOf(launch);
    const Decision* decision = analysis.decisionFor(launch);
    if (index < 0)
        return explainNode(analysis, launch);
    const Collective& collective = (*after.collectives)[static_cast<size_t>(index)];
    if (!decision)
        return undecided(analysis, launch, collective);

    const Subject subject{analysis, *after.graph, *after.schedule, *decision, collective};
    WhyCard card;
    card.node = launch;
    card.gather = true;
    card.verdict = decision->verdict;
    card.title = collective.parameters.empty() ? std::string(after.graph->name(launch))
                                               : gatheredParameters(*after.graph, collective);
    addSentences(subject, card);
    addGatherRows(subject, card);
    addCost(*after.costs, launch, card);
    if (decision->verdict != Verdict::NotCandidate) {
        addBars(subject, card);
        addFacts(subject, card);
        for (const WhyPart& part : card.window) {
            if (part.kind == WhyPart::Kind::Compute && card.costs.size() < kListedCosts)
                addCost(*after.costs, part.node, card);
        }
    }
    addSimulation(subject, card);
    addGroupRow(subject, card);
    return card;
}

WhyCard explainNode(const Analysis& analysis, NodeId id) {
    const Program& after = analysis.after;
    const int32_t index = after.collectives->indexOf(id);
    if (index >= 0) {
        const NodeId launch = (*after.collectives)[static_cast<size_t>(index)].launch;
        if (launch != kNoNode)
            return explainGather(analysis, launch);
    }
    const Graph& graph = *after.graph;
    WhyCard card;
    card.node = id;
    card.title = std::string(graph.name(id));
    card.headline = nodeHeadline(graph, id);
    addNodeRows(graph, id, card);
    if (index >= 0) {
        const Collective& item = (*after.collectives)[static_cast<size_t>(index)];
        addInFlight(analysis, item, card);
        addCost(*after.costs, item.input, card);
        return card;
    }
    if (countsAsCompute(graph, id))
        card.rows.push_back(
            {"cost", costText(after.costs->entry(id)), kNoNode,
             after.costs->entry(id) ? after.costs->entry(id)->provenance : Provenance::Structural});
    addClaimRow(analysis, id, card);
    addCost(*after.costs, id, card);
    return card;
}

} // namespace gs

// Internal to core/explain: the pieces that why.cpp puts together.
#pragma once

#include "explain/why.h"

namespace gs::explain {

/// One candidate and what its sentences are made from.
struct Subject {
    const Analysis& analysis;
    const Graph& graph;
    const Schedule& schedule;
    const Decision& decision;
    const Collective& collective;
    NodeId launch() const { return decision.launch; }
};

/// Compute that the sweep counted for a gather: positions [begin, end) of the order it was given.
struct WindowSpan {
    uint32_t begin = 0;
    uint32_t end = 0;
};

/// Walks the sweep again with the recorded needs, floors and carries, since decisions keep only its sums.
/// One span per decision; empty for those that are no candidates. O(nodes + decisions).
std::vector<WindowSpan> replaySweep(const Program& program);

/// Whether a node's cost is time on the compute stream (that of a launch is its transfer's).
bool countsAsCompute(const Graph& graph, NodeId id);

/// Fills need, window, claimed_ns, left_over_ns, carry and their rows.
void addBars(const Subject& subject, WhyCard& card);

/// "1,159.1 µs".
std::string micros(double ns);

/// Headline, detail, reason, reason_source.
void addSentences(const Subject& subject, WhyCard& card);

/// Row "simulated" and the disagreement with the verdict.
void addSimulation(const Subject& subject, WhyCard& card);

/// What would change the verdict, in closed form.
void addFacts(const Subject& subject, WhyCard& card);

/// Title, sentences and rows of a collective in flight at entry.
void addInFlight(const Analysis& analysis, const Collective& item, WhyCard& card);

/// Value of the row "comm": "1,159.1 µs · imported, H100 roofline", "no cost known".
std::string costText(const CostEntry* entry);

} // namespace gs::explain

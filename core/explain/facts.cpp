// "What would change it": statements that follow from the card's own numbers, for this gather alone.
#include "explain/names.h"
#include "explain/parts.h"

#include <fmt/format.h>

namespace gs::explain {

namespace {

const WhyPart* largestCompute(const WhyCard& card) {
    for (const WhyPart& part : card.window) {
        if (part.kind == WhyPart::Kind::Compute)
            return &part;
    }
    return nullptr;
}

double partOf(const WhyCard& card, WhyPart::Kind kind) {
    for (const WhyPart& part : card.need) {
        if (part.kind == kind)
            return part.ns;
    }
    return 0;
}

void addHiddenFacts(const Subject& s, WhyCard& card, double slack) {
    const Decision& d = s.decision;
    card.facts.push_back(
        {"stays hidden up to contention", fmt::format("{:.2f}", (d.window_ns - slack) / d.comm_ns)});
    const double contention = (d.need_ns - slack) / d.comm_ns;
    card.facts.push_back(
        {"stays hidden while the transfer takes at most", micros((d.window_ns - slack) / contention)});
    const WhyPart* largest = largestCompute(card);
    if (!largest || largest->ns <= card.left_over_ns)
        return;
    // With room above the floor the walk would go on; at the floor there is nothing more to count.
    const char* what =
        d.target > d.floor ? "launched earlier if {} took less than" : "COMPUTE-LIMITED if {} took less than";
    card.facts.push_back({fmt::format(fmt::runtime(what), placeName(s.graph, largest->node)),
                          micros(largest->ns - card.left_over_ns)});
}

void addLimitedFacts(const Subject& s, WhyCard& card, double slack) {
    const Decision& d = s.decision;
    const double contention = (d.need_ns - slack) / d.comm_ns;
    const double room = d.window_ns - slack;
    if (room <= 0) {
        card.facts.push_back({"no faster transfer alone would hide it", "window " + micros(d.window_ns)});
        return;
    }
    const double faster = 100.0 * (1.0 - room / contention / d.comm_ns);
    card.facts.push_back({"hidden if the transfer took at most",
                          fmt::format("{} (−{:.1f} %)", micros(room / contention), faster)});
    if (room / d.comm_ns >= 1.0)
        card.facts.push_back({"hidden up to contention", fmt::format("{:.2f}", room / d.comm_ns)});
    const double spare = d.window_ns - d.comm_ns * contention;
    if (spare >= 0)
        card.facts.push_back({"hidden with a slack of at most", micros(spare)});
    card.facts.push_back({"hidden with more compute before it, at least", micros(d.need_ns - d.window_ns)});
}

} // namespace

void addFacts(const Subject& s, WhyCard& card) {
    const Decision& d = s.decision;
    if (d.comm_ns <= 0 || d.need_ns <= 0)
        return;
    const double slack = partOf(card, WhyPart::Kind::Slack);
    if (d.verdict == Verdict::Hidden)
        addHiddenFacts(s, card, slack);
    else if (d.verdict == Verdict::ComputeLimited)
        addLimitedFacts(s, card, slack);
}

} // namespace gs::explain

// The decision card: why a gather is launched where it is, in words and numbers (document 000; passes.md §4
// and §8). Every number carries its unit, every statement the node it is about.
#pragma once

#include "analysis/analysis.h"

namespace gs {

/// One stretch of the need bar or of the window bar. Lengths add up to WhyCard::need_ns and window_ns.
struct WhyPart {
    enum class Kind : uint8_t {
        Comm,       ///< the transfer alone
        Contention, ///< what contention adds: comm × (factor − 1)
        Slack,
        CarryIn, ///< left over by a later gather
        Compute, ///< one compute node, named
        Rest     ///< the remaining compute, summed
    };
    Kind kind = Kind::Compute;
    std::string label;
    double ns = 0;
    NodeId node = kNoNode; ///< the compute node; the launch that left the carry
};

/// Sentence or value with the node it leads to.
struct WhyText {
    std::string text;
    NodeId node = kNoNode;
};

struct WhyRow {
    std::string label;
    std::string value;
    NodeId node = kNoNode; ///< where a click leads
    /// Of the number in it; Structural = it has none.
    Provenance provenance = Provenance::Structural;
};

/// One closed-form statement: "stays hidden up to contention" / "2.39".
struct WhyFact {
    std::string text;
    std::string value;
};

/// A cost that the decision rests on.
struct WhyCost {
    std::string key;
    std::string label;
    int64_t ns = 0; ///< meaningless if missing
    Provenance provenance = Provenance::Missing;
    std::string source;
    std::string note;
    NodeId node = kNoNode;
};

struct WhyCard {
    NodeId node = kNoNode; ///< the launch, or the node the card is about
    bool gather = false;
    Verdict verdict = Verdict::NotCandidate;
    std::string title;         ///< what is gathered: "layers.8.feed_forward.w1.weight"; else the node's name
    std::string headline;      ///< one sentence in plain words
    std::string detail;        ///< one more
    WhyText reason;            ///< the one binding reason; empty if nothing binds
    std::string reason_source; ///< source line of the reason's node: "attention.py:438 …"; empty if unknown
    WhyText disagreement;      ///< why the simulation contradicts the verdict; empty if it does not

    double need_ns = 0;
    double window_ns = 0;
    std::vector<WhyPart> need;   ///< empty if the scheduler states no need
    std::vector<WhyPart> window; ///< largest compute node first, then the rest, then the carry
    double claimed_ns = 0;       ///< compute in front of the launch that later gathers took
    double left_over_ns = 0;     ///< window beyond the need
    WhyText carry;               ///< what became of it

    std::vector<WhyRow> rows;
    std::vector<WhyFact> facts;
    std::vector<WhyCost> costs; ///< the transfer first, then the compute by size
};

/// Card of the collective that `launch` (a node of after.graph) launches. For launches without a decision it
/// says what they are and why they were left alone.
WhyCard explainGather(const Analysis& analysis, NodeId launch);

/// Card of any node of after.graph: of its gather if it launches, unpacks or waits for one, else its facts.
WhyCard explainNode(const Analysis& analysis, NodeId id);

/// Simulated stall of a collective after scheduling.
int64_t exposedAfter(const Analysis& analysis, int32_t collective);
/// The same before: of the gather with the launch's name (or in flight at entry, the input's), or of all
/// gathers that the bucket was made from. -1 if the program before has none of them.
int64_t exposedBefore(const Analysis& analysis, NodeId launch);

} // namespace gs

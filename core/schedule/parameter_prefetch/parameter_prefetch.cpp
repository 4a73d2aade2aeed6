#include "schedule/parameter_prefetch/parameter_prefetch.h"

#include "schedule/parameter_prefetch/live_replicas.h"
#include "schedule/parameter_prefetch/prefetch_anchors.h"
#include "schedule/parameter_prefetch/prefetch_ops.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace gs {

namespace {

class Prefetcher {
public:
    Prefetcher(const Graph& graph, const FsdpTags& tags, const PrefetchOptions& options, const Order& order,
               std::vector<NodeId> anchor)
        : graph_(graph), tags_(tags), options_(options), program_(order) {
        out_.anchor = std::move(anchor);
        out_.anchor.resize(graph.size(), kNoNode);
        out_.matches = collectMatches(graph, tags, order);
        out_.outcomes.resize(out_.matches.size(), PrefetchOutcome::Off);
        constraints_ = launchConstraints(graph, tags, order);
    }

    PrefetchResult run() {
        out_.forward = runPhase(false, options_.forward_depth);
        out_.backward = runPhase(true, options_.backward_depth);
        sink();
        out_.order = program_.order();
        return std::move(out_);
    }

private:
    PrefetchPhase describePhase(bool backward) const {
        PrefetchPhase phase;
        phase.position.resize(graph_.size());
        uint32_t position = 0;
        for (NodeId id = program_.first(); id != program_.end(); id = program_.next(id)) {
            phase.position[id] = position++;
            const NodeOp op = graph_.node(id).op;
            if (op == NodeOp::Placeholder || op == NodeOp::GetAttr || tags_.backward[id] != backward)
                continue;
            if (phase.start == kNoNode)
                phase.start = id;
            if (isPrefetchAttention(graph_, id))
                phase.attention.push_back(id);
            if (isPrefetchHeavy(graph_, id))
                phase.heavy.push_back(id);
        }
        return phase;
    }

    size_t runPhase(bool backward, int64_t depth) {
        std::vector<const PrefetchMatch*> matches;
        for (const PrefetchMatch& match : out_.matches) {
            if (tags_.backward[match.launch] == backward)
                matches.push_back(&match);
        }
        if (matches.empty() || depth == 0 || options_.budget_bytes == 0)
            return 0;
        const PrefetchPhase phase = describePhase(backward);
        const std::vector<NodeId> anchors = prefetchAnchors(matches, phase, depth);
        LiveReplicas live(program_, options_.budget_bytes);
        for (const PrefetchMatch* match : matches) {
            if (out_.anchor[match->launch] != kNoNode)
                live.add(match->launch, match->first_user, tags_.bytes[match->launch]);
        }
        size_t changed = 0;
        for (size_t i = 0; i < matches.size(); ++i) {
            const PrefetchOutcome outcome = anchors[i] == kNoNode
                                                ? PrefetchOutcome::FirstGroup
                                                : hoist(*matches[i], anchors[i], phase.start, live);
            out_.outcomes[static_cast<size_t>(matches[i] - out_.matches.data())] = outcome;
            changed += outcome == PrefetchOutcome::Moved ? 1 : 0;
        }
        return changed;
    }

    PrefetchOutcome hoist(const PrefetchMatch& match, NodeId anchor, NodeId phase_start, LiveReplicas& live) {
        std::vector<NodeId> chain = launchChain(graph_, match.launch);
        std::sort(chain.begin(), chain.end(), [&](NodeId a, NodeId b) { return program_.before(a, b); });
        NodeId target = program_.before(anchor, phase_start) ? phase_start : anchor;
        const auto stayBehind = [&](NodeId before) {
            if (!program_.before(before, target))
                target = program_.next(before);
        };
        for (const NodeId before : constraints_[match.launch])
            stayBehind(before);
        for (const NodeId id : chain) {
            for (const NodeId input : graph_.inputs(id)) {
                if (std::find(chain.begin(), chain.end(), input) == chain.end())
                    stayBehind(input);
            }
        }
        if (!program_.before(target, chain.front()))
            return PrefetchOutcome::AlreadyThere;
        if (!live.fits(match.launch, target, match.first_user, tags_.bytes[match.launch]))
            return PrefetchOutcome::Budget;
        for (const NodeId id : chain) {
            program_.moveBefore(id, target);
            live.moved(id);
        }
        out_.anchor[match.launch] = anchor;
        live.add(match.launch, match.first_user, tags_.bytes[match.launch]);
        return PrefetchOutcome::Moved;
    }

    /// Nodes that a wait of one phase must not sink past, by their place. The labels may be spread anew
    /// without breaking the sets' order.
    struct ByPlace {
        const ProgramList* program;
        bool operator()(NodeId a, NodeId b) const { return program->before(a, b); }
    };
    using Stops = std::set<NodeId, ByPlace>;

    bool stops(NodeId id, bool backward) const {
        return tags_.backward[id] != backward || isPrefetchBarrier(graph_, tags_, id);
    }

    /// Moves every wait, view and copy-out towards its first user, later ones first.
    void sink() {
        Stops stops_of[2] = {Stops(ByPlace{&program_}), Stops(ByPlace{&program_})};
        for (NodeId id = program_.first(); id != program_.end(); id = program_.next(id)) {
            for (const bool backward : {false, true}) {
                if (stops(id, backward))
                    stops_of[backward].insert(stops_of[backward].end(), id);
            }
        }
        for (const PrefetchMatch& match : out_.matches) {
            const Stops& before = stops_of[tags_.backward[match.launch]];
            NodeId behind = kNoNode; // keeps branches that share a consumer in their order
            for (size_t i = match.realization.size(); i-- > 0;) {
                const NodeId id = match.realization[i];
                if (graph_.users(id).empty())
                    continue;
                NodeId target = behind == kNoNode ? program_.end() : behind;
                for (const NodeId user : graph_.users(id))
                    target = program_.before(user, target) ? user : target;
                if (const auto stop = before.upper_bound(id); stop != before.end())
                    target = program_.before(*stop, target) ? *stop : target;
                if (program_.next(id) != target) {
                    for (Stops& set : stops_of)
                        set.erase(id);
                    program_.moveBefore(id, target);
                    for (const bool backward : {false, true}) {
                        if (stops(id, backward))
                            stops_of[backward].insert(id);
                    }
                    ++out_.sunk;
                }
                behind = id;
            }
        }
    }

    const Graph& graph_;
    const FsdpTags& tags_;
    const PrefetchOptions& options_;
    ProgramList program_;
    std::vector<std::vector<NodeId>> constraints_;
    PrefetchResult out_;
};

} // namespace

Result<PrefetchResult> prefetchParameters(const Graph& graph, const FsdpTags& tags,
                                          const PrefetchOptions& options, const Order& order,
                                          std::vector<NodeId> anchor) {
    for (const auto& [name, depth] :
         {std::pair{"forward_depth", options.forward_depth}, {"backward_depth", options.backward_depth}}) {
        if (depth < 0)
            return Error{"bad-depth",
                         fmt::format("{} is {}, but a prefetch depth is a whole number from 0", name, depth),
                         {},
                         "0 launches nothing early in that phase; 1 looks one consumer ahead"};
    }
    return Prefetcher(graph, tags, options, order, std::move(anchor)).run();
}

} // namespace gs

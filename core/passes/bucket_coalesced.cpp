#include "passes/bucket_coalesced.h"

#include "base/units.h"
#include "graph/graph_builder.h"
#include "graph/order_edges.h"
#include "passes/bucket_members.h"
#include "passes/rewrite.h"

#include <algorithm>
#include <fmt/format.h>

namespace gs {

namespace {

constexpr const char* kPassName = "bucket-coalesced";

bool isBucket(const GatherBucket& bucket) {
    return bucket.members.size() > 1;
}

/// The input graph's order with every member's preparation and launch moved to the first launch.
Order bucketedOrder(const Graph& graph, const CollectiveTable& collectives, const BucketPlan& plan) {
    std::vector<int32_t> starts(graph.size(), -1);
    std::vector<bool> moves(graph.size(), false);
    for (size_t i = 0; i < plan.buckets.size(); ++i) {
        const GatherBucket& bucket = plan.buckets[i];
        if (!isBucket(bucket))
            continue;
        starts[collectives[bucket.members.front()].launch] = static_cast<int32_t>(i);
        for (uint32_t member : bucket.members)
            moves[collectives[member].launch] = true;
        for (NodeId node : bucket.hoisted)
            moves[node] = true;
    }
    Order order;
    order.reserve(graph.size());
    for (NodeId id = 0; id < graph.size(); ++id) {
        if (starts[id] >= 0) {
            const GatherBucket& bucket = plan.buckets[static_cast<size_t>(starts[id])];
            std::vector<NodeId> hoisted = bucket.hoisted;
            std::sort(hoisted.begin(), hoisted.end());
            order.insert(order.end(), hoisted.begin(), hoisted.end());
            for (uint32_t member : bucket.members)
                order.push_back(collectives[member].launch);
        } else if (!moves[id]) {
            order.push_back(id);
        }
    }
    return order;
}

class BucketRewriter {
public:
    BucketRewriter(const Graph& graph, const CollectiveTable& collectives, const BucketPlan& plan)
        : graph_(graph), collectives_(collectives), plan_(plan), builder_(graph), namer_(graph),
          map_(graph.size(), kNoNode), bucket_of_(graph.size(), -1), names_(plan.buckets.size()) {
        for (size_t i = 0; i < plan.buckets.size(); ++i) {
            for (uint32_t member : plan.buckets[i].members) {
                if (isBucket(plan.buckets[i]))
                    bucket_of_[collectives[member].launch] = static_cast<int32_t>(i);
            }
        }
    }

    GraphPtr run(const Order& order, Diagnostics& diagnostics) {
        std::vector<bool> hoisted(graph_.size(), false);
        for (const GatherBucket& bucket : plan_.buckets) {
            for (NodeId node : bucket.hoisted)
                hoisted[node] = true;
        }
        for (NodeId id : order) {
            const int32_t bucket = bucket_of_[id];
            if (bucket < 0) {
                map_[id] = builder_.copyNode(graph_, id, map_);
                if (hoisted[id])
                    builder_.node(map_[id]).moved_by_pass = true;
            } else if (map_[id] == kNoNode) { // the first member stands for all
                emit(static_cast<size_t>(bucket));
            }
        }
        return builder_.finish(&diagnostics);
    }

    const std::string& name(size_t bucket) const { return names_[bucket]; }

private:
    void emit(size_t index) {
        const GatherBucket& bucket = plan_.buckets[index];
        const NodeId first = collectives_[bucket.members.front()].launch;
        std::vector<Arg> shards;
        Value outputs;
        outputs.kind = Value::Kind::List;
        for (uint32_t member : bucket.members) {
            const NodeId launch = collectives_[member].launch;
            shards.push_back(builder_.nodeArg(map_[graph_.arg(launch, 0)->node()]));
            outputs.items.push_back(graph_.value(launch));
        }
        names_[index] = namer_.next("all_gather_into_tensor_coalesced");
        const NodeId coalesced =
            add(names_[index], "_c10d_functional.all_gather_into_tensor_coalesced.default", first);
        // Size and group are numbers and text: the first member's serve for all.
        builder_.setArgs(coalesced, {builder_.listArg(shards), *graph_.arg(first, 1), *graph_.arg(first, 2)});
        if (graph_.value(first).kind == Value::Kind::Tensor)
            builder_.setValue(coalesced, outputs);
        builder_.meta(coalesced).comm_type = graph_.meta(first).comm_type;
        for (size_t i = 0; i < bucket.members.size(); ++i) {
            const NodeId launch = collectives_[bucket.members[i]].launch;
            builder_.addOrigin(coalesced, graph_.node(launch).name);
            const NodeId item = add(namer_.next("getitem"), "operator.getitem", launch);
            builder_.setArgs(item, {builder_.nodeArg(coalesced), builder_.intArg(static_cast<int64_t>(i))});
            builder_.setValue(item, graph_.value(launch));
            builder_.addOrigin(item, graph_.node(launch).name);
            map_[launch] = item;
        }
    }

    NodeId add(const std::string& name, std::string_view target, NodeId like) {
        const NodeId id = builder_.addNode(name, NodeOp::CallFunction, target);
        const Node& from = graph_.node(like);
        Node& node = builder_.node(id);
        node.module = from.module;
        node.source = from.source;
        node.source_line = from.source_line;
        node.phase = from.phase;
        node.moved_by_pass = true;
        return id;
    }

    const Graph& graph_;
    const CollectiveTable& collectives_;
    const BucketPlan& plan_;
    GraphBuilder builder_;
    NodeNamer namer_;
    std::vector<NodeId> map_;
    std::vector<int32_t> bucket_of_;
    std::vector<std::string> names_;
};

std::string brokenEdgeText(const Graph& graph, const BrokenEdge& edge) {
    if (edge.before == kNoNode)
        return "the bucketed order is no permutation of the nodes";
    return fmt::format("the bucketed order breaks the {} edge from {} to {}", edgeKindName(edge.kind),
                       graph.name(edge.before), graph.name(edge.after));
}

void reportDecisions(const Graph& graph, const BucketPlan& plan, const BucketRewriter* rewriter,
                     const std::string& dropped, PassReport& report) {
    size_t buckets = 0;
    for (const GatherBucket& bucket : plan.buckets)
        buckets += isBucket(bucket) ? 1 : 0;
    for (const BucketDecision& decision : plan.decisions) {
        PassReportLine line{std::string(graph.name(decision.launch)), false, decision.reason};
        if (decision.bucket >= 0) {
            const GatherBucket& bucket = plan.buckets[static_cast<size_t>(decision.bucket)];
            line.done = isBucket(bucket) && rewriter;
            if (!isBucket(bucket))
                line.reason = "no other gather fits into its bucket";
            else if (rewriter)
                line.reason = fmt::format("in {} with {} other{}, {} of local shard",
                                          rewriter->name(static_cast<size_t>(decision.bucket)),
                                          bucket.members.size() - 1, bucket.members.size() == 2 ? "" : "s",
                                          formatBytes(bucket.shard_bytes));
            else
                line.reason = dropped;
        }
        (line.done ? report.done : report.skipped) += 1;
        report.lines.push_back(std::move(line));
    }
    report.summary = dropped.empty() ? fmt::format("Merged {} of {} all-gathers into {} coalesced launches.",
                                                   report.done, plan.decisions.size(), buckets)
                                     : "No gathers were bucketed: " + dropped + ".";
}

} // namespace

PassResult bucketCoalesced(const GraphPtr& graph, const BucketOptions& options) {
    PassReport report;
    report.pass = kPassName;
    if (graph->info().level == GraphLevel::Scheduler) {
        report.summary = "Scheduler nodes are not bucketed; give the graph before Inductor's scheduler.";
        return {graph, std::move(report)};
    }
    const CollectiveTable collectives(*graph);
    const BucketPlan plan = BucketPlanner(*graph, collectives, options).run();
    if (std::none_of(plan.buckets.begin(), plan.buckets.end(), isBucket)) {
        reportDecisions(*graph, plan, nullptr, {}, report);
        return {graph, std::move(report)};
    }
    const Order order = bucketedOrder(*graph, collectives, plan);
    if (const auto broken = findBrokenEdge(*graph, order)) {
        const std::string dropped = brokenEdgeText(*graph, *broken);
        reportDecisions(*graph, plan, nullptr, dropped, report);
        report.diagnostics.add(
            {Severity::Warning, "order-dropped", {}, {}, dropped, "the graph is analysed without buckets"});
        return {graph, std::move(report)};
    }
    BucketRewriter rewriter(*graph, collectives, plan);
    GraphPtr bucketed = rewriter.run(order, report.diagnostics);
    reportDecisions(*graph, plan, &rewriter, {}, report);
    return {std::move(bucketed), std::move(report)};
}

PassResult bucketCoalesced(const GraphPtr& graph, const Settings& settings, const Edits& edits) {
    PassReport report;
    report.pass = kPassName;
    BucketOptions options;
    for (const Edit& edit : edits) {
        if (edit.kind == Edit::Kind::Bucket)
            options.by_hand.push_back(edit.members);
    }
    options.automatic = settings.text(Setting::BucketMode) == "coalesced";
    if (!options.automatic && options.by_hand.empty()) {
        report.summary = "Bucketing is switched off.";
        return {graph, std::move(report)};
    }
    if (const std::optional<double> mib = settings.limit(Setting::BucketCapMib))
        options.cap_bytes = static_cast<int64_t>(*mib * 1024 * 1024);
    const std::string& region = settings.text(Setting::BucketRegion);
    options.region = region == "module"     ? BucketOptions::Region::Module
                     : region == "adjacent" ? BucketOptions::Region::Adjacent
                                            : BucketOptions::Region::Boundary;
    options.boundary = settings.text(Setting::BucketBoundary);
    options.module_depth = static_cast<int>(settings.integer(Setting::BucketLayer));
    options.all_gathers = settings.text(Setting::Gathers) == "all";
    return bucketCoalesced(graph, options);
}

} // namespace gs

// Programs for tests of layouts and the graph view: a made-up model of any number of layers, and analyses
// whose gathers are hoisted by a plain rule, so that no scheduler is needed to test a picture.
#pragma once

#include "analysis/analysis.h"
#include "graph/graph_builder.h"
#include "support/test_data.h"

#include <algorithm>
#include <fmt/format.h>

namespace gs::test {

/// Forward and backward of `layers` layers with two gathers each: param → cast → pad → gather → wait → view →
/// mm, saved activations from forward to backward, one barrier (effect edges), one advisory edge per gather.
inline GraphPtr makeModel(int layers) {
    GraphBuilder b;
    b.info().name = "model";
    const auto call = [&](const std::string& name, const char* target, std::vector<Arg> args,
                          const std::string& module, Phase phase = Phase::Unknown) {
        const NodeId id = b.addNode(name, NodeOp::CallFunction, target);
        b.setArgs(id, args);
        b.node(id).module = b.intern(module);
        b.node(id).phase = phase;
        return id;
    };
    std::vector<NodeId> parameters;
    for (int i = 0; i < layers * 2; ++i) {
        parameters.push_back(
            b.addNode(fmt::format("arg{}_1", i), NodeOp::Placeholder, fmt::format("arg{}_1", i)));
        b.meta(parameters.back()).fqn = b.intern(
            fmt::format("layers.{}.{}.weight", i / 2, i % 2 == 0 ? "attention.wqkv" : "feed_forward.w1"));
    }
    NodeId x = b.addNode("tokens", NodeOp::Placeholder, "tokens");
    NodeId last_gather = kNoNode;
    std::vector<NodeId> saved;
    for (int i = 0; i < layers * 2; ++i) {
        const std::string part = i % 2 == 0 ? "attention" : "feed_forward";
        const std::string module = fmt::format("layers.{}.{}", i / 2, part);
        const std::string leaf = module + (i % 2 == 0 ? ".wqkv" : ".w1");
        const NodeId cast = call(fmt::format("_to_copy_{}", i), "aten._to_copy.default",
                                 {b.nodeArg(parameters[static_cast<size_t>(i)])}, leaf);
        const NodeId pad =
            call(fmt::format("pad_{}", i), "aten.constant_pad_nd.default", {b.nodeArg(cast)}, leaf);
        const NodeId gather =
            call(fmt::format("all_gather_{}", i), "_c10d_functional.all_gather_into_tensor.default",
                 {b.nodeArg(pad), b.intArg(8), b.textArg(Arg::Kind::String, "0")}, leaf);
        if (last_gather != kNoNode)
            b.addWeakInput(gather, last_gather);
        last_gather = gather;
        const NodeId wait = call(fmt::format("wait_tensor_{}", i), "_c10d_functional.wait_tensor.default",
                                 {b.nodeArg(gather)}, leaf);
        const NodeId t = call(fmt::format("t_{}", i), "aten.t.default", {b.nodeArg(wait)}, leaf);
        const NodeId mm =
            call(fmt::format("mm_{}", i), "aten.mm.default", {b.nodeArg(x), b.nodeArg(t)}, leaf);
        saved.push_back(mm);
        x = mm;
        for (int k = 0; k < 9; ++k)
            x = call(fmt::format("mul_{}_{}", i, k), "aten.mul.Tensor", {b.nodeArg(x), b.nodeArg(mm)},
                     module);
    }
    for (int i = layers * 2 - 1; i >= 0; --i) {
        const std::string module =
            fmt::format("layers.{}.{}", i / 2, i % 2 == 0 ? "attention" : "feed_forward");
        x = call(fmt::format("mm_back_{}", i), "aten.mm.default",
                 {b.nodeArg(x), b.nodeArg(saved[static_cast<size_t>(i)])}, module, Phase::Backward);
    }
    const NodeId out = b.addNode("output", NodeOp::Output, "output");
    b.setArgs(out, {b.nodeArg(x)});
    Diagnostics diagnostics;
    return b.finish(&diagnostics);
}

/// Decision for one gather by a plain rule: up `hoist` nodes with its private producers, never above what it
/// needs nor above the gather before it (`running`).
inline Decision hoistOne(const Graph& graph, const Collective& gather, int32_t index, uint32_t hoist,
                         uint32_t& running) {
    Decision d;
    d.collective = index;
    d.launch = gather.launch;
    d.moved_group = {gather.launch};
    for (size_t k = 0; k < d.moved_group.size(); ++k) {
        for (NodeId input : graph.inputs(d.moved_group[k])) {
            if (graph.isCall(input) && graph.users(input).size() == 1)
                d.moved_group.push_back(input);
        }
    }
    std::sort(d.moved_group.begin(), d.moved_group.end());
    d.floor = graph.placeholdersEnd();
    for (NodeId node : d.moved_group) {
        for (NodeId input : graph.inputs(node)) {
            if (std::find(d.moved_group.begin(), d.moved_group.end(), input) == d.moved_group.end() &&
                input + 1 > d.floor) {
                d.floor = input + 1;
                d.floor_node = input;
            }
        }
    }
    d.cur = gather.launch;
    const uint32_t first = d.moved_group.front();
    d.target = std::max({d.floor, first > hoist ? first - hoist : 0U, running});
    running = d.target;
    if (d.target >= first)
        d.target = d.cur;
    d.first_consumer = gather.consumers.empty() ? kNoNode : gather.consumers.front();
    d.comm_ns = 1000000;
    d.need_ns = 1744000;
    d.window_ns = 2779000;
    d.verdict = Verdict::Hidden;
    return d;
}

/// Before: the graph as it is. After: the same graph with every weight gather hoisted.
inline AnalysisPtr makeAnalysis(const GraphPtr& graph, uint32_t hoist) {
    auto analysis = std::make_shared<Analysis>();
    const auto collectives = std::make_shared<const CollectiveTable>(*graph);
    analysis->before = {graph, collectives, nullptr, nullptr, nullptr};
    auto schedule = std::make_shared<Schedule>();
    schedule->scheduler = "test";
    std::vector<bool> moves(graph->size(), false);
    uint32_t running = 0;
    for (size_t i = 0; i < collectives->size(); ++i) {
        if (!(*collectives)[i].weight_gather)
            continue;
        const Decision d = hoistOne(*graph, (*collectives)[i], static_cast<int32_t>(i), hoist, running);
        ++schedule->candidates;
        schedule->moved += d.moved() ? 1 : 0;
        for (NodeId node : d.moved_group)
            moves[node] = d.moved();
        schedule->decisions.push_back(d);
    }
    size_t next = 0;
    for (NodeId id = 0; id < graph->size(); ++id) {
        for (; next < schedule->decisions.size(); ++next) {
            const Decision& d = schedule->decisions[next];
            if (d.moved() && d.target > id)
                break;
            if (d.moved())
                schedule->order.insert(schedule->order.end(), d.moved_group.begin(), d.moved_group.end());
        }
        if (!moves[id])
            schedule->order.push_back(id);
    }
    analysis->after = {graph, collectives, nullptr, schedule, nullptr};
    return analysis;
}

/// A corpus graph, or null where the corpus is not at hand (noted as NOT RUN).
inline GraphPtr corpusGraph(const std::string& name) {
    const auto path = corpusPath("graphs/" + name + ".json");
    if (!path)
        return nullptr;
    Diagnostics diagnostics;
    auto imported = importGraph(*path, -1, -1, diagnostics, {});
    return imported ? imported->graph : nullptr;
}

} // namespace gs::test

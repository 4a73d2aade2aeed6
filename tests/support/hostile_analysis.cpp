#include "support/hostile_analysis.h"

#include "cost/cost_model.h"
#include "graph/graph_builder.h"
#include "schedule/scheduler.h"

namespace gs::test {

std::vector<std::string> hostileLabels() {
    std::string controls = "c";
    for (int c = 0; c < 0x20; ++c)
        controls += static_cast<char>(c);
    controls += "\x7f\xc2\x85\xc2\x9f end";
    return {"</title></style></script><script>alert(1)</script>",
            "\"><img src=x onerror=alert(1)>",
            "' onmouseover='alert(1)",
            "<!-- ]]> --> &amp; &#60; &lt;b&gt;",
            "=cmd|' /C calc'!A0",
            "+1+1",
            "-2+3",
            "@SUM(A1)",
            "\tx",
            "\rx",
            "{record|<port>} \\N \\\\ \\",
            controls,
            "broken \xff\xfe \xc3( \xed\xa0\x80 \xf8\x88\x80\x80\x80",
            "turned \xe2\x80\xae txt.exe \xe2\x81\xa6",
            "ünïcödé 梯度 🜂",
            std::string(100'000, 'x') + "é"};
}

namespace {

/// A gather, its wait and a product per label.
GraphPtr hostileGraph(const std::vector<std::string>& labels) {
    GraphBuilder b;
    b.info().name = labels[0] + labels[11];
    b.info().model = labels[1];
    b.info().producer = labels[2];
    b.info().source_file = "/tmp/" + labels[3];
    const auto tensor = [&](NodeId id, int64_t rows) {
        Value value;
        value.kind = Value::Kind::Tensor;
        value.tensor.dtype = DType::BFloat16;
        value.tensor.shape = {{rows, kEmptyString}, {16, kEmptyString}};
        value.tensor.has_stride = true;
        value.tensor.stride = {{16, kEmptyString}, {1, kEmptyString}};
        b.setValue(id, value);
        return id;
    };
    const NodeId x = tensor(b.addNode("x", NodeOp::Placeholder, "x"), 1 << 16);
    std::vector<NodeId> parameters;
    for (const std::string& label : labels) {
        parameters.push_back(tensor(b.addNode("p " + label, NodeOp::Placeholder, label), 1 << 16));
        b.meta(parameters.back()).fqn = b.intern(label);
    }
    NodeId last = x;
    for (size_t i = 0; i < labels.size(); ++i) {
        const NodeId gather =
            b.addNode(labels[i], NodeOp::CallFunction, "_c10d_functional.all_gather_into_tensor.default");
        b.setArgs(gather, {b.nodeArg(parameters[i]), b.intArg(8),
                           b.textArg(Arg::Kind::String, labels[i % 3 == 0 ? 0 : 1])});
        tensor(gather, 8 << 16);
        const NodeId wait =
            b.addNode("w " + labels[i], NodeOp::CallFunction, "_c10d_functional.wait_tensor.default");
        b.setArgs(wait, {b.nodeArg(gather)});
        tensor(wait, 8 << 16);
        const NodeId mm = b.addNode("m " + labels[i], NodeOp::CallFunction, "aten.mm.default");
        b.setArgs(mm, {b.nodeArg(last), b.nodeArg(wait)});
        b.node(mm).module = b.intern(labels[i]);
        b.node(mm).source = b.intern(labels[(i + 1) % labels.size()]);
        last = tensor(mm, 1 << 16);
    }
    const NodeId output = b.addNode("output", NodeOp::Output, "output");
    b.setArgs(output, {b.nodeArg(last)});
    return b.finish(nullptr);
}

} // namespace

AnalysisPtr hostileAnalysis() {
    const std::vector<std::string> labels = hostileLabels();
    auto analysis = std::make_shared<Analysis>();
    Program program;
    program.graph = hostileGraph(labels);
    program.collectives = std::make_shared<CollectiveTable>(*program.graph);
    CostChain chain;
    for (NodeId id = 0; id < program.graph->size(); ++id) {
        if (program.graph->isCall(id) && program.graph->node(id).kind != NodeKind::Wait)
            chain.node_overrides[std::string(program.graph->name(id))] = 12345 + id;
    }
    program.costs = priceGraph(*program.graph, *program.collectives, chain);
    analysis->source.graph = program.graph;
    analysis->before = analysis->after = program;
    const ScheduleInput input{
        *program.graph, *program.collectives, *program.costs, analysis->request.settings, {}};
    analysis->before.schedule = std::make_shared<Schedule>(findScheduler("program-order")->run(input));
    analysis->after.schedule = std::make_shared<Schedule>(findScheduler("latest-safe-launch")->run(input));
    for (Program* item : {&analysis->before, &analysis->after})
        item->timeline = simulate(*item->graph, *item->collectives, *item->costs, item->schedule->order, {});
    for (const std::string& label : labels) {
        analysis->diagnostics.add({Severity::Warning, label, {label, 1, 1}, label, label, label});
        analysis->request.edits.push_back({Edit::Kind::Forbid, label, {}, {}});
        analysis->request.cost_files.push_back(label);
    }
    analysis->reports.push_back({labels[0], labels[1], 1, 2, {}, {}});
    return analysis;
}

} // namespace gs::test

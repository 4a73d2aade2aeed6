#include "support/line_graph.h"

#include "graph/graph_builder.h"

namespace gs::test {

namespace {

std::string targetOf(const GraphLine& line) {
    const std::string c10d = "_c10d_functional.";
    if (line.target == "gather")
        return c10d + "all_gather_into_tensor.default";
    if (line.target == "scatter")
        return c10d + "reduce_scatter_tensor.default";
    if (line.target == "reduce")
        return c10d + "all_reduce.default";
    if (line.target == "a2a")
        return c10d + "all_to_all_single.default";
    if (line.target == "wait")
        return c10d + "wait_tensor.default";
    return line.target.empty() ? line.name : line.target;
}

std::vector<Arg> moreArgs(GraphBuilder& b, const GraphLine& line) {
    const Arg group = b.textArg(Arg::Kind::String, line.group);
    const Arg reduce = b.textArg(Arg::Kind::String, line.reduce);
    if (line.target == "gather")
        return {b.intArg(8), group};
    if (line.target == "scatter")
        return {reduce, b.intArg(8), group};
    if (line.target == "reduce")
        return {reduce, group};
    if (line.target == "a2a")
        return {b.listArg({b.intArg(line.rows)}), b.listArg({b.intArg(64)}), group};
    if (line.target == "aten.constant_pad_nd.default")
        return {b.listArg({b.intArg(0), b.intArg(0), b.intArg(0), b.intArg(line.rows)})};
    return {};
}

} // namespace

GraphPtr lineGraph(const std::vector<GraphLine>& lines, int32_t rank) {
    GraphBuilder b;
    b.info().name = "lines";
    b.info().rank = rank;
    uint32_t number = 0;
    for (const GraphLine& line : lines) {
        const NodeOp op = line.target.empty()       ? NodeOp::Placeholder
                          : line.target == "output" ? NodeOp::Output
                                                    : NodeOp::CallFunction;
        const NodeId id = b.addNode(line.name, op, targetOf(line));
        std::vector<Arg> args;
        for (const std::string& input : line.inputs)
            args.push_back(b.nodeArg(input, id));
        const bool packed = op == NodeOp::Output;
        const Arg list = b.listArg(args);
        if (packed)
            args = {list};
        for (const Arg& arg : moreArgs(b, line))
            args.push_back(arg);
        b.setArgs(id, args);
        b.node(id).source_line = ++number;
        if (op == NodeOp::Output)
            continue;
        Value value;
        value.kind = Value::Kind::Tensor;
        value.tensor.dtype = dtypeFromName(line.dtype);
        value.tensor.shape = {{line.rows, kEmptyString}, {8, kEmptyString}};
        b.setValue(id, value);
    }
    return b.finish(nullptr);
}

} // namespace gs::test

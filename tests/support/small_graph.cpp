#include "support/small_graph.h"

#include "graph/graph_builder.h"

#include <set>

namespace gs::test {

GraphPtr buildSmallGraph(const std::vector<SmallNode>& nodes) {
    std::set<std::string> unpacked;
    for (const SmallNode& node : nodes) {
        if (node.kind == "unpack")
            unpacked.insert(node.deps.front());
    }
    GraphBuilder builder;
    for (const SmallNode& node : nodes) {
        const std::string target =
            node.kind == "gather"
                ? (unpacked.count(node.name) ? "_c10d_functional.all_gather_into_tensor_coalesced.default"
                                             : "_c10d_functional.all_gather_into_tensor.default")
            : node.kind == "unpack" ? "operator.getitem"
            : node.kind == "wait"   ? "_c10d_functional.wait_tensor.default"
                                    : "test.compute";
        const NodeId id = builder.addNode(node.name, NodeOp::CallFunction, target);
        std::vector<Arg> args;
        for (const std::string& dep : node.deps)
            args.push_back(builder.nodeArg(dep, id));
        if (node.kind == "gather")
            args = {builder.listArg(args), builder.intArg(8), builder.textArg(Arg::Kind::String, "0")};
        builder.setArgs(id, args);
    }
    return builder.finish(nullptr);
}

} // namespace gs::test

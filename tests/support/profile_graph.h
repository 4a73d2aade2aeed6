// A small program of gathers, matrix products, a fused chain and a reduce-scatter, as a graph file's text.
#pragma once

#include <fmt/format.h>
#include <string>
#include <string_view>

namespace gs::test {

struct ProfileGraph {
    int layers = 2;
    int group = 8; ///< ranks of its only process group
    int rows = 64; ///< of what the last layer multiplies
    bool scatter = true;
    int more_sizes = 0; ///< gathers of 2, 3, … times the size, whose results nobody uses
    std::string operation = "aten.mm.default";
};

/// What another rank runs where the first one runs ProfileGraph(), so that the ranks' mode is this.
inline ProfileGraph otherRank(std::string_view mode) {
    ProfileGraph other;
    if (mode == "slot")
        other.operation = "aten.matmul.default";
    if (mode == "pinned")
        other.scatter = false;
    if (mode == "abort")
        other.layers = 3;
    return other;
}

inline std::string profileGraphText(const ProfileGraph& graph = {}) {
    std::string nodes;
    const auto tensor = [](int rows) {
        return fmt::format(R"({{"dtype":"float32","shape":[{},64],"stride":[64,1],"device":"cpu"}})", rows);
    };
    const auto node = [&](const std::string& name, const std::string& op, const std::string& target,
                          const std::string& args, const std::string& value) {
        nodes += fmt::format(R"({}{{"name":"{}","op":"{}","target":"{}","args":{},"kwargs":{{}},"val":{}}})",
                             nodes.empty() ? "" : ",\n", name, op, target, args, value);
    };
    const auto call = [&](const std::string& name, const std::string& target, const std::string& args,
                          int rows) { node(name, "call_function", target, args, tensor(rows)); };
    node("x", "placeholder", "x", "[]", tensor(graph.rows));
    for (int i = 0; i < graph.layers; ++i)
        node(fmt::format("p{}", i), "placeholder", fmt::format("p{}", i), "[]", tensor(64 / graph.group));
    for (int i = 0; i < graph.more_sizes; ++i)
        node(fmt::format("q{}", i), "placeholder", fmt::format("q{}", i), "[]",
             tensor(64 * (i + 2) / graph.group));
    std::string at = "x", unused;
    for (int i = 0; i < graph.layers; ++i) {
        call(fmt::format("ag{}", i), "_c10d_functional.all_gather_into_tensor.default",
             fmt::format(R"([{{"n":"p{}"}},{},"0"])", i, graph.group), 64);
        call(fmt::format("w{}", i), "_c10d_functional.wait_tensor.default",
             fmt::format(R"([{{"n":"ag{}"}}])", i), 64);
        call(fmt::format("mm{}", i), graph.operation, fmt::format(R"([{{"n":"{}"}},{{"n":"w{}"}}])", at, i),
             graph.rows);
        call(fmt::format("relu{}", i), "aten.relu.default", fmt::format(R"([{{"n":"mm{}"}}])", i),
             graph.rows);
        call(fmt::format("neg{}", i), "aten.neg.default", fmt::format(R"([{{"n":"relu{}"}}])", i),
             graph.rows);
        at = fmt::format("neg{}", i);
    }
    for (int i = 0; i < graph.more_sizes; ++i) {
        call(fmt::format("gq{}", i), "_c10d_functional.all_gather_into_tensor.default",
             fmt::format(R"([{{"n":"q{}"}},{},"0"])", i, graph.group), 64 * (i + 2));
        call(fmt::format("wq{}", i), "_c10d_functional.wait_tensor.default",
             fmt::format(R"([{{"n":"gq{}"}}])", i), 64 * (i + 2));
        unused += fmt::format(R"(,{{"n":"wq{}"}})", i);
    }
    if (graph.scatter) {
        call("rs", "_c10d_functional.reduce_scatter_tensor.default",
             fmt::format(R"([{{"n":"{}"}},"sum",{},"0"])", at, graph.group), graph.rows / graph.group);
        call("wrs", "_c10d_functional.wait_tensor.default", R"([{"n":"rs"}])", graph.rows / graph.group);
        at = "wrs";
    }
    node("output", "output", "output", fmt::format(R"([[{{"n":"{}"}}{}]])", at, unused), "null");
    std::string ranks = "0";
    for (int r = 1; r < graph.group; ++r)
        ranks += fmt::format(",{}", r);
    return fmt::format(
        R"({{"format":"gatherscope.graph","version":1,"name":"profiled","source":{{}},"groups":{{"0":{{"ranks":[{}],"desc":"fsdp"}}}},"nodes":[
{}
]}}
)",
        ranks, nodes);
}

} // namespace gs::test

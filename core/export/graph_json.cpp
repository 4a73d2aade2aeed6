#include "export/graph_json.h"

#include "export/exporters.h"
#include "graph/order_edges.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gs {

namespace {

using Json = nlohmann::ordered_json;

std::string dump(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json textOrNull(std::string_view text) {
    return text.empty() ? Json(nullptr) : Json(text);
}

class NodeWriter {
public:
    NodeWriter(const Graph& graph, bool lines) : graph_(graph), lines_(lines) {
        // What the operators say is found again; only other edges are written.
        derived_.resize(graph.size());
        for (const auto& [node, edge] : findOrderEdges(graph, {}))
            derived_[node].push_back(edge);
    }

    Json write(NodeId id) const {
        const Node& node = graph_.node(id);
        Json out = {{"name", graph_.name(id)},
                    {"op", nodeOpName(node.op)},
                    {"target", graph_.targetText(id)},
                    {"args", argument(node.args)},
                    {"kwargs", dictionary(node.kwargs)},
                    {"inputs", names(graph_.inputs(id))},
                    {"val", value(graph_.value(id))},
                    {"tags", tags(node.traits)},
                    {"flops", node.flops < 0 ? Json(nullptr) : Json(node.flops)},
                    {"phase", node.phase == Phase::Forward    ? Json("forward")
                              : node.phase == Phase::Backward ? Json("backward")
                                                              : Json(nullptr)},
                    {"module", textOrNull(graph_.text(node.module))},
                    {"source", textOrNull(graph_.text(node.source))},
                    {"meta", meta(graph_.meta(id))}};
        addExtensions(id, out);
        return out;
    }

private:
    void addExtensions(NodeId id, Json& out) const {
        if (!graph_.weakInputs(id).empty())
            out["weak_inputs"] = names(graph_.weakInputs(id));
        if (!graph_.origins(id).empty()) {
            Json origins = Json::array();
            for (const StringId origin : graph_.origins(id))
                origins.push_back(graph_.text(origin));
            out["origins"] = std::move(origins);
        }
        const auto edges = graph_.orderEdges(id);
        const auto same = [](const OrderEdge& a, const OrderEdge& b) {
            return a.node == b.node && a.kind == b.kind;
        };
        if (!std::equal(edges.begin(), edges.end(), derived_[id].begin(), derived_[id].end(), same)) {
            Json order = Json::array();
            for (const OrderEdge& edge : edges)
                order.push_back({graph_.name(edge.node), edgeKindName(edge.kind)});
            out["order"] = std::move(order);
        }
        if (lines_ && graph_.node(id).source_line > 0)
            out["line"] = graph_.node(id).source_line;
    }

    Json names(std::span<const NodeId> nodes) const {
        Json out = Json::array();
        for (const NodeId id : nodes)
            out.push_back(graph_.name(id));
        return out;
    }

    Json list(const Arg& arg) const {
        Json out = Json::array();
        for (const Arg& child : graph_.children(arg))
            out.push_back(argument(child));
        return out;
    }

    Json dictionary(const Arg& arg) const {
        Json out = Json::object();
        const auto items = graph_.children(arg);
        for (size_t i = 0; i + 1 < items.size(); i += 2)
            out[std::string(graph_.text(items[i].text))] = argument(items[i + 1]);
        return out;
    }

    static Json real(double number) {
        if (std::isfinite(number))
            return number;
        return {{"float", std::isnan(number) ? "nan" : number > 0 ? "inf" : "-inf"}};
    }

    Json symbol(StringId text, int64_t hint) const {
        return {{"sym", graph_.text(text)}, {"hint", hint == kUnknownSize ? Json(nullptr) : Json(hint)}};
    }

    Json argument(const Arg& arg) const {
        switch (arg.kind) {
        case Arg::Kind::None:
            return nullptr;
        case Arg::Kind::Node:
            return {{"n", graph_.name(arg.node())}};
        case Arg::Kind::Int:
            return arg.integer;
        case Arg::Kind::Float:
            return real(arg.real);
        case Arg::Kind::Bool:
            return arg.integer != 0;
        case Arg::Kind::String:
            return graph_.text(arg.text);
        case Arg::Kind::DType:
            return {{"dtype", graph_.text(arg.text)}};
        case Arg::Kind::Device:
            return {{"device", graph_.text(arg.text)}};
        case Arg::Kind::Layout:
            return {{"layout", graph_.text(arg.text)}};
        case Arg::Kind::MemoryFormat:
            return {{"memory_format", graph_.text(arg.text)}};
        case Arg::Kind::Symbol:
            return symbol(arg.text, arg.integer);
        case Arg::Kind::Slice:
            return {{"slice", list(arg)}};
        case Arg::Kind::List:
            return list(arg);
        case Arg::Kind::Dict:
            return {{"dict", dictionary(arg)}};
        case Arg::Kind::Repr:
            return {{"repr", graph_.text(arg.text)}};
        }
        return nullptr;
    }

    Json dimensions(const std::vector<Dim>& dims) const {
        Json out = Json::array();
        for (const Dim& dim : dims)
            out.push_back(dim.symbolic()  ? symbol(dim.symbol, dim.value)
                          : dim.value < 0 ? Json(nullptr)
                                          : Json(dim.value));
        return out;
    }

    Json value(const Value& value) const {
        switch (value.kind) {
        case Value::Kind::None:
            return nullptr;
        case Value::Kind::Tensor:
            return {{"dtype", dtypeName(value.tensor.dtype)},
                    {"shape", dimensions(value.tensor.shape)},
                    {"stride", value.tensor.has_stride ? dimensions(value.tensor.stride) : Json(nullptr)},
                    {"device", textOrNull(graph_.text(value.tensor.device))}};
        case Value::Kind::List: {
            Json out = Json::array();
            for (const Value& item : value.items)
                out.push_back(this->value(item));
            return out;
        }
        case Value::Kind::Number:
            return number(value.number);
        case Value::Kind::Symbol:
            return {{"sym", graph_.text(value.text)},
                    {"hint", value.number == static_cast<double>(kUnknownSize) ? Json(nullptr)
                                                                               : number(value.number)}};
        case Value::Kind::Repr:
            return {{"repr", graph_.text(value.text)}};
        }
        return nullptr;
    }

    /// Whole numbers without a point, as the format has them.
    static Json number(double number) {
        const bool whole = number == std::floor(number) && std::abs(number) < 9e15;
        return whole ? Json(static_cast<int64_t>(number)) : Json(number);
    }

    static Json tags(uint16_t traits) {
        static constexpr std::pair<const char*, uint16_t> kTags[] = {
            {"pointwise", kTraitPointwise},   {"view", kTraitView}, {"compute", kTraitCompute},
            {"collective", kTraitCollective}, {"wait", kTraitWait}, {"reduction", kTraitReduction},
            {"mutable", kTraitMutable}};
        Json out = Json::array();
        for (const auto& [name, bit] : kTags) {
            if (traits & bit)
                out.push_back(name);
        }
        return out;
    }

    Json meta(const NodeMeta& meta) const {
        Json out = Json::object();
        const auto text = [&](const char* key, StringId id) {
            if (id != kEmptyString)
                out[key] = graph_.text(id);
        };
        text("fqn", meta.fqn);
        text("param_name", meta.param_name);
        text("comm_type", meta.comm_type);
        text("fsdp_bucket_id", meta.bucket_id);
        text("fsdp_bucket_copy_out", meta.bucket_copy_out);
        text("original_aten", meta.original_aten);
        if (!meta.bucket_members.empty()) {
            Json members = Json::array();
            for (const StringId member : meta.bucket_members)
                members.push_back(graph_.text(member));
            out["fsdp_bucket_members"] = std::move(members);
        }
        if (meta.unsharded_bytes != kUnknownSize)
            out["fsdp_unsharded_nbytes"] = meta.unsharded_bytes;
        if (meta.seq_nr != -1)
            out["seq_nr"] = meta.seq_nr;
        if (meta.has_autograd_backward)
            out["autograd_backward"] = meta.autograd_backward;
        if (meta.recompute)
            out["recompute"] = true;
        if (meta.desc_json != kEmptyString)
            out["desc"] = Json::parse(graph_.text(meta.desc_json), nullptr, false);
        return out;
    }

    const Graph& graph_;
    bool lines_;
    std::vector<std::vector<OrderEdge>> derived_;
};

Json groups(const Graph& graph) {
    Json out = Json::object();
    for (const ProcessGroup& group : graph.groups()) {
        Json item = {{"ranks", group.ranks}, {"desc", graph.text(group.description)}};
        if (group.ranks.empty() && group.size > 0)
            item["size"] = group.size;
        out[std::string(graph.text(group.name))] = std::move(item);
    }
    return out;
}

} // namespace

std::string writeGraphJson(const Graph& graph, bool lines) {
    const GraphInfo& info = graph.info();
    Json source = {{"producer", info.producer},
                   {"capture", info.capture},
                   {"model", info.model},
                   {"world_size", info.world_size},
                   {"rank", info.rank}};
    if (!info.has_shapes)
        source["has_shapes"] = false;
    Json header = {{"format", "gatherscope.graph"}, {"version", 1}, {"name", info.name}};
    if (info.level == GraphLevel::Scheduler)
        header["level"] = "scheduler";
    header["source"] = std::move(source);
    header["groups"] = groups(graph);
    std::string out = dump(header);
    out.back() = ','; // the nodes follow
    out += "\"nodes\":[";
    const NodeWriter writer(graph, lines);
    for (NodeId id = 0; id < graph.size(); ++id)
        out += (id == 0 ? "\n" : ",\n") + dump(writer.write(id));
    return out + "\n]}\n";
}

Exporter graphExporter() {
    return {"graph", "Graph as read (JSON)", "json", [](const Analysis& analysis, const ExportOptions&) {
                return Result<std::string>(writeGraphJson(*analysis.source.graph));
            }};
}

} // namespace gs

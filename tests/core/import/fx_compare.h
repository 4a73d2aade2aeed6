// Compares a graph read from a text form with the same graph's JSON, parsed here by another library.
#pragma once

#include "graph/graph.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace gs::test {

using Json = nlohmann::json;

/// What a text form cannot carry.
struct TextForm {
    bool values = true;   ///< shapes, strides, dtypes, devices
    bool modules = true;  ///< module paths (cut at 40 characters)
    bool literals = true; ///< strings and other objects keep their kind
};

inline Json dimJson(const Graph& graph, const Dim& dim) {
    return dim.symbolic() ? Json(std::string(graph.text(dim.symbol))) : Json(dim.value);
}

/// A value as comparable JSON, symbols by their expression.
inline Json valueJson(const Graph& graph, const Value& value) {
    switch (value.kind) {
    case Value::Kind::None:
        return nullptr;
    case Value::Kind::Number:
        return value.number;
    case Value::Kind::Symbol:
    case Value::Kind::Repr:
        return std::string(graph.text(value.text));
    case Value::Kind::List: {
        Json list = Json::array();
        for (const Value& item : value.items)
            list.push_back(valueJson(graph, item));
        return list;
    }
    case Value::Kind::Tensor: {
        Json shape = Json::array(), stride = Json::array();
        for (const Dim& dim : value.tensor.shape)
            shape.push_back(dimJson(graph, dim));
        for (const Dim& dim : value.tensor.stride)
            stride.push_back(dimJson(graph, dim));
        return {{"dtype", dtypeName(value.tensor.dtype)},
                {"shape", shape},
                {"stride", stride},
                {"device", std::string(graph.text(value.tensor.device))}};
    }
    }
    return nullptr;
}

/// The same of the corpus JSON. A symbol whose expression is a number is that number in the text.
inline Json fileDim(const Json& dim) {
    if (!dim.is_object())
        return dim;
    const std::string text = dim.at("sym");
    const bool number = text.find_first_not_of("0123456789") == std::string::npos;
    return number ? Json(std::stoll(text)) : Json(text);
}

inline Json fileValue(const Json& value) {
    if (value.is_array()) {
        Json list = Json::array();
        for (const Json& item : value)
            list.push_back(fileValue(item));
        return list;
    }
    if (!value.is_object())
        return value;
    if (value.contains("sym"))
        return fileDim(value);
    if (value.contains("repr"))
        return value.at("repr");
    Json shape = Json::array(), stride = Json::array();
    for (const Json& dim : value.at("shape"))
        shape.push_back(fileDim(dim));
    for (const Json& dim : value.at("stride").is_null() ? Json::array() : value.at("stride"))
        stride.push_back(fileDim(dim));
    return {
        {"dtype", value.at("dtype")}, {"shape", shape}, {"stride", stride}, {"device", value.at("device")}};
}

inline Json argJson(const Graph& graph, const Arg& arg);

inline Json childrenJson(const Graph& graph, const Arg& arg) {
    Json list = Json::array();
    for (const Arg& child : graph.children(arg))
        list.push_back(argJson(graph, child));
    return list;
}

/// An argument as FORMAT.md writes it, without hints.
inline Json argJson(const Graph& graph, const Arg& arg) {
    const auto text = [&] { return std::string(graph.text(arg.text)); };
    switch (arg.kind) {
    case Arg::Kind::None:
        return nullptr;
    case Arg::Kind::Node:
        return {{"n", std::string(graph.name(arg.node()))}};
    case Arg::Kind::Int:
        return arg.integer;
    case Arg::Kind::Bool:
        return arg.integer != 0;
    case Arg::Kind::Float:
        if (std::isfinite(arg.real))
            return arg.real;
        return {{"float", std::isnan(arg.real) ? "nan" : arg.real > 0 ? "inf" : "-inf"}};
    case Arg::Kind::String:
        return text();
    case Arg::Kind::DType:
        return {{"dtype", text()}};
    case Arg::Kind::Device:
        return {{"device", text()}};
    case Arg::Kind::Layout:
        return {{"layout", text()}};
    case Arg::Kind::MemoryFormat:
        return {{"memory_format", text()}};
    case Arg::Kind::Symbol:
        return {{"sym", text()}};
    case Arg::Kind::Repr:
        return {{"repr", text()}};
    case Arg::Kind::Slice:
        return {{"slice", childrenJson(graph, arg)}};
    case Arg::Kind::List:
        return childrenJson(graph, arg);
    case Arg::Kind::Dict: {
        Json dict = Json::object();
        const auto items = graph.children(arg);
        for (size_t i = 0; i + 1 < items.size(); i += 2)
            dict[std::string(graph.text(items[i].text))] = argJson(graph, items[i + 1]);
        return {{"dict", dict}};
    }
    }
    return nullptr;
}

/// The text has modules from custom["module_fqn"] only, the JSON also those that Dynamo tracks
/// ("L['m'].emb").
inline bool isPrintedModule(const Json& module) {
    return module.is_string() && module.get<std::string>().find("L['") == std::string::npos;
}

/// Annotations are cut after 40 characters.
inline std::string cutModule(const std::string& module) {
    return module.size() <= 40 ? module : module.substr(0, 40) + "...";
}

/// A node with several outputs has no annotation: the text has only the outputs that getitem nodes take.
inline bool agrees(const Json& text, const Json& file) {
    if (!text.is_array() || !file.is_array())
        return text == file || (text.is_null() && file.is_array());
    for (size_t i = 0; i < text.size(); ++i) {
        if (!text[i].is_null() && (i >= file.size() || !agrees(text[i], file[i])))
            return false;
    }
    return true;
}

/// Every node of `graph` that differs from `file`, as "node: what, text has …, JSON has …".
inline std::vector<std::string> differences(const Graph& graph, const Json& file, const TextForm& form) {
    std::vector<std::string> found;
    const Json& nodes = file.at("nodes");
    if (graph.size() != nodes.size())
        found.push_back("node count: " + std::to_string(graph.size()) + " instead of " +
                        std::to_string(nodes.size()));
    for (NodeId id = 0; id < graph.size() && id < nodes.size(); ++id) {
        const Json& node = nodes[id];
        const std::string name = node.at("name");
        const auto check = [&](const char* what, const Json& have, const Json& want) {
            if (have != want)
                found.push_back(name + ": " + what + ", text has " + have.dump() + ", JSON has " +
                                want.dump());
        };
        check("name", graph.name(id), name);
        check("op", nodeOpName(graph.node(id).op), node.at("op"));
        check("target", graph.targetText(id), node.at("target"));
        Json inputs = Json::array();
        for (NodeId input : graph.inputs(id))
            inputs.push_back(graph.name(input));
        check("inputs", inputs, node.at("inputs"));
        if (form.literals) {
            check("args", argJson(graph, graph.node(id).args), node.at("args"));
            check("kwargs", argJson(graph, graph.node(id).kwargs).at("dict"), node.at("kwargs"));
        }
        const bool opaque = node.at("val").is_object() && node.at("val").contains("repr"); // not printed
        if (form.values && !opaque)
            if (const Json have = valueJson(graph, graph.value(id)), want = fileValue(node.at("val"));
                !agrees(have, want))
                check("value", have, want);
        if (form.modules && isPrintedModule(node.at("module")))
            check("module", std::string(graph.text(graph.node(id).module)), cutModule(node.at("module")));
        const bool collective = graph.hasTrait(id, kTraitCollective);
        const bool wait = graph.hasTrait(id, kTraitWait);
        const auto tagged = [&](const char* tag) {
            return std::find(node.at("tags").begin(), node.at("tags").end(), tag) != node.at("tags").end();
        };
        check("collective", collective, tagged("collective"));
        check("wait", wait, tagged("wait"));
    }
    return found;
}

} // namespace gs::test

// Values and graphs as the corpus writes them.
#pragma once

#include "import/importer.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace gs::test {

inline nlohmann::ordered_json dimsJson(const Graph& graph, const std::vector<Dim>& items) {
    nlohmann::ordered_json out = nlohmann::ordered_json::array();
    for (const Dim& dim : items) {
        if (dim.symbolic())
            out.push_back({{"sym", std::string(graph.text(dim.symbol))},
                           {"hint", dim.value == kUnknownSize ? nlohmann::ordered_json()
                                                              : nlohmann::ordered_json(dim.value)}});
        else
            out.push_back(dim.value);
    }
    return out;
}

inline nlohmann::ordered_json valueJson(const Graph& graph, const Value& value) {
    nlohmann::ordered_json out;
    switch (value.kind) {
    case Value::Kind::None:
        return nullptr;
    case Value::Kind::Tensor:
        return {{"dtype", std::string(dtypeName(value.tensor.dtype))},
                {"shape", dimsJson(graph, value.tensor.shape)},
                {"stride",
                 value.tensor.has_stride ? dimsJson(graph, value.tensor.stride) : nlohmann::ordered_json()},
                {"device", std::string(graph.text(value.tensor.device))}};
    case Value::Kind::List:
        out = nlohmann::ordered_json::array();
        for (const Value& item : value.items)
            out.push_back(valueJson(graph, item));
        return out;
    default:
        return "other";
    }
}

/// A graph of the fuzz goldens; null if it cannot be read.
inline GraphPtr graphFromText(std::string text) {
    const InputText input{"fuzz", std::move(text)};
    for (const GraphReader& reader : graphReaders()) {
        if (reader.name != "gatherscope-json")
            continue;
        Diagnostics diagnostics;
        auto graph = reader.read(input, reader.list(input).front(), diagnostics, {});
        return graph ? graph.value() : nullptr;
    }
    return nullptr;
}

} // namespace gs::test

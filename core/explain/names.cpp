#include "explain/names.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <utility>

namespace gs {

namespace {

/// Segments of module paths of the common model libraries and their short form; "" = left out.
constexpr std::array<std::pair<std::string_view, std::string_view>, 13> kShortSegments{{
    {"feed_forward", "ffn"},
    {"attention", "attn"},
    {"self_attn", "attn"},
    {"self_attention", "attn"},
    {"attention_norm", "attn_norm"},
    {"qkv_linear", ""},
    {"inner_attention", ""},
    {"routed_experts", "experts"},
    {"inner_experts", ""},
    {"_orig_mod", ""},
    {"_fsdp_wrapped_module", ""},
    {"_checkpoint_wrapped_module", ""},
    {"_flat_param", ""},
}};

std::vector<std::string_view> segments(std::string_view path) {
    std::vector<std::string_view> parts;
    while (!path.empty()) {
        const size_t dot = path.find('.');
        parts.push_back(path.substr(0, dot));
        path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
    }
    return parts;
}

std::string_view shortSegment(std::string_view segment) {
    for (const auto& [full, brief] : kShortSegments) {
        if (segment == full)
            return brief;
    }
    return segment;
}

/// The layer number that a segment is, or -1. Dynamo's paths end a segment with a bracket ("0)").
int segmentNumber(std::string_view segment) {
    int number = -1;
    const char* end = segment.data() + segment.size();
    const auto result = std::from_chars(segment.data(), end, number);
    if (result.ec != std::errc() || (result.ptr != end && *result.ptr != ')'))
        return -1;
    return number;
}

std::string joinShort(std::span<const std::string_view> parts) {
    std::string out;
    for (std::string_view part : parts) {
        const std::string_view brief = shortSegment(part);
        if (brief.empty())
            continue;
        if (!out.empty())
            out += '.';
        out += brief;
    }
    return out;
}

/// Position of the layer number among the segments, or -1. The first segment is a name, never a layer.
int layerSegment(std::span<const std::string_view> parts) {
    for (size_t i = 1; i < parts.size(); ++i) {
        if (segmentNumber(parts[i]) >= 0)
            return static_cast<int>(i);
    }
    return -1;
}

} // namespace

std::string shortParameter(std::string_view fqn) {
    std::vector<std::string_view> parts = segments(fqn);
    if (parts.size() > 1 && parts.back() == "weight")
        parts.pop_back();
    const std::string out = joinShort(parts);
    return out.empty() ? std::string(fqn) : out;
}

int layerOf(std::string_view module_path) {
    const std::vector<std::string_view> parts = segments(module_path);
    const int at = layerSegment(parts);
    return at < 0 ? -1 : segmentNumber(parts[static_cast<size_t>(at)]);
}

std::string gatherLabel(const Graph& graph, const Collective& collective) {
    if (collective.parameters.empty()) {
        const NodeId id = collective.launch != kNoNode ? collective.launch
                          : collective.waits.empty()   ? kNoNode
                                                       : collective.waits.front();
        return id == kNoNode ? std::string("?") : std::string(graph.name(id));
    }
    std::string text = shortParameter(parameterName(graph, collective.parameters.front()));
    if (collective.parameters.size() > 1)
        text += fmt::format(" +{}", collective.parameters.size() - 1);
    return text;
}

int gatherLayer(const Graph& graph, const Collective& collective) {
    if (!collective.parameters.empty()) {
        const int layer = layerOf(parameterName(graph, collective.parameters.front()));
        if (layer >= 0)
            return layer;
    }
    return collective.launch == kNoNode ? -1 : layerOf(graph.text(graph.node(collective.launch).module));
}

std::string placeName(const Graph& graph, NodeId id) {
    if (id == kNoNode || id >= graph.size())
        return "?";
    const Node& node = graph.node(id);
    const std::string name(graph.name(id));
    const std::string_view module = graph.text(node.module);
    const std::vector<std::string_view> parts = segments(module);
    const int at = layerSegment(parts);
    const bool attention = graph.hasTrait(id, kTraitAttention);
    const std::string_view backward = node.phase == Phase::Backward ? " backward" : "";
    if (at < 0) {
        // Without a layer, the path helps only where it is a plain one ("output", not dynamo's closures).
        if (attention)
            return fmt::format("the attention{} ({})", backward, name);
        const bool plain = !module.empty() && module.find_first_of("([") == std::string_view::npos;
        return plain ? fmt::format("{} ({})", joinShort(parts), name) : name;
    }
    const int layer = segmentNumber(parts[static_cast<size_t>(at)]);
    if (attention)
        return fmt::format("layer {}'s attention{}", layer, backward);
    const std::string rest = joinShort(std::span(parts).subspan(static_cast<size_t>(at) + 1));
    if (rest.empty() || rest.find_first_of("([") != std::string::npos)
        return fmt::format("layer {}'s {}", layer, name);
    return fmt::format("layer {}'s {} ({})", layer, rest, name);
}

} // namespace gs

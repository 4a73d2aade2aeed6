#include "passes/placements.h"

#include <charconv>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gs {

namespace {

using Json = nlohmann::json;

std::string_view trim(std::string_view text) {
    const size_t first = text.find_first_not_of(" \t\n\r");
    if (first == std::string_view::npos)
        return {};
    return text.substr(first, text.find_last_not_of(" \t\n\r") - first + 1);
}

std::optional<int64_t> wholeNumber(std::string_view text) {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

/// Splits at commas outside of brackets and quotes; empty parts are dropped.
std::vector<std::string_view> splitTopLevel(std::string_view text) {
    std::vector<std::string_view> parts;
    int depth = 0;
    char quote = 0;
    size_t begin = 0;
    for (size_t i = 0; i <= text.size(); ++i) {
        const char c = i < text.size() ? text[i] : ',';
        if (quote != 0 && i < text.size()) {
            quote = c == quote ? 0 : quote;
            continue;
        }
        if (c == '\'' || c == '"')
            quote = c;
        else if (c == '(' || c == '[' || c == '{')
            ++depth;
        else if (c == ')' || c == ']' || c == '}')
            --depth;
        if (i < text.size() && (c != ',' || depth > 0))
            continue;
        if (const std::string_view part = trim(text.substr(begin, i - begin)); !part.empty())
            parts.push_back(part);
        begin = i + 1;
    }
    return parts;
}

/// Without one pair of enclosing brackets.
std::string_view unwrap(std::string_view text) {
    constexpr std::string_view kOpening = "([{", kClosing = ")]}";
    text = trim(text);
    if (text.size() >= 2 && kOpening.find(text.front()) != std::string_view::npos &&
        kClosing.find(text.back()) == kOpening.find(text.front()))
        return text.substr(1, text.size() - 2);
    return text;
}

/// Value of a key of a dict printed by Python: ("{'a': 1, 'b': [2]}", "b") → "[2]".
std::optional<std::string_view> dictValue(std::string_view dict, std::string_view key) {
    for (std::string_view item : splitTopLevel(unwrap(dict))) {
        const size_t colon = item.find(':');
        if (colon == std::string_view::npos || colon < 2)
            continue;
        const std::string_view name = trim(item.substr(0, colon));
        if (name.size() == key.size() + 2 && name.substr(1, key.size()) == key)
            return trim(item.substr(colon + 1));
    }
    return std::nullopt;
}

DTensorPlacement parsePlacement(std::string_view text) {
    DTensorPlacement placement;
    placement.text = std::string(text);
    const std::string_view name = text.substr(0, text.find('('));
    if (name == "R" || name == "Replicate") {
        placement.kind = DTensorPlacement::Kind::Replicate;
    } else if (name == "S" || name == "Shard") {
        std::string_view dim =
            text.size() > name.size() ? unwrap(text.substr(name.size())) : std::string_view();
        if (dim.substr(0, 4) == "dim=")
            dim.remove_prefix(4);
        if (const auto number = wholeNumber(trim(dim))) {
            placement.kind = DTensorPlacement::Kind::Shard;
            placement.dim = static_cast<int>(*number);
        }
    }
    return placement;
}

/// "torch.bfloat16" → "bfloat16", "None" → "".
std::string dtypeText(std::string_view text) {
    text = trim(text);
    if (text == "None")
        return {};
    return std::string(text.substr(0, 6) == "torch." ? text.substr(6) : text);
}

void readClosure(const Json& closure, RedistributeArgs& args) {
    const std::string keywords = closure.value("kwargs_as_value", std::string());
    const std::string positional = closure.value("args_as_value", std::string());
    if (const auto text = dictValue(keywords, "placements"))
        args.placements = parsePlacements(*text);
    // redistribute(device_mesh, placements, …)
    const auto items = splitTopLevel(unwrap(positional));
    if (!args.placements && items.size() >= 2)
        args.placements = parsePlacements(items[1]);
    if (const auto text = dictValue(keywords, "forward_dtype"))
        args.forward_dtype = dtypeText(*text);
    else if (!keywords.empty() || !positional.empty())
        args.forward_dtype = "";
}

void readDTensor(const Json& tensor, DTensorDesc& desc) {
    if (const auto found = tensor.find("placements"); found != tensor.end() && found->is_string())
        desc.placements = parsePlacements(found->get<std::string>());
    if (const auto found = tensor.find("mesh"); found != tensor.end() && found->is_string()) {
        const std::string mesh = *found; // "(2, 4)"
        for (std::string_view size : splitTopLevel(unwrap(mesh)))
            desc.mesh.push_back(wholeNumber(size).value_or(0));
    }
    for (const int64_t size : desc.mesh) {
        if (size <= 0)
            return desc.mesh.clear();
    }
    for (const Json& size : tensor.value("local_shape", Json::array())) {
        const bool symbol = size.is_object();
        const Json hint = symbol ? size.value("hint", Json()) : size;
        desc.local_shape.push_back(hint.is_number_integer() ? hint.get<int64_t>() : kUnknownSize);
        desc.local_symbols.push_back(symbol ? size.value("sym", std::string()) : std::string());
    }
}

} // namespace

std::vector<DTensorPlacement> parsePlacements(std::string_view text) {
    std::vector<DTensorPlacement> placements;
    text = trim(text);
    // A bare "R" or "Shard(0)" has no list around it.
    const bool list = !text.empty() && (text.front() == '(' || text.front() == '[');
    for (std::string_view item : splitTopLevel(list ? unwrap(text) : text))
        placements.push_back(parsePlacement(item));
    return placements;
}

std::string placementsText(const std::vector<DTensorPlacement>& placements) {
    std::string text;
    for (const DTensorPlacement& item : placements) {
        text += text.empty() ? "" : ", ";
        switch (item.kind) {
        case DTensorPlacement::Kind::Replicate:
            text += "Replicate";
            break;
        case DTensorPlacement::Kind::Shard:
            text += fmt::format("Shard({})", item.dim);
            break;
        case DTensorPlacement::Kind::Other:
            text += item.text;
            break;
        }
    }
    return placements.size() > 1 ? "(" + text + ")" : text;
}

const DTensorReader::Parsed& DTensorReader::parsed(NodeId id) {
    const StringId text = graph_.meta(id).desc_json;
    const auto [found, added] = cache_.try_emplace(text);
    if (!added || text == kEmptyString)
        return found->second;
    const Json json = Json::parse(graph_.text(text), nullptr, false);
    if (!json.is_object())
        return found->second;
    if (const auto tensor = json.find("dtensor"); tensor != json.end() && tensor->is_object())
        readDTensor(*tensor, found->second.desc);
    if (const auto closure = json.find("closure"); closure != json.end() && closure->is_object())
        readClosure(*closure, found->second.closure);
    return found->second;
}

RedistributeArgs DTensorReader::redistribute(NodeId id) {
    RedistributeArgs args = parsed(id).closure;
    const Arg* list = graph_.kwarg(id, "placements");
    if (!list)
        list = graph_.arg(id, 2); // redistribute(self, device_mesh, placements, …)
    if (!args.placements && list && list->kind == Arg::Kind::List) {
        args.placements.emplace();
        for (const Arg& item : graph_.children(*list))
            args.placements->push_back(parsePlacement(trim(graph_.text(item.text))));
    }
    if (const Arg* dtype = graph_.kwarg(id, "forward_dtype"); dtype && !args.forward_dtype)
        args.forward_dtype = dtype->kind == Arg::Kind::None ? "" : dtypeText(graph_.text(dtype->text));
    // A method call shows all its arguments: without this one there is no cast.
    if (!args.forward_dtype && graph_.node(id).op == NodeOp::CallMethod)
        args.forward_dtype = "";
    return args;
}

Result<std::vector<MeshDim>> parseMesh(std::string_view text) {
    std::vector<MeshDim> mesh;
    const auto bad = [&](std::string_view part) {
        return Error{"bad-mesh",
                     fmt::format("\"{}\" in the mesh \"{}\" is no dimension", part, text),
                     {},
                     "write sizes, outermost first: 8 or 2,4 or dp=2,shard=4"};
    };
    if (text == "auto")
        return mesh;
    // Names may contain an x, plain sizes may be joined by one.
    const char* separators = text.find('=') == std::string_view::npos ? ",x" : ",";
    for (size_t begin = 0; begin < text.size();) {
        const size_t end = std::min(text.find_first_of(separators, begin), text.size());
        const std::string_view part = trim(text.substr(begin, end - begin));
        const size_t split = part.find('=');
        const bool named = split != std::string_view::npos;
        const auto size = wholeNumber(trim(named ? part.substr(split + 1) : part));
        if (!size || *size <= 0 || *size > INT32_MAX)
            return bad(part);
        mesh.push_back({named ? std::string(trim(part.substr(0, split))) : std::string(), *size});
        begin = end + 1;
    }
    return mesh;
}

} // namespace gs

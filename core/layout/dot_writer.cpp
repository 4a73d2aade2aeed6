#include "layout/dot_writer.h"

#include "base/utf8.h"

#include <fmt/format.h>
#include <iterator>

namespace gs {

namespace {

constexpr double kPointsPerInch = 72.0;

std::string_view fillOf(BoxRole role) {
    switch (role) {
    case BoxRole::Gather:
        return "orange";
    case BoxRole::Collective:
        return "cadetblue";
    case BoxRole::Compute:
    case BoxRole::Folded:
        return "lightsteelblue";
    default:
        return "whitesmoke";
    }
}

std::string_view styleOf(LinkKind kind) {
    static constexpr std::string_view kStyles[] = {"solid", "dashed", "dotted", "solid"};
    return kStyles[static_cast<size_t>(kind)];
}

} // namespace

std::string escapeDot(std::string_view text, size_t max_bytes) {
    std::string out;
    for (size_t at = 0; at < text.size();) {
        const size_t begin = at;
        const uint32_t c = decodeUtf8(text, at);
        std::string piece(text.substr(begin, at - begin));
        if (c == '"' || c == '\\')
            piece.insert(piece.begin(), '\\');
        else if (c == '&') // dot reads references
            piece = "&amp;";
        else if (c == '\n')
            piece = "\\n";
        else if (c < 0x20 || c == 0x7F || c == kNotUtf8)
            piece = "?";
        if (out.size() + piece.size() > max_bytes)
            break;
        out += piece;
    }
    return out;
}

std::string writeLayoutDot(const LayoutGraph& picture, std::span<const LayoutSize> sizes) {
    std::string out = "digraph g {\n"
                      "graph [rankdir=TB, ranksep=0.34, nodesep=0.12, splines=true];\n"
                      "node [shape=box, fixedsize=true, label=\"\"];\n"
                      "edge [arrowhead=none];\n";
    auto to = std::back_inserter(out);
    for (size_t i = 0; i < picture.boxes.size(); ++i)
        fmt::format_to(to, "n{} [width={:.4f}, height={:.4f}];\n", i, sizes[i].width / kPointsPerInch,
                       sizes[i].height / kPointsPerInch);
    for (const LayoutLink& link : picture.links) {
        // A heavy spine stays a straight column; everything else is routed beside it.
        const int weight = link.spine ? 100 : link.kind == LinkKind::Data ? 2 : 1;
        fmt::format_to(to, "n{} -> n{} [weight={}];\n", link.from, link.to, weight);
    }
    out += "}\n";
    return out;
}

std::string writeDot(const LayoutGraph& picture, std::string_view title) {
    std::string out = fmt::format("digraph \"{}\" {{\n", escapeDot(title));
    out +=
        "graph [rankdir=TB];\nnode [shape=box, style=\"filled,rounded\", fontname=\"Inter, sans-serif\"];\n";
    auto to = std::back_inserter(out);
    for (size_t i = 0; i < picture.boxes.size(); ++i) {
        const LayoutBox& box = picture.boxes[i];
        const std::string label =
            box.detail.empty() ? box.title : fmt::format("{}\n{}", box.title, box.detail);
        fmt::format_to(to, "n{} [label=\"{}\", fillcolor={}{}{}];\n", i, escapeDot(label), fillOf(box.role),
                       box.role == BoxRole::Portal ? ", shape=plaintext, style=\"\"" : "",
                       box.focus ? ", penwidth=2.5" : "");
    }
    for (const LayoutLink& link : picture.links)
        fmt::format_to(to, "n{} -> n{} [style={}{}];\n", link.from, link.to, styleOf(link.kind),
                       link.kind == LinkKind::Order ? ", color=gray70, arrowhead=none" : "");
    out += "}\n";
    return out;
}

} // namespace gs

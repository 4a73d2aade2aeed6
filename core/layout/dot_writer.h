// Graphviz input: for layout (ids and sizes only) and for people (labels and styles).
#pragma once

#include "layout/layout_graph.h"
#include "layout/placement.h"

#include <span>
#include <string>
#include <string_view>

namespace gs {

/// dot never gets more boxes than this.
inline constexpr size_t kMaxDotBoxes = 400;

/// Input for `dot -Tplain`: boxes "n0", "n1", … of the given sizes without labels, because dot's scanner
/// breaks on long or odd texts; the text is drawn by the view. Links keep their order. `sizes` has one entry
/// per box.
std::string writeLayoutDot(const LayoutGraph& picture, std::span<const LayoutSize> sizes);

/// A complete picture in DOT for other tools: labels escaped, roles and kinds told apart by fill and line.
std::string writeDot(const LayoutGraph& picture, std::string_view title);

/// Longest inside of a quoted string that dot 2.42 takes: its buffer of 16,384 bytes holds more than the
/// text.
inline constexpr size_t kMaxDotText = 16381;

/// Text as the inside of a quoted DOT string, at most `max_bytes` bytes, never cut inside a UTF-8 character
/// or an escape. Invalid UTF-8 and control characters become "?".
std::string escapeDot(std::string_view text, size_t max_bytes = kMaxDotText);

} // namespace gs

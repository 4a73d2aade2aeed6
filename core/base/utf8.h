// UTF-8 of texts that may be anything: names of graphs, lines of logs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gs {

/// What decodeUtf8() gives for a byte that begins no character.
inline constexpr uint32_t kNotUtf8 = UINT32_MAX;

/// The code point at `at` (which is inside the text), and moves `at` behind it; kNotUtf8 for one byte that is
/// no UTF-8 (RFC 3629: overlong forms, halves of surrogates and what is beyond U+10FFFF are none).
uint32_t decodeUtf8(std::string_view text, size_t& at);

/// A code point up to U+10FFFF.
void appendUtf8(std::string& out, uint32_t code);

/// Code points of a valid text: its columns on a terminal, for the letters and signs that this program
/// prints.
size_t columnsOf(std::string_view text);

/// With spaces before, or behind it, up to so many columns.
std::string rightAligned(std::string_view text, size_t columns);
std::string leftAligned(std::string_view text, size_t columns);
/// Its beginning, at most so many bytes, without half a character at the end.
std::string_view headOf(std::string_view text, size_t max_bytes);

} // namespace gs

#include "base/utf8.h"

#include <algorithm>

namespace gs {

namespace {

bool continues(char c) {
    return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

size_t lengthBy(unsigned char lead) {
    return lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
}

} // namespace

uint32_t decodeUtf8(std::string_view text, size_t& at) {
    const size_t begin = at++;
    const auto lead = static_cast<unsigned char>(text[begin]);
    const size_t length = lengthBy(lead);
    if (length == 0 || begin + length > text.size())
        return kNotUtf8;
    uint32_t code = length == 1 ? lead : lead & (0x7FU >> length);
    for (size_t i = 1; i < length; ++i) {
        if (!continues(text[begin + i]))
            return kNotUtf8;
        code = code << 6 | (static_cast<unsigned char>(text[begin + i]) & 0x3FU);
    }
    const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
    if (overlong || (code >= 0xD800 && code < 0xE000) || code > 0x10FFFF)
        return kNotUtf8;
    at = begin + length;
    return code;
}

void appendUtf8(std::string& out, uint32_t code) {
    const auto push = [&](uint32_t byte) { out += static_cast<char>(byte); };
    if (code < 0x80)
        return push(code);
    if (code < 0x800) {
        push(0xC0 | code >> 6);
    } else {
        if (code < 0x10000) {
            push(0xE0 | code >> 12);
        } else {
            push(0xF0 | code >> 18);
            push(0x80 | (code >> 12 & 0x3F));
        }
        push(0x80 | (code >> 6 & 0x3F));
    }
    push(0x80 | (code & 0x3F));
}

size_t columnsOf(std::string_view text) {
    size_t columns = 0;
    for (const char c : text)
        columns += continues(c) ? 0 : 1;
    return columns;
}

std::string rightAligned(std::string_view text, size_t columns) {
    return std::string(columns - std::min(columns, columnsOf(text)), ' ').append(text);
}

std::string leftAligned(std::string_view text, size_t columns) {
    return std::string(text) + std::string(columns - std::min(columns, columnsOf(text)), ' ');
}

std::string_view headOf(std::string_view text, size_t max_bytes) {
    if (text.size() <= max_bytes)
        return text;
    size_t end = max_bytes;
    while (end > 0 && continues(text[end]))
        --end;
    return text.substr(0, end);
}

} // namespace gs

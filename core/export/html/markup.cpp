#include "export/html/markup.h"

#include "base/utf8.h"

#include <cstdint>
#include <fmt/format.h>

namespace gs::html {

namespace {

constexpr uint32_t kReplacement = 0xFFFD;

bool mayBeShown(uint32_t code) {
    if (code < 0x20 || (code >= 0x7F && code < 0xA0)) // C0, DEL, C1
        return false;
    if (code == kNotUtf8 || (code & 0xFFFE) == 0xFFFE || (code >= 0xFDD0 && code < 0xFDF0))
        return false;
    const bool turns = (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069) ||
                       code == 0x200E || code == 0x200F || code == 0x061C;
    return !turns && code != 0x2028 && code != 0x2029;
}

} // namespace

std::string cleanText(std::string_view text, size_t max_characters) {
    std::string out;
    size_t count = 0;
    for (size_t at = 0; at < text.size(); ++count) {
        if (count == max_characters)
            return out + "…";
        const uint32_t code = decodeUtf8(text, at);
        const bool space = code == '\t' || code == '\n' || code == '\r';
        appendUtf8(out, space ? ' ' : mayBeShown(code) ? code : kReplacement);
    }
    return out;
}

std::string escape(std::string_view text, size_t max_characters) {
    std::string out;
    for (const char c : cleanText(text, max_characters)) {
        switch (c) {
        case '&':
            out += "&amp;";
            break;
        case '<':
            out += "&lt;";
            break;
        case '>':
            out += "&gt;";
            break;
        case '"':
            out += "&quot;";
            break;
        case '\'':
            out += "&#39;";
            break;
        default:
            out += c;
        }
    }
    return out;
}

size_t characters(std::string_view text) {
    size_t count = 0;
    for (const char c : text)
        count += (static_cast<unsigned char>(c) & 0xC0) != 0x80 ? 1 : 0;
    return count;
}

Table::Table(std::span<const Column> columns, std::string_view css_class)
    : columns_(columns.begin(), columns.end()) {
    head_ = fmt::format("<table class=\"{}\"><thead><tr>", css_class);
    for (const Column& column : columns_)
        head_ += fmt::format("<th{}{}>{}</th>", column.number ? " class=\"n\"" : "",
                             column.hint.empty() ? "" : fmt::format(" title=\"{}\"", escape(column.hint)),
                             escape(column.title));
    head_ += "</tr></thead><tbody>\n";
}

Table& Table::html(std::string_view markup) {
    if (column_ == 0)
        body_ += "<tr>";
    body_ += columns_[column_].number ? "<td class=\"n\">" : "<td>";
    body_ += markup;
    body_ += "</td>";
    ++column_;
    return *this;
}

Table& Table::text(std::string_view data) {
    return html(escape(data));
}

Table& Table::code(std::string_view data) {
    return html("<code>" + escape(data) + "</code>");
}

void Table::endRow() {
    body_ += "</tr>\n";
    column_ = 0;
    ++rows_;
}

std::string pill(std::string_view css_class, std::string_view text) {
    return fmt::format("<span class=\"pill {}\">{}</span>", css_class, escape(text));
}

std::string folded(std::string_view summary, std::string_view body) {
    return fmt::format("<details><summary>{}</summary>\n{}</details>\n", escape(summary), body);
}

} // namespace gs::html

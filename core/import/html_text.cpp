#include "import/html_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

namespace gs {

namespace {

bool sameLetters(std::string_view text, std::string_view lower) {
    return text.size() >= lower.size() &&
           std::equal(lower.begin(), lower.end(), text.begin(),
                      [](char a, char b) { return a == std::tolower(static_cast<unsigned char>(b)); });
}

void appendUtf8(uint32_t code, std::string& out) {
    if (code < 0x80) {
        out += static_cast<char>(code);
    } else if (code < 0x800) {
        out += static_cast<char>(0xc0 | (code >> 6));
        out += static_cast<char>(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        out += static_cast<char>(0xe0 | (code >> 12));
        out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
        out += static_cast<char>(0x80 | (code & 0x3f));
    } else {
        out += static_cast<char>(0xf0 | (code >> 18));
        out += static_cast<char>(0x80 | ((code >> 12) & 0x3f));
        out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
        out += static_cast<char>(0x80 | (code & 0x3f));
    }
}

/// Appends what the entity at the start of `text` ("&lt;", "&#39;", "&#x27;") stands for; its length, 0 if it
/// is none.
size_t appendEntity(std::string_view text, std::string& out) {
    constexpr std::array<std::pair<std::string_view, char>, 6> kNamed = {
        {{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}, {"&nbsp;", ' '}}};
    for (const auto& [name, character] : kNamed) {
        if (text.substr(0, name.size()) == name) {
            out += character;
            return name.size();
        }
    }
    const size_t end = text.substr(0, 12).find(';');
    if (end == std::string_view::npos || end < 3 || text[1] != '#')
        return 0;
    const bool hex = text[2] == 'x' || text[2] == 'X';
    const std::string_view digits = text.substr(hex ? 3 : 2, end - (hex ? 3 : 2));
    uint32_t code = 0;
    const auto [stop, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), code, hex ? 16 : 10);
    if (error != std::errc() || stop != digits.data() + digits.size() || code == 0 || code > 0x10ffff)
        return 0;
    appendUtf8(code, out);
    return end + 1;
}

/// Position behind the tag that begins at `open`, also of one whose attributes hold ">" in quotes.
size_t behindTag(std::string_view html, size_t open) {
    if (html.substr(open, 4) == "<!--") {
        const size_t end = html.find("-->", open);
        return end == std::string_view::npos ? html.size() : end + 3;
    }
    for (size_t i = open; i < html.size(); ++i) {
        if (html[i] == '>')
            return i + 1;
        if (html[i] == '"' || html[i] == '\'')
            i = std::min(html.find(html[i], i + 1), html.size() - 1);
    }
    return html.size();
}

} // namespace

bool looksLikeHtml(std::string_view text) {
    const size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos || text[first] != '<')
        return false;
    for (const std::string_view start :
         {"<!doctype html", "<html", "<pre", "<span", "<div", "<code", "<body"}) {
        if (sameLetters(text.substr(first), start))
            return true;
    }
    return false;
}

std::string textOfHtml(std::string_view html) {
    std::string out;
    out.reserve(html.size() / 2);
    for (size_t i = 0; i < html.size();) {
        if (html[i] == '&') {
            if (const size_t length = appendEntity(html.substr(i), out)) {
                i += length;
                continue;
            }
        }
        const bool tag = html[i] == '<' && i + 1 < html.size() &&
                         (std::isalpha(static_cast<unsigned char>(html[i + 1])) || html[i + 1] == '/' ||
                          html[i + 1] == '!');
        if (!tag) {
            out += html[i++];
            continue;
        }
        size_t end = behindTag(html, i);
        for (const std::string_view hidden : {"script", "style"}) {
            if (!sameLetters(html.substr(i + 1), hidden))
                continue;
            const size_t close = html.find("</", end); // what scripts hold is no text
            end = close == std::string_view::npos ? html.size() : behindTag(html, close);
        }
        out.append(static_cast<size_t>(std::count(html.begin() + static_cast<std::ptrdiff_t>(i),
                                                  html.begin() + static_cast<std::ptrdiff_t>(end), '\n')),
                   '\n');
        i = end;
    }
    return out;
}

} // namespace gs

#include "import/text_lines.h"

#include <algorithm>
#include <cstring>
#include <functional>

namespace gs {

namespace {

bool isDigit(char c) {
    return c >= '0' && c <= '9';
}

/// Position after the digits at `at`; `at` itself if there are none.
size_t skipDigits(std::string_view text, size_t at) {
    while (at < text.size() && isDigit(text[at]))
        ++at;
    return at;
}

/// "[rank12]:", "rank12]:" (cut), "[default12]:": position after it, or `at`.
size_t skipRank(std::string_view text, size_t at, int32_t& rank) {
    size_t from = at;
    if (from < text.size() && text[from] == '[')
        ++from;
    const std::string_view rest = text.substr(from);
    if (rest.substr(0, 4) == "rank")
        from += 4;
    else if (rest.substr(0, 7) == "default")
        from += 7;
    else
        return at;
    const size_t digits = skipDigits(text, from);
    if (digits == from || digits - from > 6 || text.substr(digits, 2) != "]:")
        return at;
    rank = 0;
    for (size_t i = from; i < digits; ++i)
        rank = rank * 10 + (text[i] - '0');
    return digits + 2;
}

/// "I0120 22:19:37.446000 2343082 ": position after it, or `at`.
size_t skipTimestamp(std::string_view text, size_t at) {
    if (at >= text.size() || std::string_view("VDIWEC").find(text[at]) == std::string_view::npos)
        return at;
    size_t next = skipDigits(text, at + 1);
    if (next != at + 5 || next >= text.size() || text[next] != ' ')
        return at;
    const size_t time = next + 1;
    next = time;
    while (next < text.size() && (isDigit(text[next]) || text[next] == ':' || text[next] == '.'))
        ++next;
    if (next == time || next >= text.size() || text[next] != ' ')
        return at;
    const size_t pid = next + 1;
    next = skipDigits(text, pid);
    return next == pid || next >= text.size() || text[next] != ' ' ? at : next + 1;
}

/// "torch/_inductor/compile_fx.py:910]": position after it, or `at`.
size_t skipPath(std::string_view text, size_t at) {
    const size_t mark = text.find(".py:", at);
    if (mark == std::string_view::npos || mark - at > 300)
        return at;
    if (text.substr(at, mark - at).find_first_of(" \t\"'(") != std::string_view::npos)
        return at;
    const size_t digits = skipDigits(text, mark + 4);
    return digits > mark + 4 && digits < text.size() && text[digits] == ']' ? digits + 1 : at;
}

/// " [0/0]" or " [__aot_graphs]": the text inside, with `at` moved behind it.
std::string_view takeBracket(std::string_view text, size_t& at, bool tag) {
    if (text.substr(at, 2) != " [")
        return {};
    const size_t close = text.find(']', at);
    if (close == std::string_view::npos)
        return {};
    std::string_view inside = text.substr(at + 2, close - at - 2);
    if (tag) {
        if (inside.substr(0, 2) != "__")
            return {};
        inside.remove_prefix(2);
    } else if (inside.empty() || inside.find('/') == std::string_view::npos ||
               inside.find_first_not_of("0123456789/_!-") != std::string_view::npos) {
        return {};
    }
    at = close + 1;
    return inside;
}

/// Characters a prefixed line can begin with; all others are taken as they are, which keeps reading fast.
bool mayHavePrefix(char c) {
    return c == '[' || c == '/' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// Takes the prefix off `line.text` and fills in what it says.
void takePrefix(TextLine& line) {
    const std::string_view text = line.text;
    if (text.empty() || !mayHavePrefix(text.front()))
        return;
    size_t at = 0;
    for (size_t next = skipRank(text, at, line.rank); next != at; next = skipRank(text, at, line.rank))
        at = next;
    const size_t ranks = at;
    const size_t time = skipTimestamp(text, at);
    at = skipPath(text, time);
    line.logged = at != time;
    if (line.logged) {
        line.compile_id = takeBracket(text, at, false);
        line.tag = takeBracket(text, at, true);
        line.stream =
            std::hash<std::string_view>()(text.substr(ranks, at - ranks)) + static_cast<uint64_t>(line.rank);
        line.stream |= uint64_t{1} << 63;
        if (at < text.size() && text[at] == ' ')
            ++at;
    } else {
        at = ranks;
        line.stream = line.rank < 0 ? 0 : 1000 + static_cast<uint64_t>(line.rank);
    }
    line.text.remove_prefix(at);
    line.column += static_cast<uint32_t>(at);
}

} // namespace

LineReader::LineReader(std::string_view text, size_t offset, size_t end, uint32_t line, bool trace)
    : text_(text), at_(offset), end_(std::min(end, text.size())), line_(line), trace_(trace),
      coloured_(text.find('\x1b') != std::string_view::npos) {}

std::string_view LineReader::withoutColours(std::string_view line) {
    if (line.find('\x1b') == std::string_view::npos)
        return line;
    std::string clean;
    for (size_t i = 0; i < line.size(); ++i) {
        if (line[i] != '\x1b' || i + 1 >= line.size() || line[i + 1] != '[') {
            clean += line[i];
            continue;
        }
        i += 2;
        while (i < line.size() && !(line[i] >= '@' && line[i] <= '~'))
            ++i;
    }
    return scratch_.emplace_back(std::move(clean));
}

bool LineReader::next(TextLine& line) {
    if (at_ >= end_)
        return false;
    line = TextLine();
    const size_t stop = std::min(text_.find('\n', at_), end_);
    line.offset = at_;
    line.number = line_++;
    line.text = text_.substr(at_, stop - at_);
    at_ = stop + 1;
    if (!line.text.empty() && line.text.back() == '\r')
        line.text.remove_suffix(1);
    if (coloured_)
        line.text = withoutColours(line.text);
    if (line.text.empty())
        return true;
    if (line.text.front() == '\t' && trace_) {
        line.text.remove_prefix(1);
        line.column = 2;
        line.stream = kPayloadStream;
    } else if (line.text.front() == '>') { // a quotation in a mail or an issue
        const size_t quote = line.text.substr(0, 2) == "> " ? 2 : 1;
        line.text.remove_prefix(quote);
        line.column += static_cast<uint32_t>(quote);
    } else {
        takePrefix(line);
    }
    return true;
}

// Not with find_first_not_of, which looks up each character by a call.
size_t indentOf(std::string_view line) {
    size_t first = 0;
    while (first < line.size() && (line[first] == ' ' || line[first] == '\t'))
        ++first;
    return first;
}

std::string_view trimmed(std::string_view text) {
    const auto white = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
    size_t first = 0, end = text.size();
    while (first < end && white(text[first]))
        ++first;
    while (end > first && white(text[end - 1]))
        --end;
    return text.substr(first, end - first);
}

size_t findText(std::string_view text, std::string_view word, size_t from) {
    if (from >= text.size())
        return std::string_view::npos;
    const void* found = memmem(text.data() + from, text.size() - from, word.data(), word.size());
    return found ? static_cast<size_t>(static_cast<const char*>(found) - text.data())
                 : std::string_view::npos;
}

} // namespace gs

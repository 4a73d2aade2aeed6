#include "cost/readers/json_cursor.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>

namespace gs {

namespace {

bool isSpace(char c) {
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/// Characters of numbers and of true, false, null, NaN, Infinity.
bool isScalarChar(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
           c == '-' || c == '+' || c == '_';
}

bool isLiteral(std::string_view text) {
    return text == "true" || text == "false" || text == "null" || text == "NaN" || text == "Infinity" ||
           text == "-Infinity" || text == "nan" || text == "inf" || text == "-nan" || text == "-inf";
}

bool isNumber(std::string_view text) {
    size_t at = text.front() == '-' ? 1 : 0;
    const size_t digits = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9')
        ++at;
    if (at == digits)
        return false;
    const auto part = [](char c) {
        return (c >= '0' && c <= '9') || c == '.' || c == 'e' || c == 'E' || c == '+' || c == '-';
    };
    while (at < text.size() && part(text[at]))
        ++at;
    return at == text.size();
}

} // namespace

bool JsonCursor::space() {
    while (at < end && isSpace(*at))
        ++at;
    return at < end;
}

bool JsonCursor::expect(char c, const char* otherwise) {
    if (!space())
        return false;
    if (*at != c) {
        problem = otherwise;
        return false;
    }
    ++at;
    return true;
}

bool JsonCursor::string(std::string_view& raw) {
    const char* const begin = at + 1;
    for (const char* from = begin; from < end;) {
        const auto* quote = static_cast<const char*>(std::memchr(from, '"', static_cast<size_t>(end - from)));
        if (!quote)
            return false;
        const char* slash = quote;
        while (slash > begin && slash[-1] == '\\')
            --slash;
        if ((quote - slash) % 2 == 0) {
            raw = {begin, static_cast<size_t>(quote - begin)};
            at = quote + 1;
            return true;
        }
        from = quote + 1;
    }
    return false;
}

bool JsonCursor::scalar(std::string_view& raw) {
    const char* to = at;
    while (to < end && isScalarChar(*to))
        ++to;
    if (to == end)
        return false; // it may go on in the next block
    raw = {at, static_cast<size_t>(to - at)};
    if (raw.empty() || !(isNumber(raw) || isLiteral(raw))) {
        problem = "a value was expected (number, text, list, object, true, false or null)";
        return false;
    }
    at = to;
    return true;
}

bool JsonCursor::container() {
    int depth = 0;
    std::string_view text;
    while (at < end) {
        switch (*at) {
        case '"':
            if (!string(text))
                return false;
            continue;
        case '{':
        case '[':
            ++depth;
            break;
        case '}':
        case ']':
            if (--depth == 0) {
                ++at;
                return true;
            }
            break;
        default:
            break;
        }
        ++at;
    }
    return false;
}

bool JsonCursor::value(std::string_view& raw) {
    if (!space())
        return false;
    if (*at == '"')
        return string(raw);
    if (*at != '{' && *at != '[')
        return scalar(raw);
    const char* const begin = at;
    if (!container())
        return false;
    raw = {begin, static_cast<size_t>(at - begin)};
    return true;
}

bool JsonCursor::skipValue() {
    std::string_view raw;
    return value(raw);
}

bool JsonCursor::member(std::string_view& key, bool first, bool& last) {
    if (!space())
        return false;
    last = *at == '}';
    if (last) {
        ++at;
        return true;
    }
    if (!first && !expect(',', "a comma or a closing brace was expected"))
        return false;
    if (!space())
        return false;
    if (*at == '}') { // a comma too many
        last = true;
        ++at;
        return true;
    }
    if (*at != '"') {
        problem = "a key in quotes was expected";
        return false;
    }
    return string(key) && expect(':', "a colon was expected behind the key");
}

std::string unescapeJson(std::string_view raw) {
    std::string out;
    out.reserve(raw.size());
    for (size_t i = 0; i < raw.size(); ++i) {
        if (raw[i] != '\\' || i + 1 == raw.size()) {
            out += raw[i];
            continue;
        }
        static constexpr std::string_view kFrom = "nrtbf\"\\/";
        static constexpr std::string_view kTo = "\n\r\t\b\f\"\\/";
        const size_t found = kFrom.find(raw[i + 1]);
        unsigned code = 0;
        if (found != std::string_view::npos) {
            out += kTo[found];
            ++i;
        } else if (raw[i + 1] == 'u' && i + 5 < raw.size() &&
                   std::from_chars(raw.data() + i + 2, raw.data() + i + 6, code, 16).ptr ==
                       raw.data() + i + 6) {
            if (code < 0x80)
                out += static_cast<char>(code);
            else
                out += '?'; // names beyond ASCII are for people only
            i += 5;
        } else {
            out += raw[i];
        }
    }
    return out;
}

bool parseInteger(std::string_view text, int64_t& out) {
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (error == std::errc() && stop == text.data() + text.size())
        return true;
    double real = 0;
    const auto [real_stop, real_error] = std::from_chars(text.data(), text.data() + text.size(), real);
    if (real_error != std::errc() || real_stop != text.data() + text.size() || !(std::abs(real) < 9e18))
        return false;
    out = static_cast<int64_t>(real);
    return true;
}

bool parseMicros(std::string_view text, int64_t& ns) {
    constexpr int64_t kLargest = INT64_MAX / 4000; // sums of two times cannot overflow
    int64_t whole = 0;
    const char* at = text.data();
    const char* const end = at + text.size();
    const bool negative = at < end && *at == '-';
    at += negative ? 1 : 0;
    const auto [stop, error] = std::from_chars(at, end, whole);
    if (error != std::errc() || stop == at || whole < 0 || whole > kLargest)
        return false;
    at = stop;
    int64_t part = 0;
    if (at < end && *at == '.') {
        int64_t scale = 100;
        for (++at; at < end && *at >= '0' && *at <= '9'; ++at, scale /= 10)
            part += (*at - '0') * scale;
    }
    if (at < end) { // an exponent
        double real = 0;
        const auto [real_stop, real_error] = std::from_chars(text.data(), end, real);
        if (real_error != std::errc() || real_stop != end ||
            !(std::abs(real) < static_cast<double>(kLargest)))
            return false;
        ns = std::llround(real * 1e3);
        return true;
    }
    ns = (whole * 1000 + part) * (negative ? -1 : 1);
    return true;
}

} // namespace gs

#include "import/json_scan.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gs {

namespace {

/// Position just behind `"key": [`, or npos.
size_t findArray(std::string_view text, std::string_view key) {
    const std::string quoted = fmt::format("\"{}\"", key);
    for (size_t at = text.find(quoted); at != std::string_view::npos; at = text.find(quoted, at + 1)) {
        size_t next = text.find_first_not_of(" \t\r\n", at + quoted.size());
        if (next == std::string_view::npos || text[next] != ':')
            continue;
        next = text.find_first_not_of(" \t\r\n", next + 1);
        if (next != std::string_view::npos && text[next] == '[')
            return next + 1;
    }
    return std::string_view::npos;
}

/// Tracks depth and strings character by character.
class Scanner {
public:
    Scanner(std::string_view text, JsonArrayScan& out) : text_(text), out_(out) {}

    void run() {
        line_ = 1 + static_cast<uint32_t>(
                        std::count(text_.begin(), text_.begin() + static_cast<long>(out_.begin), '\n'));
        for (at_ = out_.begin; at_ < text_.size() && !done_; ++at_)
            step(text_[at_]);
        out_.cut = !done_;
        out_.last_line = line_;
    }

private:
    void step(char c) {
        if (c == '\n') {
            ++line_;
            if (in_string_) { // an unclosed string: drop the element that it broke
                in_string_ = false;
                depth_ = 0;
            }
            return;
        }
        if (in_string_) {
            if (c == '\\')
                ++at_;
            else if (c == '"')
                in_string_ = false;
            return;
        }
        if (c == '"') {
            in_string_ = true;
        } else if (c == '{' || c == '[') {
            if (depth_ == 0 && c == '{') {
                start_ = at_;
                start_line_ = line_;
            }
            ++depth_;
        } else if (c == '}' || c == ']') {
            if (depth_ == 0) {
                done_ = c == ']';
                return;
            }
            if (--depth_ == 0)
                out_.items.push_back({start_, at_ + 1 - start_, start_line_});
        }
    }

    std::string_view text_;
    JsonArrayScan& out_;
    size_t at_ = 0;
    size_t start_ = 0;
    uint32_t start_line_ = 1;
    uint32_t line_ = 1;
    int depth_ = 0;
    bool in_string_ = false;
    bool done_ = false;
};

/// Accepts everything and remembers the first error.
class FaultFinder : public nlohmann::json_sax<nlohmann::json> {
public:
    bool null() override { return true; }
    bool boolean(bool) override { return true; }
    bool number_integer(number_integer_t) override { return true; }
    bool number_unsigned(number_unsigned_t) override { return true; }
    bool number_float(number_float_t, const string_t&) override { return true; }
    bool string(string_t&) override { return true; }
    bool binary(binary_t&) override { return true; }
    bool start_object(size_t) override { return true; }
    bool key(string_t&) override { return true; }
    bool end_object() override { return true; }
    bool start_array(size_t) override { return true; }
    bool end_array() override { return true; }
    bool parse_error(size_t position, const std::string&, const nlohmann::json::exception& error) override {
        byte = position;
        message = error.what();
        return false;
    }

    size_t byte = 0;
    std::string message;
};

} // namespace

JsonArrayScan scanArray(std::string_view text, std::string_view key) {
    JsonArrayScan scan;
    const size_t begin = findArray(text, key);
    if (begin == std::string_view::npos)
        return scan;
    scan.found = true;
    scan.begin = begin;
    Scanner(text, scan).run();
    return scan;
}

JsonFault findJsonFault(const std::string& text) {
    FaultFinder finder;
    JsonFault fault;
    if (nlohmann::json::sax_parse(text, &finder))
        return fault;
    const size_t byte = std::min(finder.byte, text.size());
    const size_t last = byte == 0 ? 0 : byte - 1;
    fault.line =
        1 + static_cast<uint32_t>(std::count(text.begin(), text.begin() + static_cast<long>(last), '\n'));
    const size_t line_begin = last == 0 ? std::string::npos : text.rfind('\n', last - 1);
    fault.column = static_cast<uint32_t>(last - (line_begin == std::string::npos ? 0 : line_begin + 1) + 1);
    // "[json.exception…] parse error at line 1, column 5: syntax error while …": keep what follows the place.
    const size_t place = finder.message.find("column ");
    const size_t colon = place == std::string::npos ? place : finder.message.find(": ", place);
    fault.message = colon == std::string::npos ? finder.message : finder.message.substr(colon + 2);
    return fault;
}

} // namespace gs

// Walks over JSON text that may end anywhere: for files that are read block by block. It checks what it
// reads, not what it skips.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gs {

/// Every function returns false when it cannot go on. Then `problem` says what is wrong at `at`, or is null
/// if the text ended; in that case the caller goes back to a place it knows and tries again with more text.
class JsonCursor {
public:
    const char* at = nullptr;
    const char* end = nullptr;
    const char* problem = nullptr;

    /// Skips white space; false at the end of the text.
    bool space();
    /// Skips white space and then the character `c`.
    bool expect(char c, const char* otherwise);
    /// A string without its quotes; escapes stay as they are.
    bool string(std::string_view& raw);
    /// A number or a literal: true, false, null, NaN, Infinity.
    bool scalar(std::string_view& raw);
    /// Any value: the raw text of it, of a string without the quotes.
    bool value(std::string_view& raw);
    bool skipValue();
    /// Key and colon of an object's next member; `last` is set at the closing brace instead. `first` = no
    /// comma is expected before it.
    bool member(std::string_view& key, bool first, bool& last);

private:
    bool container();
};

/// Text of a JSON string with its escapes resolved; broken escapes stay as they are.
std::string unescapeJson(std::string_view raw);

/// A whole number, also one written as "12", 12.0 or 1.2e1; false if it is none or does not fit.
bool parseInteger(std::string_view text, int64_t& out);
/// Microseconds as nanoseconds, exact to the digit (a double is not: times since 1970 need 61 bits).
bool parseMicros(std::string_view text, int64_t& ns);

} // namespace gs

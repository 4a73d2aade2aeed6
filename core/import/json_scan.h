// Finds where a broken JSON file breaks and which array elements are whole, so that the rest can still be
// read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gs {

struct JsonSpan {
    size_t begin = 0;
    size_t length = 0;
    uint32_t line = 1; ///< line of its first character
};

struct JsonArrayScan {
    bool found = false;          ///< the key and its '[' were found
    size_t begin = 0;            ///< just behind the '['
    std::vector<JsonSpan> items; ///< elements that are whole objects
    bool cut = false;            ///< the text ends before the array does
    uint32_t last_line = 1;
};

/// Scans the array behind the first `"key": [`. Brackets inside strings do not count; a string that is not
/// closed ends with its line (JSON strings contain no line breaks), so that one broken line does not spoil
/// the rest.
JsonArrayScan scanArray(std::string_view text, std::string_view key);

/// First syntax error of a JSON text: place and what was expected there.
struct JsonFault {
    uint32_t line = 0; ///< 0 = none found
    uint32_t column = 0;
    std::string message;
    bool found() const { return line != 0; }
};
JsonFault findJsonFault(const std::string& text);

} // namespace gs

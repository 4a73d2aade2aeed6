// Numbers as people read them: aligned units, thousands separators, never "nan".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gs {

/// 1234567 -> "1,234,567".
std::string formatCount(int64_t value);
/// "1 gather", "1,200 gathers"; for nouns whose plural only adds an s.
std::string counted(size_t count, std::string_view noun);
/// Time for a sentence or a status line, by magnitude: "812 ns", "5.0 µs", "12.6 ms", "1,481.0 ms", "2.31 s".
std::string formatTime(int64_t ns);
/// Time for a table column, always microseconds with `decimals` places: "1,744".
std::string formatMicros(int64_t ns, int decimals = 0);
/// "112.0 MiB", "8.0 KiB", "512 B". Negative = unknown: "?".
std::string formatBytes(int64_t bytes);
/// "−9.1 %" (with a true minus sign) or "+3.0 %".
std::string formatPercent(double fraction, bool sign = false);

} // namespace gs

#include "base/units.h"

#include <cmath>
#include <cstdlib>
#include <fmt/format.h>

namespace gs {

namespace {

constexpr const char* kMinus = "\u2212";

/// Puts thousands separators into the integer part of a plain decimal number.
std::string separate(std::string digits) {
    const size_t point = digits.find('.');
    size_t at = point == std::string::npos ? digits.size() : point;
    const size_t first = !digits.empty() && digits[0] == '-' ? 1 : 0;
    while (at > first + 3) {
        at -= 3;
        digits.insert(at, ",");
    }
    if (first == 1)
        digits.replace(0, 1, kMinus);
    return digits;
}

} // namespace

std::string formatCount(int64_t value) {
    return separate(fmt::format("{}", value));
}

std::string counted(size_t count, std::string_view noun) {
    return fmt::format("{} {}{}", formatCount(static_cast<int64_t>(count)), noun, count == 1 ? "" : "s");
}

std::string formatTime(int64_t ns) {
    const double magnitude = std::abs(static_cast<double>(ns));
    if (magnitude < 1e3)
        return separate(fmt::format("{}", ns)) + " ns";
    if (magnitude < 1e6)
        return separate(fmt::format("{:.1f}", static_cast<double>(ns) / 1e3)) + " µs";
    if (magnitude < 1e10)
        return separate(fmt::format("{:.{}f}", static_cast<double>(ns) / 1e6, magnitude < 1e7 ? 2 : 1)) +
               " ms";
    return separate(fmt::format("{:.2f}", static_cast<double>(ns) / 1e9)) + " s";
}

std::string formatMicros(int64_t ns, int decimals) {
    return separate(fmt::format("{:.{}f}", static_cast<double>(ns) / 1e3, decimals));
}

std::string formatBytes(int64_t bytes) {
    if (bytes < 0)
        return "?";
    static constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    if (bytes < 1024)
        return fmt::format("{} B", bytes);
    double value = static_cast<double>(bytes);
    int unit = -1;
    while (value >= 1024.0 && unit < 5) {
        value /= 1024.0;
        ++unit;
    }
    return separate(fmt::format("{:.1f}", value)) + " " + kUnits[unit];
}

std::string formatPercent(double fraction, bool sign) {
    if (!std::isfinite(fraction))
        return "?";
    std::string text = separate(fmt::format("{:.1f}", fraction * 100.0));
    if (sign && fraction > 0)
        text.insert(0, "+");
    return text + " %";
}

} // namespace gs

#include "lod/time_axis.h"

#include "base/units.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace gs {

double TimeAxis::nsPerPixel() const {
    return static_cast<double>(std::max<int64_t>(1, range_.length())) / width_;
}

double TimeAxis::pixelOf(int64_t time_ns) const {
    return static_cast<double>(time_ns - range_.begin_ns) / nsPerPixel();
}

int64_t TimeAxis::timeAt(double pixel) const {
    return range_.begin_ns + std::llround(pixel * nsPerPixel());
}

int64_t TimeAxis::span(double pixels) const {
    return std::max<int64_t>(1, std::llround(pixels * nsPerPixel()));
}

TimeRange clampRange(TimeRange range, TimeRange full, int width_px) {
    const int64_t least = std::min<int64_t>(std::max(1, width_px), std::max<int64_t>(1, full.length()));
    const int64_t length = std::clamp(range.length(), least, std::max<int64_t>(1, full.length()));
    const int64_t last_begin = full.end_ns - length;
    const int64_t begin = std::clamp(range.begin_ns, full.begin_ns, std::max(full.begin_ns, last_begin));
    return {begin, begin + length};
}

TimeRange zoomRange(const TimeAxis& axis, double factor, double pixel, TimeRange full) {
    const int64_t least = std::min<int64_t>(axis.width(), std::max<int64_t>(1, full.length()));
    const int64_t length =
        std::clamp<int64_t>(std::llround(static_cast<double>(axis.range().length()) * factor), least,
                            std::max<int64_t>(1, full.length()));
    const double share = pixel / axis.width();
    const int64_t grown = length - axis.range().length();
    const int64_t begin = axis.range().begin_ns - std::llround(share * static_cast<double>(grown));
    return clampRange({begin, begin + length}, full, axis.width());
}

TimeRange panRange(const TimeAxis& axis, double pixels, TimeRange full) {
    const int64_t by = std::llround(pixels * axis.nsPerPixel());
    return clampRange({axis.range().begin_ns + by, axis.range().end_ns + by}, full, axis.width());
}

Ticks niceTicks(const TimeAxis& axis, double min_px) {
    Ticks ticks;
    const double least = axis.nsPerPixel() * std::max(1.0, min_px);
    for (int64_t power = 1; power <= INT64_MAX / 100; power *= 10) {
        ticks.step_ns = power;
        for (const int64_t times : {1, 2, 5}) {
            ticks.step_ns = power * times;
            if (static_cast<double>(ticks.step_ns) >= least)
                break;
        }
        if (static_cast<double>(ticks.step_ns) >= least)
            break;
    }
    const TimeRange& range = axis.range();
    int64_t first = range.begin_ns / ticks.step_ns * ticks.step_ns;
    if (first < range.begin_ns)
        first += ticks.step_ns;
    for (int64_t time = first; time <= range.end_ns; time += ticks.step_ns)
        ticks.times.push_back(time);
    return ticks;
}

std::string formatTick(int64_t time_ns, int64_t step_ns) {
    struct Unit {
        const char* name;
        int64_t ns;
    };
    static constexpr Unit kUnits[] = {{"s", 1'000'000'000}, {"ms", 1'000'000}, {"µs", 1'000}, {"ns", 1}};
    // A tenth of a unit still reads well ("0.5 ms"), a hundredth does not; seconds only for whole ones,
    // because all other texts give step times in milliseconds.
    size_t at = 0;
    while (at < 3 && step_ns < (at == 0 ? kUnits[at].ns : kUnits[at].ns / 10))
        ++at;
    const int64_t unit = kUnits[at].ns;
    const std::string whole = formatCount(time_ns / unit);
    if (step_ns >= unit)
        return fmt::format("{} {}", whole, kUnits[at].name);
    return fmt::format("{}.{} {}", whole, std::abs(time_ns) % unit * 10 / unit, kUnits[at].name);
}

} // namespace gs

// Time ↔ pixel on integer nanoseconds, zoom and pan of the visible range, and the ruler's steps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gs {

/// [begin, end) of the time axis.
struct TimeRange {
    int64_t begin_ns = 0;
    int64_t end_ns = 0;

    int64_t length() const { return end_ns - begin_ns; }
    bool contains(int64_t time) const { return time >= begin_ns && time < end_ns; }
    bool overlaps(int64_t begin, int64_t end) const { return begin < end_ns && end > begin_ns; }
    bool operator==(const TimeRange&) const = default;
};

/// Maps a range onto `width` pixels, 0 at its begin. Pure; no state beyond the two.
class TimeAxis {
public:
    TimeAxis(TimeRange range, int width_px) : range_(range), width_(width_px < 1 ? 1 : width_px) {}

    const TimeRange& range() const { return range_; }
    int width() const { return width_; }
    /// Never 0.
    double nsPerPixel() const;
    double pixelOf(int64_t time_ns) const;
    /// Inverse of pixelOf(), rounded to whole nanoseconds.
    int64_t timeAt(double pixel) const;
    /// Time covered by so many pixels, at least 1.
    int64_t span(double pixels) const;

private:
    TimeRange range_;
    int width_;
};

/// What the range may be: inside `full`, and not shorter than one nanosecond per pixel.
TimeRange clampRange(TimeRange range, TimeRange full, int width_px);
/// Range after zooming by `factor` (< 1: in) with the time under `pixel` kept in place.
TimeRange zoomRange(const TimeAxis& axis, double factor, double pixel, TimeRange full);
/// Range moved by so many pixels, kept inside `full`.
TimeRange panRange(const TimeAxis& axis, double pixels, TimeRange full);

/// Ticks of a ruler: times are multiples of `step_ns`, which is 1, 2 or 5 times a power of ten.
struct Ticks {
    int64_t step_ns = 1;
    std::vector<int64_t> times;
};
/// The finest ticks that are at least `min_px` apart.
Ticks niceTicks(const TimeAxis& axis, double min_px);
/// "3.2 ms", "12,340 µs": the unit and the decimals follow from the step, so that labels of one ruler match.
std::string formatTick(int64_t time_ns, int64_t step_ns);

} // namespace gs

#include "cost/readers/intervals.h"

#include <algorithm>
#include <map>

namespace gs {

namespace {

using Spans = std::vector<std::pair<int64_t, int64_t>>;

/// Disjoint spans in order, per device.
std::map<std::string, Spans> spansOf(std::vector<Stretch> items, const std::vector<std::string>& streams) {
    std::sort(items.begin(), items.end(),
              [](const Stretch& a, const Stretch& b) { return a.start < b.start; });
    std::map<std::string, Spans> out;
    std::vector<Spans*> of(streams.size());
    for (size_t i = 0; i < streams.size(); ++i)
        of[i] = &out[streams[i].substr(0, streams[i].find(','))];
    for (const Stretch& item : items) {
        Spans& spans = *of[item.stream];
        if (spans.empty() || item.start > spans.back().second)
            spans.emplace_back(item.start, item.end);
        else
            spans.back().second = std::max(spans.back().second, item.end);
    }
    return out;
}

/// Damaged times must not overflow the sums.
int64_t addedUp(int64_t a, int64_t b) {
    int64_t sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

int64_t lengthOf(const Spans& spans) {
    int64_t sum = 0;
    for (const auto& [start, end] : spans)
        sum = addedUp(sum, end - start);
    return sum;
}

int64_t common(const Spans& a, const Spans& b) {
    int64_t sum = 0;
    for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
        const int64_t start = std::max(a[i].first, b[j].first);
        const int64_t end = std::min(a[i].second, b[j].second);
        sum = addedUp(sum, std::max<int64_t>(0, end - start));
        a[i].second < b[j].second ? ++i : ++j;
    }
    return sum;
}

} // namespace

Overlap measureOverlap(const std::vector<Stretch>& first, const std::vector<Stretch>& second,
                       const std::vector<std::string>& streams) {
    const auto a = spansOf(first, streams);
    const auto b = spansOf(second, streams);
    Overlap out;
    for (const auto& [device, spans] : a) {
        const Spans& others = b.at(device); // both know every stream's device
        out.first_ns = addedUp(out.first_ns, lengthOf(spans));
        out.second_ns = addedUp(out.second_ns, lengthOf(others));
        out.both_ns = addedUp(out.both_ns, common(spans, others));
    }
    return out;
}

} // namespace gs

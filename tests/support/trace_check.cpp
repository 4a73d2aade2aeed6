#include "support/trace_check.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

namespace gs::test {

using Json = nlohmann::json;

namespace {

/// Slices of one thread either follow each other or lie within each other, as trace processors demand.
std::string nestingFault(std::vector<std::pair<double, double>> spans) {
    constexpr double kRounding = 1e-6; // microseconds as doubles
    std::sort(spans.begin(), spans.end(), [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first < b.first : a.second > b.second;
    });
    std::vector<double> open;
    for (const auto& [start, end] : spans) {
        while (!open.empty() && open.back() <= start + kRounding)
            open.pop_back();
        if (!open.empty() && end > open.back() + kRounding)
            return "slices of one thread that overlap";
        open.push_back(end);
    }
    return {};
}

/// What every event must have: a known phase, whole numbers for process and thread, finite times, a name.
std::string eventFault(const Json& event) {
    static const std::set<std::string> kPhases = {"M", "X", "s", "f", "C"};
    const std::string phase = event.at("ph");
    if (!kPhases.count(phase))
        return "an unknown phase";
    if (!event.at("pid").is_number_integer() || (phase != "C" && !event.at("tid").is_number_integer()))
        return "a process or thread that is no whole number";
    if (!event.at("name").is_string() || event.at("name").get<std::string>().empty())
        return "an event without a name";
    if (phase != "M" && (!event.at("ts").is_number() || !std::isfinite(event.at("ts").get<double>())))
        return "a time that is no number";
    if (phase == "f" && event.value("bp", "") != "e")
        return "an arrow that binds to the next slice";
    return {};
}

using Events = std::map<int64_t, std::vector<Json>>;
using Slices = std::map<std::pair<int, int>, std::vector<std::pair<double, double>>>;

/// Arrows begin and end on slices of one process, once each, and forwards in time.
std::string arrowFault(const Events& starts, Events& ends, Slices& slices) {
    if (starts.size() != ends.size())
        return "arrows without an end";
    for (const auto& [id, list] : starts) {
        if (list.size() != 1 || ends[id].size() != 1)
            return "an arrow's id is used twice";
        if (ends[id][0].at("ts").get<double>() < list[0].at("ts").get<double>() ||
            ends[id][0].at("pid") != list[0].at("pid"))
            return "an arrow that goes back in time";
        for (const Json& end : {list[0], ends[id][0]}) {
            const double at = end.at("ts");
            const int pid = end.at("pid"), tid = end.at("tid");
            const auto& spans = slices[{pid, tid}];
            if (std::none_of(spans.begin(), spans.end(),
                             [&](const auto& span) { return span.first <= at && at <= span.second; }))
                return "an arrow that ends on no slice";
        }
    }
    return {};
}

} // namespace

std::string traceFault(const Json& trace) {
    std::map<int64_t, std::vector<Json>> starts, ends;
    std::map<std::pair<int, int>, std::vector<std::pair<double, double>>> slices;
    std::set<std::pair<int, int>> threads;
    std::set<int> processes;
    std::map<std::pair<int, std::string>, double> counted; // counters come in the order of time
    for (const Json& event : trace.at("traceEvents")) {
        if (std::string fault = eventFault(event); !fault.empty())
            return fault;
        const std::string phase = event.at("ph");
        if (phase == "M") {
            if (event.at("name") == "thread_name" &&
                !threads.emplace(event.at("pid").get<int>(), event.at("tid").get<int>()).second)
                return "a thread with two names";
            if (event.at("name") == "process_name")
                processes.insert(event.at("pid").get<int>());
            continue;
        }
        if (event.at("ts").get<double>() < 0)
            return "a negative time";
        if (phase == "X") {
            if (event.at("dur").get<double>() < 0)
                return "a negative duration";
            const double start = event.at("ts"), length = event.at("dur");
            const int pid = event.at("pid"), tid = event.at("tid");
            slices[{pid, tid}].emplace_back(start, start + length);
        } else if (phase == "s" || phase == "f") {
            (phase == "s" ? starts : ends)[event.at("id").get<int64_t>()].push_back(event);
        } else if (phase == "C") {
            double& last = counted[{event.at("pid").get<int>(), event.at("name").get<std::string>()}];
            if (event.at("ts").get<double>() < last)
                return "a counter that goes back in time";
            last = event.at("ts");
        }
        if (phase == "C" && event.at("args").at("bytes").get<int64_t>() < 0) {
            return "a negative counter";
        }
    }
    for (auto& [thread, spans] : slices) {
        if (!threads.count(thread))
            return "a slice on a thread without a name";
        if (!processes.count(thread.first))
            return "a slice in a process without a name";
        if (std::string fault = nestingFault(spans); !fault.empty())
            return fault;
    }
    return arrowFault(starts, ends, slices);
}

} // namespace gs::test

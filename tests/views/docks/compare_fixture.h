// A comparison made by hand: for tests of its views.
#pragma once

#include "support/sample_analysis.h"
#include "views/compare_state.h"

namespace gs::test {

inline CompareEntryPtr entry(uint64_t id, const char* scheduler, int64_t step_us, int64_t peak_mib,
                             const std::vector<std::pair<const char*, const char*>>& settings = {}) {
    CompareEntry made;
    made.id = id;
    made.row.scheduler = scheduler;
    static_cast<void>(made.row.request.settings.set(Setting::Scheduler, scheduler));
    for (const auto& [name, value] : settings)
        if (!made.row.request.settings.set(std::string_view(name), value))
            qFatal("no such setting");
    made.row.candidates = 291;
    made.row.hidden = static_cast<size_t>(291 - step_us / 1000);
    made.row.step_ns = step_us * 1000;
    made.row.lower_bound_ns = 44'000'000;
    made.row.exposed_union_ns = made.row.step_ns - 42'000'000;
    made.row.exposed_sum_ns = made.row.exposed_union_ns * 5 / 4;
    made.row.peak_held_bytes = peak_mib * 1024 * 1024;
    made.row.nodes = 4900;
    made.row.nodes_displaced = static_cast<size_t>(id * 211);
    made.row.run_ms = static_cast<double>(id) * 1.25;
    return std::make_shared<const CompareEntry>(made);
}

inline CompareState someState() {
    CompareState state;
    state.entries = {
        entry(1, "program-order", 53000, 1900), entry(2, "latest-safe-launch", 48200, 3170),
        entry(3, "overlap-scheduler", 45100, 3900),
        entry(4, "overlap-scheduler", 47800, 2100, {{"max_in_flight_gb", "0.1"}}),
        entry(5, "just-in-time", 47100, 3000, {{"slack_ns", "10000"}, {"bucket_mode", "coalesced"}})};
    state.baseline = 1;
    state.current = 2;
    return state;
}

inline CompareStatePtr share(CompareState state) {
    return std::make_shared<const CompareState>(std::move(state));
}

inline std::shared_ptr<const GatherDiff> someDiff() {
    SampleOptions options;
    options.scheduler = "program-order";
    return std::make_shared<const GatherDiff>(compareGathers(*sampleAnalysis(options), *sampleAnalysis()));
}

} // namespace gs::test

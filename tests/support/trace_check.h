// A strict check of Chrome traces, for files that Perfetto's trace processor has to take.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace gs::test {

/// Faults of a Chrome trace as the trace processor would meet them; empty if none: unknown phases, times that
/// are no numbers, slices of one thread that overlap without nesting, threads and processes without a name or
/// with two, arrows without two ends on slices, ids used twice, counters that go back in time.
std::string traceFault(const nlohmann::json& trace);

} // namespace gs::test

// Kineto traces: any bytes, also cut between blocks.
#include "cost/readers/kineto.h"
#include "cost/readers/trace_report.h"

#include <cstdlib>

using namespace gs;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto bytes = bytesOf(text);
    // Small blocks, so that events lie across their ends.
    Result<TraceEvents> events = readKineto("fuzz.json", *bytes, {}, 1 + size % 300);
    if (!events) {
        if (events.error().where.line == 0)
            std::abort(); // errors have a place
        return 0;
    }
    Diagnostics diagnostics;
    static_cast<void>(costsOfTrace(events.value(), "fuzz.json", diagnostics, {}));
    return 0;
}

// Nsight Systems exports: the bytes of a database.
#include "cost/readers/nsys.h"
#include "cost/readers/trace_report.h"

using namespace gs;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    Result<TraceEvents> events =
        readNsysBytes("fuzz.sqlite", std::string(reinterpret_cast<const char*>(data), size), {});
    if (!events)
        return 0;
    Diagnostics diagnostics;
    static_cast<void>(costsOfTrace(events.value(), "fuzz.sqlite", diagnostics, {}));
    return 0;
}

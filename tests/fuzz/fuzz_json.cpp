// Our own JSON form, whole and damaged.
#include "fuzz_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    return gs::fuzz::run(data, size, {"gatherscope-json"});
}

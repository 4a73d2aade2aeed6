// Inductor's scheduler nodes and output code.
#include "fuzz_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    return gs::fuzz::run(data, size, {"inductor-ir", "inductor-code"});
}

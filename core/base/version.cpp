#include "base/version.h"

namespace gs {

std::string_view programVersion() {
    return GATHERSCOPE_VERSION;
}

} // namespace gs

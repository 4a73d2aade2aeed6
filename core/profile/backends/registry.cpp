#include "profile/backend.h"

namespace gs {

const std::vector<BackendInfo>& backends() {
    static const std::vector<BackendInfo> kBackends = {};
    return kBackends;
}

} // namespace gs

#include "host_backend.h"

namespace gs {

/// The line of the registry (profile/backends/registry.cpp).
BackendInfo hostBackend() {
    BackendInfo info;
    info.name = "host";
    info.meaning = "the processors of this machine, by oneDNN and MPI";
    info.built = true;
    info.probe = []() -> Result<std::vector<DeviceFacts>> {
        return std::vector{host::hostFacts(host::usableProcessors())};
    };
    info.make = [](ControlPlane& plane) -> Result<std::unique_ptr<Backend>> {
        return Result<std::unique_ptr<Backend>>(std::make_unique<host::HostBackend>(plane));
    };
    return info;
}

} // namespace gs

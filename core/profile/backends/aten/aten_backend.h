// Any operator that libtorch has, one by one: on CUDA where torch was built for it and there is a device,
// else on processors. Fused regions are measured node by node; collectives are the host's or the cuda
// backend's.
#pragma once

#include "profile/backend.h"

namespace gs {

/// For the registry.
BackendInfo atenBackend();

} // namespace gs

// Devices, drivers, versions and clocks.
#pragma once

#include "profile/backend.h"

namespace gs::cuda {

/// All devices of this machine. Error "no-device" in CUDA's own words: no driver, an old one, no device.
Result<std::vector<DeviceFacts>> probeDevices();
DeviceFacts factsOf(int device);

} // namespace gs::cuda

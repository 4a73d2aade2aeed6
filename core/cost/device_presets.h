// Devices for the analytical model: peaks, bandwidths, latencies, as data in resources/device_presets.json,
// where every number has its source.
#pragma once

#include "base/diagnostics.h"
#include "cost/nccl_model.h"
#include "cost/roofline.h"

#include <string>
#include <utility>
#include <vector>

namespace gs {

/// A collective as latency + factor × bytes / (bandwidth × efficiency), factor = (n−1)/n, twice that for an
/// all-reduce; bytes = the larger of what goes in and what comes out. For devices without NCCL's tables.
struct LinearLinks {
    double intra_latency_us = 0;
    double inter_latency_us = 0;
    double intra_gbps = 0; ///< bus bandwidth per rank in GB/s (10^9 bytes/s)
    double inter_gbps = 0;
    double efficiency = 1;
};

struct DevicePreset {
    std::string id;   ///< "h100"
    std::string name; ///< "NVIDIA H100 SXM 80 GB"
    RooflineParams roofline;
    int64_t memory_bytes = 0;
    bool uses_nccl = true; ///< collectives by the NCCL model, else by `links`
    NcclSystem nccl;       ///< gpus_per_node also counts for `links`
    LinearLinks links;
    /// Nodes of a group: by its ranks (rank r is on node r / gpus_per_node) where the file states them, or,
    /// as PyTorch does, always by its size.
    bool place_by_ranks = true;
    /// Source of each number: field → text.
    std::vector<std::pair<std::string, std::string>> sources;
};

/// The presets of the program.
const std::vector<DevicePreset>& devicePresets();
/// By id, in any case; null if there is none.
const DevicePreset* findDevicePreset(std::string_view id);

/// A user's devices: a file like resources/device_presets.json. A device may name a `base` (a preset or an
/// earlier device of the file) and give only the fields that differ. The error names file, device and field.
Result<std::vector<DevicePreset>> loadDevicePresets(const std::string& path, Diagnostics& diagnostics);

} // namespace gs

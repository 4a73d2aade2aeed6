// Message sizes that saturate a link, and the bucket caps that follow (document 001's pre-bucketing).
// Source: compute_min_saturation_bytes of torch/_inductor/comm_analysis.py and compute_pre_bucket_cap_mb of
// torch/_inductor/fx_passes/fsdp.py, PyTorch 2.15. Agrees with golden/comm/saturation.
#pragma once

#include "cost/nccl_model.h"

namespace gs {

/// Bytes from which a collective reaches `target_efficiency` (0 to 1, both excluded) of the bandwidth: that
/// share of the time is transfer, the rest latency. 0 for a group of one rank. Nothing for collectives other
/// than all-gather, reduce-scatter and all-reduce, and for an efficiency out of range.
std::optional<int64_t> saturationBytes(const NcclSystem& system, const NcclGroup& group,
                                       NcclCollective collective, double target_efficiency = 0.9);

/// How compute_pre_bucket_cap_mb turns the saturation size into a cap; the defaults are PyTorch's.
struct PreBucketLimits {
    double calibration = 1.0; ///< factor on the saturation size
    double min_mib = 10.0;
    double max_mib = 500.0;
    std::optional<double> override_mib; ///< taken as it is
};

/// Bucket cap in MiB (2^20 bytes; PyTorch says "MB") for the all-gathers of a group.
double preBucketCapMib(const NcclSystem& system, const NcclGroup& group, const PreBucketLimits& limits = {});

} // namespace gs

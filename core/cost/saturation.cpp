#include "cost/saturation.h"

#include <algorithm>
#include <array>

namespace gs {

namespace {

constexpr int64_t kMib = 1024 * 1024;

/// Calibrated against real collectives by PyTorch's authors (INTERCONNECT_PROFILES).
struct LinkProfile {
    double bus_gbps;
    double hop_us;  ///< latency of one ring step
    double base_us; ///< start of the collective
    int64_t min_bytes;
};

/// In the order of Interconnect.
constexpr std::array<LinkProfile, 7> kProfiles = {{
    {14.0, 50.0, 10.0, 0},
    {22.0, 45.0, 10.0, 0},
    {36.0, 40.0, 10.0, 0},
    {60.0, 30.0, 10.0, 0},
    {11.0, 14.0, 30.0, 75 * kMib},
    {22.0, 12.0, 30.0, 100 * kMib},
    {10.0, 60.0, 15.0, 0},
}};

} // namespace

std::optional<int64_t> saturationBytes(const NcclSystem& system, const NcclGroup& group,
                                       NcclCollective collective, double target_efficiency) {
    if (!(target_efficiency > 0 && target_efficiency < 1))
        return std::nullopt;
    int64_t steps = int64_t{group.ranks} - 1;
    if (collective == NcclCollective::AllReduce)
        steps *= 2;
    else if (collective != NcclCollective::AllGather && collective != NcclCollective::ReduceScatter)
        return std::nullopt;
    if (group.ranks <= 1)
        return 0;
    const LinkProfile& profile = kProfiles[static_cast<size_t>(detectInterconnect(system, group))];
    // The order of the operations is the reference's: the result is cut to whole bytes.
    const double latency_s = (profile.base_us + static_cast<double>(steps) * profile.hop_us) * 1e-6;
    const double ratio = target_efficiency / (1.0 - target_efficiency);
    const double bytes = ratio * latency_s * (profile.bus_gbps * 1e9);
    constexpr double kMost = 9e18;
    return std::max(static_cast<int64_t>(std::min(bytes, kMost)), profile.min_bytes);
}

double preBucketCapMib(const NcclSystem& system, const NcclGroup& group, const PreBucketLimits& limits) {
    if (limits.override_mib)
        return *limits.override_mib;
    const int64_t bytes = saturationBytes(system, group, NcclCollective::AllGather).value_or(0);
    const double cap = limits.calibration * static_cast<double>(bytes) / static_cast<double>(kMib);
    return std::max(limits.min_mib, std::min(limits.max_mib, cap));
}

} // namespace gs

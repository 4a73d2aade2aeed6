// How the ranks of a measurement speak to each other: agreement, barriers, reductions. MPI in
// gatherscope-rank, threads in tests. Never carries the collectives that are measured.
#pragma once

#include "base/result.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gs {

/// Every call is collective: all ranks make the same calls in the same order. A call ends with the error
/// "rank-lost" when another rank failed, left or does not come within the time limit; after an error no
/// further call may be made.
class ControlPlane {
public:
    virtual ~ControlPlane() = default;
    virtual int32_t rank() const = 0;
    virtual int32_t size() const = 0;
    virtual int32_t localRank() const = 0; ///< among the ranks of this machine: the device's index
    virtual int32_t localSize() const = 0;

    /// How long a call waits for the other ranks; nothing = as usual, which is long: they may be measuring
    /// something slow. Health is told by heartbeats (profile/protocol.h).
    virtual void setTimeLimit(std::optional<std::chrono::milliseconds> limit) { static_cast<void>(limit); }

    virtual Status barrier() = 0;
    /// Root's bytes on every rank.
    virtual Result<std::string> broadcast(std::string bytes, int32_t root) = 0;
    /// The bytes of all ranks, by rank, on every rank.
    virtual Result<std::vector<std::string>> allGather(const std::string& bytes) = 0;
    /// Element-wise; equal lengths on all ranks.
    virtual Result<std::vector<int64_t>> allMax(const std::vector<int64_t>& values) = 0;
};

} // namespace gs

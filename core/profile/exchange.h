// What the ranks tell each other around one key, and what follows for all of them (profile/lockstep.h).
#pragma once

#include "profile/control_plane.h"

#include <fmt/format.h>
#include <functional>
#include <string>
#include <vector>

namespace gs {

/// One rank's part. ns = -1: this rank does not have the operator.
struct Measurement {
    std::string fault;   ///< what failed; empty = nothing
    int64_t ns = -1;     ///< median
    int64_t second = -1; ///< distance between the quartiles, or the second time of a pair
    int64_t samples = 0;
    std::string note; ///< PreparedOp::note

    static Measurement failure(std::string why) { return {std::move(why), -1, -1, 0, {}}; }
};

/// Median and quartiles of samples; no samples are a fault.
Measurement summarise(std::vector<int64_t> samples);

/// The same on all ranks.
struct Reconciled {
    std::string reason;     ///< why there is no number, with the rank; empty = there is one
    int64_t ns = 0;         ///< greatest of the ranks
    int64_t spread_ns = -1; ///< of the slowest rank
    int64_t second_ns = -1; ///< greatest second time
    int64_t skew_ns = -1;   ///< greatest minus least; -1 = one rank
    int64_t samples = 0;    ///< of the slowest rank
    std::string note;       ///< of the first rank that has one
};

/// Every call is collective, ends with the same result on all ranks, and with the error "stopped" on all of
/// them if one has to stop.
class Exchange {
public:
    /// `stop` as in LockstepJob.
    Exchange(ControlPlane& plane, std::function<std::string()> stop)
        : plane_(plane), stop_(std::move(stop)) {}

    /// Says that this rank is ready, or its fault. Result: the first fault with its rank; empty = all may
    /// run.
    Result<std::string> agreeToRun(const std::string& fault);
    /// `communicating`: the operator needs the other ranks, so one that failed alone leaves them waiting in
    /// it. Then its others do not come within 5 s, and the error is "rank-failed" with the fault.
    Result<Reconciled> reconcile(const Measurement& own, bool communicating);

private:
    Result<std::vector<Measurement>> share(const Measurement& own);

    ControlPlane& plane_;
    std::function<std::string()> stop_;
};

/// Result of `call`, or of what it throws.
template <typename T, typename Call>
Result<T> caught(Call call) {
    try {
        return call();
    } catch (const std::exception& error) {
        return Error{"threw", fmt::format("it threw: {}", error.what()), {}, ""};
    } catch (...) {
        return Error{"threw", "it threw something that is no std::exception", {}, ""};
    }
}

} // namespace gs

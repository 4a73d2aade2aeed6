// The clock, and a collective that runs while the processors compute.
#pragma once

#include "host_collectives.h"

#include <atomic>
#include <thread>
#include <vector>

namespace gs::host {

/// Steady clock.
int64_t nowNs();

/// Repeats a compute operator in a thread of its own. The thread lives as long as this object: OpenMP makes
/// its helpers once.
class ComputeThread {
public:
    ComputeThread(PreparedOp& op, int threads);
    ~ComputeThread();
    ComputeThread(const ComputeThread&) = delete;
    ComputeThread& operator=(const ComputeThread&) = delete;

    /// Returns when the first run has begun.
    void start();
    /// Waits for the run that is going on. Nanoseconds of each run.
    Result<std::vector<int64_t>> stop();

private:
    enum class State : uint8_t { Idle, Asked, Runs, Stopping, Leaving };

    void loop(int threads);
    void repeat();

    PreparedOp& op_;
    std::atomic<State> state_ = State::Idle;
    std::vector<int64_t> times_; ///< of the thread while it runs
    Status status_ = Unit{};
    std::thread thread_; // last: starts when the others are there
};

/// Launches the collective while the other thread computes, until it is done. MPI moves data only while it is
/// called, so that this thread polls it all the time (the one that started MPI, as MPI_THREAD_FUNNELED asks).
/// It takes a processor's time from the compute, as such a transfer does; where every processor computes, the
/// two share. The compute's time is the median of its runs beside the transfer.
Result<TogetherTimes> runTogether(CollectiveOp& collective, ComputeThread& compute);

} // namespace gs::host

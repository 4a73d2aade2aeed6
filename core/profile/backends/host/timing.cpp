#include "timing.h"

#include "base/median.h"

#include <algorithm>
#include <chrono>
#include <omp.h>

namespace gs::host {

int64_t nowNs() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

ComputeThread::ComputeThread(PreparedOp& op, int threads)
    : op_(op), thread_([this, threads] { loop(threads); }) {}

ComputeThread::~ComputeThread() {
    if (state_ != State::Idle)
        stop();
    state_ = State::Leaving;
    state_.notify_all();
    thread_.join();
}

void ComputeThread::start() {
    times_.clear();
    status_ = Unit{};
    state_ = State::Asked;
    state_.notify_all();
    state_.wait(State::Asked);
}

Result<std::vector<int64_t>> ComputeThread::stop() {
    // A failed run leaves the thread idle already.
    State expected = State::Runs;
    if (state_.compare_exchange_strong(expected, State::Stopping))
        state_.wait(State::Stopping);
    if (!status_)
        return status_.error();
    return std::move(times_);
}

void ComputeThread::loop(int threads) {
    omp_set_num_threads(threads); // holds for the calling thread only
    while (true) {
        state_.wait(State::Idle);
        if (state_ == State::Leaving)
            return;
        state_ = State::Runs;
        state_.notify_all();
        try {
            repeat();
        } catch (const std::exception& fault) {
            status_ = Error{"run-failed", fault.what(), {}, ""};
        }
        state_ = State::Idle;
        state_.notify_all();
    }
}

void ComputeThread::repeat() {
    do {
        const int64_t begin = nowNs();
        status_ = op_.run();
        times_.push_back(nowNs() - begin);
    } while (status_ && state_ == State::Runs);
}

Result<TogetherTimes> runTogether(CollectiveOp& collective, ComputeThread& compute) {
    if (Status met = collective.meet(); !met)
        return met.error();
    compute.start();
    const int64_t begin = nowNs();
    const std::shared_ptr<MpiWork> work = collective.launch();
    while (!work->poll())
        std::this_thread::yield();
    const int64_t done = nowNs();
    Result<std::vector<int64_t>> times = compute.stop();
    Status waited = collective.wait(); // also after an error: the registry must not keep the work
    if (!times)
        return times.error();
    if (!waited)
        return waited.error();
    // The last run ended alone.
    if (times->size() > 1)
        times->pop_back();
    return TogetherTimes{done - begin, median(std::move(times).value())};
}

} // namespace gs::host

#include "timing.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

namespace gs::host {

namespace {

/// Polls a work in a thread of its own and notes when it is done. The thread is there before the launch:
/// starting one takes as long as a small transfer.
class Progress {
public:
    Progress() : thread_([this] { loop(); }) {}
    ~Progress() {
        stop_ = true;
        thread_.join();
    }
    void watch(std::shared_ptr<MpiWork> work) {
        work_ = std::move(work);
        ready_.store(true, std::memory_order_release);
    }
    /// 0 while it runs.
    int64_t doneNs() const { return done_ns_.load(std::memory_order_acquire); }

private:
    void loop() {
        while (!stop_) {
            if (!ready_.load(std::memory_order_acquire)) {
                std::this_thread::yield();
                continue;
            }
            if (work_->poll()) {
                done_ns_.store(nowNs(), std::memory_order_release);
                return;
            }
            std::this_thread::yield();
        }
    }

    std::shared_ptr<MpiWork> work_;
    std::atomic<bool> ready_ = false, stop_ = false;
    std::atomic<int64_t> done_ns_ = 0;
    std::thread thread_; // last: starts when the others are there
};

} // namespace

int64_t nowNs() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

int64_t medianNs(std::vector<int64_t> samples) {
    if (samples.empty())
        return 0;
    const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
    std::nth_element(samples.begin(), middle, samples.end());
    if (samples.size() % 2 == 1)
        return *middle;
    return (*middle + *std::max_element(samples.begin(), middle)) / 2;
}

Result<TogetherTimes> runTogether(CollectiveOp& collective, PreparedOp& compute, bool progress_thread) {
    std::optional<Progress> progress;
    if (progress_thread)
        progress.emplace();
    if (Status met = collective.meet(); !met)
        return met.error();
    const int64_t begin = nowNs();
    const std::shared_ptr<MpiWork> work = collective.launch();
    if (progress)
        progress->watch(work);
    std::vector<int64_t> computes;
    int64_t done = 0;
    Status computed = Unit{};
    do {
        const int64_t start = nowNs();
        computed = compute.run();
        computes.push_back(nowNs() - start);
        if (progress)
            done = progress->doneNs();
        else if (work->poll())
            done = nowNs();
    } while (computed.ok() && done == 0);
    Status waited = collective.wait(); // also after an error: the registry must not keep the work
    if (!computed)
        return computed.error();
    if (!waited)
        return waited.error();
    // The last run may have ended alone.
    if (computes.size() > 1)
        computes.pop_back();
    return TogetherTimes{done - begin, medianNs(std::move(computes))};
}

} // namespace gs::host

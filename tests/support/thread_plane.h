// Ranks as threads of one process.
#pragma once

#include "profile/control_plane.h"

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>

namespace gs::test {

/// What the ranks of one world share.
struct ThreadWorld {
    explicit ThreadWorld(int32_t ranks) : size(ranks), slots(static_cast<size_t>(ranks)) {}

    const int32_t size;
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<std::string> slots;
    std::vector<std::string> gathered;
    int32_t arrived = 0;
    uint64_t round = 0;
    bool lost = false; ///< a rank left
};

class ThreadControlPlane : public ControlPlane {
public:
    ThreadControlPlane(ThreadWorld& world, int32_t rank) : world_(world), rank_(rank) {}
    ~ThreadControlPlane() override { leave(); }

    int32_t rank() const override { return rank_; }
    int32_t size() const override { return world_.size; }
    int32_t localRank() const override { return rank_; }
    int32_t localSize() const override { return world_.size; }
    void setTimeLimit(std::optional<std::chrono::milliseconds> limit) override {
        limit_ = limit.value_or(kUsual);
    }

    Status barrier() override;
    Result<std::string> broadcast(std::string bytes, int32_t root) override;
    Result<std::vector<std::string>> allGather(const std::string& bytes) override;
    Result<std::vector<int64_t>> allMax(const std::vector<int64_t>& values) override;
    /// Others see a lost rank from now on.
    void leave();

private:
    static constexpr std::chrono::milliseconds kUsual{20'000};
    ThreadWorld& world_;
    const int32_t rank_;
    std::chrono::milliseconds limit_ = kUsual;
};

/// Runs `body` on `ranks` threads at once and waits for all.
void runRanks(int32_t ranks, const std::function<void(ThreadControlPlane&)>& body);

} // namespace gs::test

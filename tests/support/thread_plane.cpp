#include "support/thread_plane.h"

#include <algorithm>
#include <thread>

namespace gs::test {

Result<std::vector<std::string>> ThreadControlPlane::allGather(const std::string& bytes) {
    std::unique_lock lock(world_.mutex);
    const Error lost{"rank-lost", "a rank left", {}, ""};
    if (world_.lost)
        return lost;
    world_.slots[static_cast<size_t>(rank_)] = bytes;
    const uint64_t round = world_.round;
    if (++world_.arrived == world_.size) {
        world_.arrived = 0;
        world_.gathered = world_.slots;
        ++world_.round;
        world_.changed.notify_all();
        return world_.gathered;
    }
    world_.changed.wait_for(lock, limit_, [&] { return world_.round != round || world_.lost; });
    if (world_.round != round) // the next round cannot end before this rank is in it
        return world_.gathered;
    world_.lost = true;
    world_.changed.notify_all();
    return lost;
}

Status ThreadControlPlane::barrier() {
    const auto all = allGather({});
    return all ? Status(Unit{}) : Status(all.error());
}

Result<std::string> ThreadControlPlane::broadcast(std::string bytes, int32_t root) {
    auto all = allGather(bytes);
    if (!all)
        return all.error();
    return std::move(all.value()[static_cast<size_t>(root)]);
}

Result<std::vector<int64_t>> ThreadControlPlane::allMax(const std::vector<int64_t>& values) {
    const auto all = allGather(std::string(reinterpret_cast<const char*>(values.data()), values.size() * 8));
    if (!all)
        return all.error();
    std::vector<int64_t> most = values;
    for (const std::string& bytes : all.value()) {
        const auto* other = reinterpret_cast<const int64_t*>(bytes.data());
        for (size_t i = 0; i < most.size() && (i + 1) * 8 <= bytes.size(); ++i)
            most[i] = std::max(most[i], other[i]);
    }
    return most;
}

void ThreadControlPlane::leave() {
    const std::lock_guard lock(world_.mutex);
    world_.lost = true;
    world_.changed.notify_all();
}

void runRanks(int32_t ranks, const std::function<void(ThreadControlPlane&)>& body) {
    ThreadWorld world(ranks);
    std::vector<std::thread> threads;
    for (int32_t rank = 0; rank < ranks; ++rank)
        threads.emplace_back([&world, &body, rank] {
            ThreadControlPlane plane(world, rank);
            body(plane);
        });
    for (std::thread& thread : threads)
        thread.join();
}

} // namespace gs::test

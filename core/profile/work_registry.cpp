#include "profile/work_registry.h"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>

namespace gs {

/// State of a registry. Tree nodes, unlike a hash table's buckets, give all memory back.
struct WorkHome {
    WorkRegistry::Warn warn;
    mutable std::mutex mutex;
    std::map<StorageKey, std::vector<WorkPtr>> works;
    std::map<const Work*, std::vector<StorageKey>> storages; ///< of the works that are registered
    size_t contexts = 0;

    std::vector<WorkPtr> worksOf(StorageKey storage) const {
        const std::scoped_lock lock(mutex);
        const auto found = works.find(storage);
        return found == works.end() ? std::vector<WorkPtr>() : found->second;
    }

    void remove(const Work* work) {
        std::vector<WorkPtr> dropped; // destroyed without the lock: a work's destructor may use the registry
        const std::scoped_lock lock(mutex);
        const auto found = storages.find(work);
        if (found == storages.end())
            return;
        for (const StorageKey storage : found->second) {
            const auto entry = works.find(storage);
            std::vector<WorkPtr>& items = entry->second;
            const auto at = std::find_if(items.begin(), items.end(),
                                         [&](const WorkPtr& item) { return item.get() == work; });
            dropped.push_back(std::move(*at));
            items.erase(at);
            if (items.empty())
                works.erase(entry);
        }
        storages.erase(found);
    }

    /// Every work once: one may be registered for several storages.
    std::map<std::string, size_t> namesInFlight() const {
        const std::scoped_lock lock(mutex);
        std::map<std::string, size_t> names;
        for (const auto& [work, keys] : storages)
            ++names[work->opName()];
        return names;
    }

    size_t reportUnwaited() const {
        size_t count = 0;
        std::string list;
        for (const auto& [name, times] : namesInFlight()) {
            count += times;
            list += (list.empty() ? "" : ", ") + name;
            if (times > 1)
                list += fmt::format(" ({} times)", times);
        }
        if (count > 0)
            warn({Severity::Warning,
                  "unwaited-collectives",
                  {},
                  {},
                  fmt::format("{} collective{} launched and never waited for: {}", count,
                              count == 1 ? " was" : "s were", list),
                  "wait for the tensor or the work of each before its result is used or the program ends"});
        return count;
    }
};

Status Work::waitQuietly() {
    const std::scoped_lock lock(mutex_);
    if (!waited_) {
        result_ = finish();
        waited_ = true;
    }
    return result_;
}

Status Work::wait() {
    const WorkPtr self = weak_from_this().lock(); // the registry may hold the only other reference
    const bool repeated = waited_;
    Status result = waitQuietly();
    std::shared_ptr<WorkHome> home;
    {
        const std::scoped_lock lock(home_mutex_);
        home = home_.lock();
    }
    if (home && repeated)
        home->warn({Severity::Warning,
                    "waited-twice",
                    {},
                    op_name_,
                    fmt::format("\"{}\" was waited for before: this wait does nothing", op_name_),
                    "wait once for each collective"});
    if (home)
        home->remove(this);
    return result;
}

WorkRegistry::WorkRegistry(Warn warn) : home_(std::make_shared<WorkHome>()) {
    home_->warn = warn ? std::move(warn) : [](const Diagnostic& item) {
        std::fprintf(stderr, "warning: %s (%s)\n", item.message.c_str(), item.hint.c_str());
    };
}

WorkRegistry::~WorkRegistry() {
    home_->reportUnwaited();
}

WorkRegistry& WorkRegistry::global() {
    static WorkRegistry registry;
    return registry;
}

void WorkRegistry::launched(StorageKey storage, WorkPtr work, WorkOrigin origin) {
    if (!work || work->waited())
        return;
    {
        const std::scoped_lock lock(home_->mutex);
        if (origin == WorkOrigin::Plain && home_->contexts == 0)
            return;
        std::vector<WorkPtr>& items = home_->works[storage];
        if (std::find(items.begin(), items.end(), work) == items.end()) {
            items.push_back(work);
            home_->storages[work.get()].push_back(storage);
        }
    }
    {
        const std::scoped_lock lock(work->home_mutex_);
        work->home_ = home_;
    }
    if (work->waited()) // another thread waited for it meanwhile and did not find the entry
        home_->remove(work.get());
}

Status WorkRegistry::waitTensor(StorageKey storage, std::string_view op) {
    const std::vector<WorkPtr> works = home_->worksOf(storage);
    if (works.empty())
        home_->warn({Severity::Warning,
                     "wait-without-collective",
                     {},
                     std::string(op),
                     fmt::format("\"{}\" waits for a tensor that no collective in flight writes", op),
                     "it was waited for before, or launched by a plain collective outside of "
                     "AllowInflightCollectiveAsGraphInput"});
    Status result = Unit{};
    for (const WorkPtr& work : works) { // the entries stay until then: other threads must wait too
        Status status = work->waitQuietly();
        home_->remove(work.get());
        if (result.ok() && !status.ok())
            result = std::move(status);
    }
    return result;
}

size_t WorkRegistry::size() const {
    const std::scoped_lock lock(home_->mutex);
    return home_->storages.size();
}

bool WorkRegistry::allowsPlain() const {
    const std::scoped_lock lock(home_->mutex);
    return home_->contexts > 0;
}

size_t WorkRegistry::reportUnwaited() const {
    return home_->reportUnwaited();
}

AllowInflightCollectiveAsGraphInput::AllowInflightCollectiveAsGraphInput(WorkRegistry& registry)
    : home_(registry.home_) {
    const std::scoped_lock lock(home_->mutex);
    ++home_->contexts;
}

AllowInflightCollectiveAsGraphInput::~AllowInflightCollectiveAsGraphInput() {
    const std::scoped_lock lock(home_->mutex);
    --home_->contexts;
}

} // namespace gs

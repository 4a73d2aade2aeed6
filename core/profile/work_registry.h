// The registry of asynchronous collectives (document 004 in its final design): it lets one part of a program
// launch a collective and another part, which has only the tensor, wait for it. Without CUDA or MPI: a work
// is whatever can be waited for.
#pragma once

#include "base/diagnostics.h"

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace gs {

/// Identity of a tensor's memory: its address or any number that is unique while the memory lives.
using StorageKey = uint64_t;

class WorkRegistry;
struct WorkHome; ///< state of a registry

/// One launched collective. Made with std::make_shared.
class Work : public std::enable_shared_from_this<Work> {
public:
    explicit Work(std::string op_name) : op_name_(std::move(op_name)) {}
    virtual ~Work() = default;
    Work(const Work&) = delete;
    Work& operator=(const Work&) = delete;

    /// "all_gather_into_tensor", for people.
    const std::string& opName() const { return op_name_; }
    /// Blocks until the result may be used and takes the work out of its registry. A later call does nothing,
    /// returns the first one's result and, if the work was registered, is a warning ("waited-twice").
    /// Thread-safe: callers at the same time all return when the one that waits is done.
    Status wait();
    bool waited() const { return waited_; }

protected:
    /// Does the waiting; called once. "The result may be used" is enough: a stream of a device may be ordered
    /// behind it without the host standing still.
    virtual Status finish() = 0;

private:
    friend class WorkRegistry;

    Status waitQuietly();

    const std::string op_name_;
    std::mutex mutex_; ///< held while it waits
    std::atomic<bool> waited_ = false;
    Status result_ = Unit{};
    std::mutex home_mutex_;
    std::weak_ptr<WorkHome> home_; ///< of the registry that it was registered with
};

using WorkPtr = std::shared_ptr<Work>;

/// Who launched a collective.
enum class WorkOrigin : uint8_t {
    Functional, ///< a functional collective: its result is always waited for through the tensor
    Plain       ///< its caller holds the work and may never wait for it
};

/// Works in flight by storage. Works of functional collectives are always held (strong); works of plain ones
/// only while an AllowInflightCollectiveAsGraphInput is alive, else they leave nothing behind. An entry goes
/// when it is waited for, by Work::wait() or waitTensor(). All members are thread-safe.
class WorkRegistry {
public:
    /// Gets every warning; may be called from any thread. Without one they go to stderr.
    using Warn = std::function<void(const Diagnostic&)>;

    explicit WorkRegistry(Warn warn = {});
    /// Warns once about works that nobody waited for ("unwaited-collectives").
    ~WorkRegistry();
    WorkRegistry(const WorkRegistry&) = delete;
    WorkRegistry& operator=(const WorkRegistry&) = delete;

    /// The registry of the process.
    static WorkRegistry& global();

    /// Registers a launched work for the storage of its result. One storage may have several works, in order;
    /// the same work twice counts once (a functional collective launches a plain one underneath).
    void launched(StorageKey storage, WorkPtr work, WorkOrigin origin);
    /// Waits for all works of a storage, in order of their launches, and removes them. Without an entry it
    /// does nothing but warn ("wait-without-collective") with `op`, the name of what waits. Returns the first
    /// error.
    Status waitTensor(StorageKey storage, std::string_view op);

    size_t size() const; ///< works in flight
    bool allowsPlain() const;
    /// One warning with the number of works that nobody waited for and their names, if there are any; they
    /// stay. Returns their number.
    size_t reportUnwaited() const;

private:
    friend class AllowInflightCollectiveAsGraphInput;
    std::shared_ptr<WorkHome> home_; ///< shared with the works, which may outlive the registry
};

/// While one lives, works of plain collectives are registered, so that a graph may wait for them. Nests. It
/// counts for all threads: backward passes launch collectives from threads of their own.
class AllowInflightCollectiveAsGraphInput {
public:
    explicit AllowInflightCollectiveAsGraphInput(WorkRegistry& registry = WorkRegistry::global());
    ~AllowInflightCollectiveAsGraphInput();
    AllowInflightCollectiveAsGraphInput(const AllowInflightCollectiveAsGraphInput&) = delete;
    AllowInflightCollectiveAsGraphInput& operator=(const AllowInflightCollectiveAsGraphInput&) = delete;

private:
    std::shared_ptr<WorkHome> home_;
};

} // namespace gs

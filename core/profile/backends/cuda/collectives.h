// NCCL: one communicator for the world, one for each list of ranks that a collective is issued on.
#pragma once

#include "profile/backends/cuda/cuda_op.h"
#include "profile/work_registry.h"

#include <map>
#include <nccl.h>
#include <optional>

namespace gs::cuda {

/// A collective on the device. Its work ends when an event behind it on its stream has come.
class CollectiveOp : public CudaOp {
public:
    using CudaOp::CudaOp;
    /// Launches it and registers the work under storage(); the waiter's stream is ordered behind it.
    Status launchAsync(WorkRegistry& registry, cudaStream_t stream, cudaStream_t waiter);
    virtual StorageKey storage() const = 0;
    virtual const char* opName() const = 0;

private:
    /// Events of works that are done, so that ten thousand launches make as few as are in flight at once.
    std::shared_ptr<std::vector<EventPtr>> spare_ = std::make_shared<std::vector<EventPtr>>();
};

class Communicators {
public:
    explicit Communicators(ControlPlane& plane) : plane_(plane) {}
    /// Aborts what is still running: a lost rank must not hold up the end of the program.
    ~Communicators();
    Communicators(const Communicators&) = delete;
    Communicators& operator=(const Communicators&) = delete;

    /// All ranks of the world call it in the same order; those outside spec.ranks get a null pointer.
    Result<std::unique_ptr<CollectiveOp>> prepare(const CollectiveSpec& spec, cudaStream_t stream);

private:
    Result<ncclComm_t> world();
    Result<ncclComm_t> of(const std::vector<int32_t>& ranks);

    ControlPlane& plane_;
    ncclComm_t world_ = nullptr;
    std::optional<Error> broken_; ///< a communicator did not get ready: none is asked for again
    std::map<std::vector<int32_t>, ncclComm_t> groups_; ///< null on ranks outside
};

} // namespace gs::cuda

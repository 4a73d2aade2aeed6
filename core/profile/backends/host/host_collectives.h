// Collectives between hosts, by MPI on the ranks that take part. Alone and beside compute they are the same
// non-blocking calls, so that the two times compare.
#pragma once

#include "profile/backend.h"
#include "profile/work_registry.h"

#include <map>
#include <memory>
#include <mpi.h>
#include <mutex>
#include <vector>

namespace gs::host {

/// MPI requests of one launch. Memory of the transfer must outlive it.
class MpiWork : public Work {
public:
    MpiWork(std::string op_name, std::vector<MPI_Request> requests)
        : Work(std::move(op_name)), requests_(std::move(requests)) {}

    /// Lets MPI move data on; true when all is done. Thread-safe.
    bool poll();

protected:
    Status finish() override;

private:
    std::mutex mutex_;
    std::vector<MPI_Request> requests_;
    bool done_ = false;
    int fault_ = MPI_SUCCESS;
};

class CollectiveOp : public PreparedOp {
public:
    CollectiveOp(CollectiveSpec spec, MPI_Comm comm, WorkRegistry& registry);
    ~CollectiveOp() override;

    /// Launches, registers and waits.
    Status run() override;
    /// Starts it; the registry holds the work under storage(). Throws std::runtime_error if MPI refuses.
    std::shared_ptr<MpiWork> launch();
    Status wait();
    StorageKey storage() const;
    /// All ranks of the collective meet.
    Status meet();

    std::vector<std::byte> input, output; ///< what this rank sends and receives; members one after another
    const CollectiveSpec& spec() const { return spec_; }

private:
    void launchMembers(std::vector<MPI_Request>& requests);
    int launchOne(const std::byte* from, int64_t input_bytes, std::byte* to, MPI_Request* request);

    CollectiveSpec spec_;
    MPI_Comm comm_; ///< of the cache; not freed here
    WorkRegistry& registry_;
    MPI_Op sum_ = MPI_SUM;
    MPI_Datatype type_ = MPI_BYTE;
    int ranks_ = 1;
};

/// Communicators by the ranks that they join, made once.
class Communicators {
public:
    ~Communicators();
    /// Called by the members only, at the same time.
    Result<MPI_Comm> of(const std::vector<int32_t>& ranks);

private:
    std::map<std::vector<int32_t>, MPI_Comm> known_;
};

/// Bytes that this rank needs for it.
int64_t collectiveBytes(const CollectiveSpec& spec);
/// "not-supported" for kinds, types and sizes that MPI does not have.
Status checkCollective(const CollectiveSpec& spec);
bool mpiRuns(); ///< started and not ended
std::string mpiVersion();

} // namespace gs::host

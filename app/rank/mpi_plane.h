// The control plane over MPI. Works under mpirun and srun alike: rank and local rank come from MPI itself.
#pragma once

#include "profile/control_plane.h"

#include <mpi.h>

namespace gs {

/// Between MPI_Init and MPI_Finalize. Never blocks inside MPI: each call starts a nonblocking collective and
/// tests it, sleeping in between, so that a time limit holds and a waiting rank leaves its core to the
/// others.
class MpiPlane : public ControlPlane {
public:
    explicit MpiPlane(std::chrono::milliseconds usual_limit);

    int32_t rank() const override { return rank_; }
    int32_t size() const override { return size_; }
    int32_t localRank() const override { return local_rank_; }
    int32_t localSize() const override { return local_size_; }
    void setTimeLimit(std::optional<std::chrono::milliseconds> limit) override {
        limit_ = limit.value_or(usual_limit_);
    }

    Status barrier() override;
    Result<std::string> broadcast(std::string bytes, int32_t root) override;
    Result<std::vector<std::string>> allGather(const std::string& bytes) override;
    Result<std::vector<int64_t>> allMax(const std::vector<int64_t>& values) override;

private:
    /// Waits for a started collective; `started` is what starting it returned.
    Status finish(int started, MPI_Request request, const char* what) const;

    MPI_Comm comm_ = MPI_COMM_NULL; ///< own: measured collectives never meet these
    int rank_ = 0, size_ = 1, local_rank_ = 0, local_size_ = 1;
    std::chrono::milliseconds usual_limit_;
    std::chrono::milliseconds limit_;
    // Buffers live here: after a time-out MPI may still write into them.
    std::string send_, received_;
    std::vector<int> lengths_, offsets_;
    std::vector<int64_t> numbers_, most_;
    int64_t length_ = 0;
};

} // namespace gs

#include "app/rank/mpi_plane.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <thread>

namespace gs {

using Clock = std::chrono::steady_clock;

MpiPlane::MpiPlane(std::chrono::milliseconds usual_limit) : usual_limit_(usual_limit), limit_(usual_limit) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
    MPI_Comm local = MPI_COMM_NULL;
    MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &local);
    MPI_Comm_rank(local, &local_rank_);
    MPI_Comm_size(local, &local_size_);
    MPI_Comm_free(&local);
}

Status MpiPlane::finish(int started, MPI_Request request, const char* what) const {
    constexpr std::chrono::microseconds kShortest{20}, kLongest{2000};
    const auto end = Clock::now() + limit_;
    auto pause = kShortest;
    int code = started, done = 0;
    while (code == MPI_SUCCESS) {
        code = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (code == MPI_SUCCESS && done)
            return Unit{};
        if (Clock::now() > end)
            return Error{"rank-lost",
                         fmt::format("rank {} waited {:.0f} s for the others in {}", rank_,
                                     std::chrono::duration<double>(limit_).count(), what),
                         {},
                         "another rank hangs, is much slower, or ended"};
        std::this_thread::sleep_for(pause);
        pause = std::min(kLongest, pause * 2);
    }
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(code, text, &length);
    return Error{"rank-lost", fmt::format("MPI reports in {}: {}", what, text), {}, "another rank ended"};
}

Status MpiPlane::barrier() {
    MPI_Request request = MPI_REQUEST_NULL;
    const int started = MPI_Ibarrier(comm_, &request);
    return finish(started, request, "a barrier");
}

Result<std::string> MpiPlane::broadcast(std::string bytes, int32_t root) {
    MPI_Request request = MPI_REQUEST_NULL;
    received_ = std::move(bytes);
    length_ = static_cast<int64_t>(received_.size());
    int started = MPI_Ibcast(&length_, 1, MPI_INT64_T, root, comm_, &request);
    if (const Status status = finish(started, request, "a broadcast"); !status)
        return status.error();
    received_.resize(static_cast<size_t>(length_));
    if (length_ > std::numeric_limits<int>::max())
        return Error{"too-big", "a message is too big for MPI", {}, ""};
    started = MPI_Ibcast(received_.data(), static_cast<int>(length_), MPI_CHAR, root, comm_, &request);
    if (const Status status = finish(started, request, "a broadcast"); !status)
        return status.error();
    return received_;
}

Result<std::vector<std::string>> MpiPlane::allGather(const std::string& bytes) {
    MPI_Request request = MPI_REQUEST_NULL;
    send_ = bytes;
    length_ = static_cast<int64_t>(send_.size());
    numbers_.assign(static_cast<size_t>(size_), 0);
    int started = MPI_Iallgather(&length_, 1, MPI_INT64_T, numbers_.data(), 1, MPI_INT64_T, comm_, &request);
    if (const Status status = finish(started, request, "an exchange"); !status)
        return status.error();
    lengths_.clear();
    offsets_.clear();
    int64_t total = 0;
    for (const int64_t length : numbers_) {
        lengths_.push_back(static_cast<int>(std::min<int64_t>(length, std::numeric_limits<int>::max())));
        offsets_.push_back(static_cast<int>(std::min<int64_t>(total, std::numeric_limits<int>::max())));
        total += length;
    }
    if (total > std::numeric_limits<int>::max()) // all ranks see the same numbers
        return Error{"too-big", "the ranks' messages together are too big for MPI", {}, ""};
    received_.resize(static_cast<size_t>(total));
    started = MPI_Iallgatherv(send_.data(), static_cast<int>(send_.size()), MPI_CHAR, received_.data(),
                              lengths_.data(), offsets_.data(), MPI_CHAR, comm_, &request);
    if (const Status status = finish(started, request, "an exchange"); !status)
        return status.error();
    std::vector<std::string> all;
    for (size_t r = 0; r < lengths_.size(); ++r)
        all.push_back(received_.substr(static_cast<size_t>(offsets_[r]), static_cast<size_t>(lengths_[r])));
    return all;
}

Result<std::vector<int64_t>> MpiPlane::allMax(const std::vector<int64_t>& values) {
    MPI_Request request = MPI_REQUEST_NULL;
    numbers_ = values;
    most_.assign(values.size(), 0);
    const int started = MPI_Iallreduce(numbers_.data(), most_.data(), static_cast<int>(values.size()),
                                       MPI_INT64_T, MPI_MAX, comm_, &request);
    if (const Status status = finish(started, request, "a reduction"); !status)
        return status.error();
    return most_;
}

} // namespace gs

#include "profile/backends/cuda/collectives.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <thread>

namespace gs::cuda {

namespace {

constexpr std::chrono::seconds kSetUpLimit{60};

Error ncclFailure(ncclResult_t result, const char* what) {
    return {"collective-failed", fmt::format("{}: {}", what, ncclGetErrorString(result)), {}, {}};
}

/// Communicators do not block: a call that is still going on is asked after until the limit. Whoever owns the
/// communicator aborts it then.
Status settled(ncclComm_t comm, ncclResult_t result, const char* what) {
    const auto start = std::chrono::steady_clock::now();
    while (result == ncclInProgress) {
        if (std::chrono::steady_clock::now() - start > kSetUpLimit)
            return Error{
                "timed-out", fmt::format("{}: not done after {} s", what, kSetUpLimit.count()), {}, {}};
        std::this_thread::sleep_for(std::chrono::microseconds(100));
        ncclCommGetAsyncError(comm, &result);
    }
    return result == ncclSuccess ? Status(Unit{}) : ncclFailure(result, what);
}

std::optional<ncclDataType_t> dataType(DType dtype) {
    switch (dtype) {
    case DType::Float64:
        return ncclFloat64;
    case DType::Float32:
        return ncclFloat32;
    case DType::Float16:
        return ncclFloat16;
    case DType::BFloat16:
        return ncclBfloat16;
    case DType::Int64:
        return ncclInt64;
    case DType::Int32:
        return ncclInt32;
    case DType::Int8:
        return ncclInt8;
    case DType::UInt8:
    case DType::Bool:
        return ncclUint8;
    default:
        return std::nullopt;
    }
}

bool reduces(CollectiveKind kind) {
    return kind == CollectiveKind::ReduceScatter || kind == CollectiveKind::ReduceScatterCoalesced ||
           kind == CollectiveKind::AllReduce || kind == CollectiveKind::AllReduceCoalesced;
}

class EventWork final : public Work {
public:
    EventWork(const char* op, EventPtr done, std::shared_ptr<std::vector<EventPtr>> spare,
              cudaStream_t waiter)
        : Work(op), done_(std::move(done)), spare_(std::move(spare)), waiter_(waiter) {}

protected:
    Status finish() override {
        const Status ordered = checked(cudaStreamWaitEvent(waiter_, done_->get(), 0), "cudaStreamWaitEvent");
        spare_->push_back(std::move(done_));
        return ordered;
    }

private:
    EventPtr done_;
    std::shared_ptr<std::vector<EventPtr>> spare_;
    cudaStream_t waiter_;
};

class NcclOp final : public CollectiveOp {
public:
    NcclOp(const CollectiveSpec& spec, ncclComm_t comm, cudaStream_t stream)
        : CollectiveOp(stream), spec_(spec), comm_(comm), name_(collectiveKindName(spec.kind)) {
        type_ = dataType(spec.dtype).value_or(ncclInt8);
        if (!reduces(spec.kind)) // bytes are as good as any type, and every size has them
            type_ = ncclInt8;
        element_ = reduces(spec.kind) ? dtypeBytes(spec.dtype) : 1;
    }

    Status allocate() {
        if (reduces(spec_.kind) && !dataType(spec_.dtype))
            return Error{"not-supported", "reductions of this type", {}, {}};
        if (Status room = fits(spec_.input_bytes + spec_.output_bytes); !room)
            return room;
        for (auto [memory, bytes] : {std::pair(&input_, spec_.input_bytes), {&output_, spec_.output_bytes}}) {
            Result<DeviceMemory> made = DeviceMemory::allocate(bytes);
            if (!made)
                return made.error();
            *memory = std::move(made.value());
            if (Status filled = fillNumbers(*memory, spec_.dtype); !filled)
                return filled;
        }
        return Unit{};
    }

    Status launch(cudaStream_t stream) override {
        ncclResult_t result = ncclGroupStart();
        if (result == ncclSuccess)
            result = issue(stream);
        const ncclResult_t ended = ncclGroupEnd();
        if (result != ncclSuccess && result != ncclInProgress)
            return ncclFailure(result, name_.c_str());
        return settled(comm_, ended, name_.c_str());
    }

    Status failure() override {
        ncclResult_t state = ncclSuccess;
        const ncclResult_t asked = ncclCommGetAsyncError(comm_, &state);
        if (asked != ncclSuccess)
            return ncclFailure(asked, "ncclCommGetAsyncError");
        return state == ncclSuccess || state == ncclInProgress ? Status(Unit{})
                                                               : ncclFailure(state, name_.c_str());
    }

    StorageKey storage() const override { return reinterpret_cast<StorageKey>(output_.data()); }
    const char* opName() const override { return name_.c_str(); }

private:
    ncclResult_t issue(cudaStream_t stream) {
        // Members of a coalesced one lie side by side; a plain one is its only member.
        std::vector<int64_t> members = spec_.member_bytes;
        if (members.empty())
            members = {spec_.input_bytes};
        const char* from = static_cast<const char*>(input_.data());
        char* to = static_cast<char*>(output_.data());
        const auto ranks = static_cast<int64_t>(spec_.ranks.size());
        for (int64_t bytes : members) {
            const ncclResult_t result = issueOne(from, to, bytes, ranks, stream);
            if (result != ncclSuccess && result != ncclInProgress)
                return result;
            from += bytes;
            to += outputBytes(bytes, ranks);
        }
        return ncclSuccess;
    }

    int64_t outputBytes(int64_t bytes, int64_t ranks) const {
        switch (spec_.kind) {
        case CollectiveKind::AllGather:
        case CollectiveKind::AllGatherCoalesced:
            return bytes * ranks;
        case CollectiveKind::ReduceScatter:
        case CollectiveKind::ReduceScatterCoalesced:
            return bytes / ranks;
        default:
            return bytes;
        }
    }

    ncclResult_t issueOne(const char* from, char* to, int64_t bytes, int64_t ranks, cudaStream_t stream) {
        const auto count = static_cast<size_t>(bytes / element_);
        switch (spec_.kind) {
        case CollectiveKind::AllGather:
        case CollectiveKind::AllGatherCoalesced:
            return ncclAllGather(from, to, count, type_, comm_, stream);
        case CollectiveKind::ReduceScatter:
        case CollectiveKind::ReduceScatterCoalesced:
            return ncclReduceScatter(from, to, count / static_cast<size_t>(ranks), type_, ncclSum, comm_,
                                     stream);
        case CollectiveKind::AllReduce:
        case CollectiveKind::AllReduceCoalesced:
            return ncclAllReduce(from, to, count, type_, ncclSum, comm_, stream);
        case CollectiveKind::Broadcast:
            return ncclBroadcast(from, to, count, type_, 0, comm_, stream);
        default:
            return allToAll(from, to, bytes / ranks, ranks, stream);
        }
    }

    /// torch sends and receives one piece per rank in one group (torch/csrc/cuda/nccl.cpp).
    ncclResult_t allToAll(const char* from, char* to, int64_t piece, int64_t ranks, cudaStream_t stream) {
        const auto count = static_cast<size_t>(piece);
        for (int64_t rank = 0; rank < ranks; ++rank) {
            const int peer = static_cast<int>(rank);
            ncclResult_t result = ncclSend(from + rank * piece, count, type_, peer, comm_, stream);
            if (result == ncclSuccess || result == ncclInProgress)
                result = ncclRecv(to + rank * piece, count, type_, peer, comm_, stream);
            if (result != ncclSuccess && result != ncclInProgress)
                return result;
        }
        return ncclSuccess;
    }

    CollectiveSpec spec_;
    ncclComm_t comm_;
    std::string name_;
    ncclDataType_t type_ = ncclInt8;
    int64_t element_ = 1;
    DeviceMemory input_, output_;
};

} // namespace

Status CollectiveOp::launchAsync(WorkRegistry& registry, cudaStream_t stream, cudaStream_t waiter) {
    if (Status launched = launch(stream); !launched)
        return launched;
    EventPtr done;
    if (spare_->empty()) {
        done = std::make_shared<Event>();
    } else {
        done = std::move(spare_->back());
        spare_->pop_back();
    }
    if (Status recorded = checked(cudaEventRecord(done->get(), stream), "cudaEventRecord"); !recorded)
        return recorded;
    registry.launched(storage(), std::make_shared<EventWork>(opName(), std::move(done), spare_, waiter),
                      WorkOrigin::Functional);
    return Unit{};
}

Communicators::~Communicators() {
    for (auto& [ranks, comm] : groups_) {
        if (comm && comm != world_)
            ncclCommAbort(comm);
    }
    if (world_)
        ncclCommAbort(world_);
}

Result<ncclComm_t> Communicators::world() {
    if (broken_)
        return *broken_;
    if (world_)
        return world_;
    ncclUniqueId id{};
    if (plane_.rank() == 0) {
        if (const ncclResult_t made = ncclGetUniqueId(&id); made != ncclSuccess)
            return ncclFailure(made, "ncclGetUniqueId");
    }
    const Result<std::string> shared = plane_.broadcast(std::string(id.internal, sizeof(id.internal)), 0);
    if (!shared)
        return shared.error();
    if (shared->size() != sizeof(id.internal))
        return Error{"collective-failed", "rank 0 sent no NCCL id", {}, {}};
    std::copy(shared->begin(), shared->end(), id.internal);
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    ncclComm_t made = nullptr;
    const ncclResult_t result = ncclCommInitRankConfig(&made, plane_.size(), id, plane_.rank(), &config);
    world_ = made; // aborted with the others if it does not get ready
    if (Status ready = settled(made, result, "ncclCommInitRankConfig"); !ready)
        return *(broken_ = ready.error());
    return world_;
}

Result<ncclComm_t> Communicators::of(const std::vector<int32_t>& ranks) {
    if (auto found = groups_.find(ranks); found != groups_.end() && !broken_)
        return found->second;
    const Result<ncclComm_t> all = world();
    if (!all)
        return all;
    ncclComm_t made = nullptr;
    if (ranks.size() == static_cast<size_t>(plane_.size())) {
        made = all.value();
    } else {
        const bool inside = std::ranges::count(ranks, plane_.rank()) > 0;
        ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
        config.blocking = 0;
        const ncclResult_t result =
            ncclCommSplit(all.value(), inside ? 0 : NCCL_SPLIT_NOCOLOR, plane_.rank(), &made, &config);
        if (Status ready = settled(all.value(), result, "ncclCommSplit"); !ready)
            return *(broken_ = ready.error());
        groups_[ranks] = made;
        if (inside) {
            ncclResult_t state = ncclInProgress;
            ncclCommGetAsyncError(made, &state);
            if (Status ready = settled(made, state, "ncclCommSplit"); !ready)
                return *(broken_ = ready.error());
        }
    }
    return groups_[ranks] = made;
}

Result<std::unique_ptr<CollectiveOp>> Communicators::prepare(const CollectiveSpec& spec,
                                                             cudaStream_t stream) {
    const bool inside = std::ranges::count(spec.ranks, plane_.rank()) > 0;
    if (spec.kind == CollectiveKind::None || spec.kind == CollectiveKind::Other ||
        spec.kind == CollectiveKind::InFlight)
        return Error{"not-supported", "a collective of this kind", {}, {}};
    const Result<ncclComm_t> comm = of(spec.ranks);
    if (!comm)
        return comm.error();
    if (!inside)
        return std::unique_ptr<CollectiveOp>();
    auto op = std::make_unique<NcclOp>(spec, comm.value(), stream);
    if (Status ready = op->allocate(); !ready)
        return ready.error();
    return std::unique_ptr<CollectiveOp>(std::move(op));
}

} // namespace gs::cuda

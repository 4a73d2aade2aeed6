#include "host_collectives.h"

#include "half.h"
#include "host_op.h"

#include <climits>
#include <fmt/format.h>
#include <numeric>
#include <stdexcept>

namespace gs::host {

namespace {

std::string mpiMessage(int fault) {
    char text[MPI_MAX_ERROR_STRING] = {};
    int length = 0;
    MPI_Error_string(fault, text, &length);
    return {text, static_cast<size_t>(length)};
}

bool reduces(CollectiveKind kind) {
    return kind == CollectiveKind::AllReduce || kind == CollectiveKind::ReduceScatter;
}

template <float (*from)(uint16_t), uint16_t (*to)(float)>
void addHalves(void* in, void* inout, int* count, MPI_Datatype*) {
    const auto* a = static_cast<const uint16_t*>(in);
    auto* b = static_cast<uint16_t*>(inout);
    for (int i = 0; i < *count; ++i)
        b[i] = to(from(a[i]) + from(b[i]));
}

/// MPI has no 16-bit floating types: sums of them are ours, what goes over the wire are their 16 bits.
template <float (*from)(uint16_t), uint16_t (*to)(float)>
MPI_Op halfSum() {
    static const MPI_Op kOp = [] {
        MPI_Op op = MPI_OP_NULL;
        MPI_Op_create(addHalves<from, to>, 1, &op);
        return op;
    }();
    return kOp;
}

MPI_Datatype mpiType(DType dtype) {
    switch (dtype) {
    case DType::Float64:
        return MPI_DOUBLE;
    case DType::Float32:
        return MPI_FLOAT;
    case DType::Float16:
    case DType::BFloat16:
        return MPI_UINT16_T;
    case DType::Int64:
        return MPI_INT64_T;
    case DType::Int32:
        return MPI_INT32_T;
    case DType::Int16:
        return MPI_INT16_T;
    case DType::Int8:
        return MPI_INT8_T;
    case DType::UInt8:
        return MPI_UINT8_T;
    default:
        return MPI_DATATYPE_NULL;
    }
}

/// Members of a coalesced collective, or the one.
std::vector<int64_t> memberBytes(const CollectiveSpec& spec) {
    if (spec.kind == CollectiveKind::AllGatherCoalesced && !spec.member_bytes.empty())
        return spec.member_bytes;
    return {spec.input_bytes};
}

/// What a rank sends of a reduce-scatter is what all receive of it.
int64_t sentBytes(const CollectiveSpec& spec) {
    const int64_t ranks = static_cast<int64_t>(spec.ranks.size());
    if (spec.kind == CollectiveKind::ReduceScatter)
        return std::max(spec.output_bytes, int64_t{0}) * ranks;
    const std::vector<int64_t> members = memberBytes(spec);
    return std::accumulate(members.begin(), members.end(), int64_t{0});
}

int64_t receivedBytes(const CollectiveSpec& spec) {
    switch (spec.kind) {
    case CollectiveKind::AllGather:
    case CollectiveKind::AllGatherCoalesced:
        return sentBytes(spec) * static_cast<int64_t>(spec.ranks.size());
    case CollectiveKind::ReduceScatter:
        return spec.output_bytes;
    default:
        return sentBytes(spec);
    }
}

} // namespace

bool mpiRuns() {
    int started = 0, ended = 0;
    MPI_Initialized(&started);
    MPI_Finalized(&ended);
    return started && !ended;
}

std::string mpiVersion() {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
    int length = 0;
    MPI_Get_library_version(text, &length);
    const std::string whole(text, static_cast<size_t>(length));
    return whole.substr(0, whole.find_first_of(",\n"));
}

bool MpiWork::poll() {
    const std::scoped_lock lock(mutex_);
    if (!done_) {
        int flag = 0;
        fault_ =
            MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &flag, MPI_STATUSES_IGNORE);
        done_ = flag || fault_ != MPI_SUCCESS;
    }
    return done_;
}

Status MpiWork::finish() {
    const std::scoped_lock lock(mutex_);
    if (!done_)
        fault_ = MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    done_ = true;
    if (fault_ != MPI_SUCCESS)
        return Error{"collective-failed", fmt::format("{}: {}", opName(), mpiMessage(fault_)), {}, ""};
    return Unit{};
}

CollectiveOp::CollectiveOp(CollectiveSpec spec, MPI_Comm comm, WorkRegistry& registry)
    : spec_(std::move(spec)), comm_(comm), registry_(registry) {
    ranks_ = static_cast<int>(spec_.ranks.size());
    input.resize(static_cast<size_t>(std::max<int64_t>(sentBytes(spec_), 1)));
    output.resize(static_cast<size_t>(std::max<int64_t>(receivedBytes(spec_), 1)));
    TensorSpec values{spec_.dtype, {}, {1}, InputFill::Positive, 0};
    if (const int64_t size = dtypeBytes(spec_.dtype); size > 0) {
        values.shape = {sentBytes(spec_) / size};
        fillTensor(values, input.data());
    }
    if (!reduces(spec_.kind))
        return;
    type_ = mpiType(spec_.dtype);
    if (spec_.dtype == DType::BFloat16)
        sum_ = halfSum<fromBFloat16, toBFloat16>();
    if (spec_.dtype == DType::Float16)
        sum_ = halfSum<fromFloat16, toFloat16>();
}

CollectiveOp::~CollectiveOp() = default;

StorageKey CollectiveOp::storage() const {
    return reinterpret_cast<StorageKey>(output.data());
}

int CollectiveOp::launchOne(const std::byte* from, int64_t input_bytes, std::byte* to, MPI_Request* request) {
    const int bytes = static_cast<int>(input_bytes);
    const int element = static_cast<int>(std::max<int64_t>(dtypeBytes(spec_.dtype), 1));
    switch (spec_.kind) {
    case CollectiveKind::AllGather:
    case CollectiveKind::AllGatherCoalesced:
        return MPI_Iallgather(from, bytes, MPI_BYTE, to, bytes, MPI_BYTE, comm_, request);
    case CollectiveKind::ReduceScatter:
        return MPI_Ireduce_scatter_block(from, to, static_cast<int>(spec_.output_bytes) / element, type_,
                                         sum_, comm_, request);
    case CollectiveKind::AllReduce:
        return MPI_Iallreduce(from, to, bytes / element, type_, sum_, comm_, request);
    case CollectiveKind::AllToAll:
        return MPI_Ialltoall(from, bytes / ranks_, MPI_BYTE, to, bytes / ranks_, MPI_BYTE, comm_, request);
    default: // Broadcast: from the first rank, in place
        return MPI_Ibcast(to, bytes, MPI_BYTE, 0, comm_, request);
    }
}

std::shared_ptr<MpiWork> CollectiveOp::launch() {
    std::vector<MPI_Request> requests;
    int64_t from = 0, to = 0;
    for (const int64_t bytes : memberBytes(spec_)) {
        requests.push_back(MPI_REQUEST_NULL);
        const int fault = launchOne(input.data() + from, bytes, output.data() + to, &requests.back());
        if (fault != MPI_SUCCESS)
            throw std::runtime_error(
                fmt::format("{}: {}", collectiveKindName(spec_.kind), mpiMessage(fault)));
        from += bytes;
        to += bytes * ranks_;
    }
    auto work = std::make_shared<MpiWork>(std::string(collectiveKindName(spec_.kind)), std::move(requests));
    registry_.launched(storage(), work, WorkOrigin::Functional);
    return work;
}

Status CollectiveOp::wait() {
    return registry_.waitTensor(storage(), collectiveKindName(spec_.kind));
}

Status CollectiveOp::run() {
    launch();
    return wait();
}

Status CollectiveOp::meet() {
    const int fault = MPI_Barrier(comm_);
    if (fault != MPI_SUCCESS)
        return Error{"collective-failed", "barrier: " + mpiMessage(fault), {}, ""};
    return Unit{};
}

Communicators::~Communicators() {
    for (auto& [ranks, comm] : known_) {
        if (mpiRuns())
            MPI_Comm_free(&comm);
    }
}

Result<MPI_Comm> Communicators::of(const std::vector<int32_t>& ranks) {
    const auto found = known_.find(ranks);
    if (found != known_.end())
        return found->second;
    MPI_Group world = MPI_GROUP_NULL, group = MPI_GROUP_NULL;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, static_cast<int>(ranks.size()), ranks.data(), &group);
    // Only the members call it: ranks outside need not know which groups there are.
    const int fault = MPI_Comm_create_group(MPI_COMM_WORLD, group, 0, &comm);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    if (fault != MPI_SUCCESS)
        return Error{"collective-failed", "communicator: " + mpiMessage(fault), {}, ""};
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    known_[ranks] = comm;
    return comm;
}

int64_t collectiveBytes(const CollectiveSpec& spec) {
    return sentBytes(spec) + receivedBytes(spec);
}

Status checkCollective(const CollectiveSpec& spec) {
    switch (spec.kind) {
    case CollectiveKind::AllGather:
    case CollectiveKind::AllGatherCoalesced:
    case CollectiveKind::ReduceScatter:
    case CollectiveKind::AllReduce:
    case CollectiveKind::AllToAll:
    case CollectiveKind::Broadcast:
        break;
    default:
        return notSupported(fmt::format("{} is not measured on hosts", collectiveKindName(spec.kind)));
    }
    if (reduces(spec.kind) && mpiType(spec.dtype) == MPI_DATATYPE_NULL)
        return notSupported(fmt::format("MPI has no sum of {}", dtypeName(spec.dtype)));
    if (spec.input_bytes < 0 || spec.output_bytes < 0)
        return Error{"unknown-shape", "the collective's size is not known", {}, "give the symbols hints"};
    const int64_t each = spec.kind == CollectiveKind::ReduceScatter ? spec.output_bytes : spec.input_bytes;
    if (each > INT_MAX)
        return notSupported("MPI counts to 2 GiB per call");
    return Unit{};
}

} // namespace gs::host

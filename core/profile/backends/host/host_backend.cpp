#include "host_backend.h"

#include "base/median.h"
#include "base/units.h"
#include "host_region.h"
#include "timing.h"

#include <algorithm>
#include <fmt/format.h>
#include <new>
#include <omp.h>
#include <thread>
#include <unistd.h>

namespace gs::host {

namespace {

/// Part of the free memory that stays free: for MPI's buffers and what oneDNN packs.
constexpr double kUsableShare = 0.85;

/// An even share of the machine's processors where ranks are not bound to some of them.
int threadsFor(const ControlPlane& plane) {
    const int usable = usableProcessors();
    const bool bound = usable < static_cast<int>(std::thread::hardware_concurrency());
    return bound ? usable : std::max(1, usable / std::max(1, plane.localSize()));
}

/// oneDNN and the collectives throw when a call fails.
template <typename F>
auto withoutExceptions(F call) -> decltype(call()) {
    try {
        return call();
    } catch (const std::exception& fault) {
        return Error{"run-failed", fault.what(), {}, ""};
    }
}

} // namespace

HostBackend::HostBackend(ControlPlane& plane, WorkRegistry& registry)
    : plane_(plane), registry_(registry), threads_(threadsFor(plane)) {
    omp_set_num_threads(threads_);
}

HostBackend::~HostBackend() = default;

DeviceFacts HostBackend::facts() {
    return hostFacts(threads_);
}

Status HostBackend::checkMemory(int64_t wanted) const {
    const int64_t free = memory_limit_ >= 0 ? memory_limit_ : availableBytes();
    // Every rank of this machine makes its tensors at the same time.
    const int64_t share = free / std::max(1, plane_.localSize());
    if (static_cast<double>(wanted) <= static_cast<double>(share) * kUsableShare)
        return Unit{};
    return Error{"would-not-fit",
                 fmt::format("it needs {}, of {} that are free {} are this rank's share", formatBytes(wanted),
                             formatBytes(free), formatBytes(share)),
                 {},
                 "measure on a machine with more memory, or with fewer ranks on it"};
}

bool knowsOperator(const Graph& graph, NodeId node) {
    if (!graph.isCall(node))
        return false;
    const OpCall call(graph, node, {});
    return !call.name.empty() && makerOf(call.name) != nullptr;
}

Result<std::unique_ptr<PreparedOp>> HostBackend::prepare(const Graph& graph, NodeId node) {
    if (!knowsOperator(graph, node))
        return notSupported(fmt::format("the host backend does not know {}", graph.targetText(node)));
    Result<BenchmarkInputs> inputs = BenchmarkInputRegistry::global().make(graph, node);
    if (!inputs)
        return inputs.error();
    if (Status fits = checkMemory(inputs->bytes()); !fits)
        return fits.error();
    try {
        OpCall call(graph, node, std::move(inputs).value());
        call.materialise();
        Result<Body> body = makerOf(call.name)(call);
        if (!body)
            return body.error();
        auto op = std::make_unique<HostOp>();
        op->inputs = std::move(call.tensors);
        op->outputs = std::move(call.outputs);
        op->body = std::move(body).value();
        op->note = std::move(call.note);
        return Result<std::unique_ptr<PreparedOp>>(std::move(op));
    } catch (const std::bad_alloc&) {
        return Error{"would-not-fit", "the machine refused the memory", {}, ""};
    } catch (const std::exception& fault) {
        return notSupported(fault.what());
    }
}

Result<std::unique_ptr<PreparedOp>> HostBackend::prepareRegion(const Graph& graph,
                                                               const FusedRegion& region) {
    Result<RegionPlan> plan = planRegion(graph, region);
    if (!plan)
        return plan.error();
    if (Status fits = checkMemory(plan->bytes()); !fits)
        return fits.error();
    try {
        Result<std::unique_ptr<HostOp>> op = makeRegion(plan.value());
        if (!op)
            return op.error();
        return Result<std::unique_ptr<PreparedOp>>(std::move(op).value());
    } catch (const std::bad_alloc&) {
        return Error{"would-not-fit", "the machine refused the memory", {}, ""};
    } catch (const std::exception& fault) {
        return notSupported(fault.what());
    }
}

Result<std::unique_ptr<PreparedOp>> HostBackend::prepareCollective(const CollectiveSpec& spec) {
    if (std::find(spec.ranks.begin(), spec.ranks.end(), plane_.rank()) == spec.ranks.end())
        return Result<std::unique_ptr<PreparedOp>>(std::unique_ptr<PreparedOp>());
    if (!mpiRuns())
        return Error{
            "no-mpi", "collectives are measured between ranks of MPI, which was not started", {}, ""};
    if (Status known = checkCollective(spec); !known)
        return known.error();
    Result<MPI_Comm> comm = communicators_.of(spec.ranks);
    if (!comm)
        return comm.error();
    // All members allocate or none: one that would not fit must not leave the others waiting for it.
    Status fits = checkMemory(collectiveBytes(spec));
    int all = fits.ok() ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, comm.value());
    if (!all)
        return fits.ok() ? Error{"would-not-fit", "another rank has not the memory for it", {}, ""}
                         : fits.error();
    auto op = std::make_unique<CollectiveOp>(spec, comm.value(), registry_);
    return Result<std::unique_ptr<PreparedOp>>(std::move(op));
}

void HostBackend::flushCaches() {
    if (flush_.empty()) {
        const long last_level = sysconf(_SC_LEVEL3_CACHE_SIZE);
        flush_.resize(static_cast<size_t>(std::clamp<long>(2 * last_level, 64 << 20, 512 << 20)));
    }
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < flush_.size(); i += 64)
        flush_[i] = static_cast<char>(flush_[i] + 1);
}

Result<std::vector<int64_t>> HostBackend::time(PreparedOp& op, const TimingPlan& plan) {
    return withoutExceptions([&] { return timeOnce(op, plan); });
}

Result<std::vector<int64_t>> HostBackend::timeOnce(PreparedOp& op, const TimingPlan& plan) {
    auto* collective = dynamic_cast<CollectiveOp*>(&op);
    std::vector<int64_t> samples;
    for (int32_t i = 0; i < plan.warmups + plan.iterations; ++i) {
        if (plan.cache_cold)
            flushCaches();
        if (collective) {
            if (Status met = collective->meet(); !met)
                return met.error();
        }
        const int64_t begin = nowNs();
        if (Status done = op.run(); !done)
            return done.error();
        const int64_t end = nowNs();
        if (i >= plan.warmups)
            samples.push_back(end - begin);
    }
    return samples;
}

Result<TogetherTimes> HostBackend::timeTogether(PreparedOp& collective, PreparedOp& compute,
                                                const TimingPlan& plan) {
    auto* transfer = dynamic_cast<CollectiveOp*>(&collective);
    if (!transfer)
        return notSupported("the first operator is no collective of this backend");
    ComputeThread beside(compute, threads_);
    std::vector<int64_t> transfers, computes;
    Status failed = Unit{};
    for (int32_t i = 0; i < plan.warmups + plan.iterations; ++i) {
        if (plan.cache_cold)
            flushCaches();
        if (!failed) { // the other ranks count on this one's part
            (void)withoutExceptions([&] { return transfer->meet(); });
            (void)withoutExceptions([&] { return transfer->run(); });
            continue;
        }
        Result<TogetherTimes> once = withoutExceptions([&] { return runTogether(*transfer, beside); });
        if (!once) {
            failed = once.error();
            continue;
        }
        if (i < plan.warmups)
            continue;
        transfers.push_back(once->collective_ns);
        computes.push_back(once->compute_ns);
    }
    if (!failed)
        return failed.error();
    return TogetherTimes{median(std::move(transfers)), median(std::move(computes))};
}

} // namespace gs::host

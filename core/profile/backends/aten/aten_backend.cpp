#include "profile/backends/aten/aten_backend.h"

#include "profile/backends/aten/aten_call.h"
#include "profile/backends/aten/aten_device.h"

#include <fmt/format.h>

namespace gs {

#ifdef GATHERSCOPE_BACKEND_HOST
BackendInfo hostBackend();
#endif
#ifdef GATHERSCOPE_BACKEND_CUDA
BackendInfo cudaBackend();
#endif

namespace aten {

namespace {

class AtenBackend final : public Backend {
public:
    AtenBackend(ControlPlane& plane, int device) : plane_(plane), device_(device) {}

    std::string name() const override { return "aten"; }

    DeviceFacts facts() override {
        const std::vector<DeviceFacts> all = devices();
        return all[device_ < 0 ? 0 : static_cast<size_t>(device_)];
    }

    Result<std::unique_ptr<PreparedOp>> prepare(const Graph& graph, NodeId node) override {
        Result<std::unique_ptr<AtenOp>> op = prepareCall(graph, node, device_);
        if (!op)
            return op.error();
        return std::unique_ptr<PreparedOp>(std::move(op.value()));
    }

    Result<std::unique_ptr<PreparedOp>> prepareRegion(const Graph&, const FusedRegion&) override {
        return Error{"not-supported", "torch runs operators one by one", {}, {}};
    }

    Result<std::unique_ptr<PreparedOp>> prepareCollective(const CollectiveSpec& spec) override {
        if (Status ready = startOther(); !ready)
            return ready.error();
        return other_->prepareCollective(spec);
    }

    Result<std::vector<int64_t>> time(PreparedOp& op, const TimingPlan& plan) override {
        if (!dynamic_cast<AtenOp*>(&op))
            return other_->time(op, plan);
        Stopwatch watch(device_ >= 0);
        std::vector<int64_t> times;
        for (int32_t i = -plan.warmups; i < plan.iterations; ++i) {
            if (plan.cache_cold)
                flushCaches();
            watch.start();
            if (Status ran = op.run(); !ran)
                return ran.error();
            const int64_t ns = watch.stopNs();
            if (i >= 0)
                times.push_back(ns);
        }
        return times;
    }

    Result<TogetherTimes> timeTogether(PreparedOp& collective, PreparedOp& compute,
                                       const TimingPlan& plan) override {
        if (device_ >= 0)
            return Error{"not-supported", "torch's operators do not run beside NCCL here", {}, {}};
        return other_->timeTogether(collective, compute, plan);
    }

private:
    /// Whose collectives these are.
    Status startOther() {
        if (other_)
            return Unit{};
        Result<std::unique_ptr<Backend>> made =
            Error{"not-supported", "this build has no collectives for torch's device", {}, {}};
#ifdef GATHERSCOPE_BACKEND_HOST
        if (device_ < 0)
            made = hostBackend().make(plane_);
#endif
#ifdef GATHERSCOPE_BACKEND_CUDA
        if (device_ >= 0)
            made = cudaBackend().make(plane_);
#endif
        if (!made)
            return made.error();
        other_ = std::move(made.value());
        return Unit{};
    }

    /// Reads more than any cache of a processor holds; devices have their own backend for this.
    void flushCaches() {
        if (device_ >= 0)
            return;
        flush_.resize(size_t{256} << 20);
        for (size_t i = 0; i < flush_.size(); i += 64)
            ++flush_[i];
    }

    ControlPlane& plane_;
    int device_;
    std::unique_ptr<Backend> other_;
    std::vector<char> flush_;
};

Result<std::vector<DeviceFacts>> probe() {
    return devices();
}

Result<std::unique_ptr<Backend>> make(ControlPlane& plane) {
    const auto count = static_cast<int32_t>(devices().size());
    if (hasCuda() && plane.localRank() >= count)
        return Error{
            "no-device",
            fmt::format("rank {} of this machine has no device: there are {}", plane.localRank(), count),
            {},
            "Start one rank per device."};
    return std::unique_ptr<Backend>(std::make_unique<AtenBackend>(plane, hasCuda() ? plane.localRank() : -1));
}

} // namespace

} // namespace aten

BackendInfo atenBackend() {
    BackendInfo info;
    info.name = "aten";
    info.meaning = "any operator of PyTorch, by libtorch";
    info.built = true;
    info.probe = aten::probe;
    info.make = aten::make;
    return info;
}

} // namespace gs

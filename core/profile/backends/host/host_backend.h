// Measures on the processors of this machine: oneDNN and loops of our own, MPI between ranks.
#pragma once

#include "host_collectives.h"
#include "host_op.h"

#include <vector>

namespace gs::host {

class HostBackend : public Backend {
public:
    /// Uses the processors that this rank may use, an even share where MPI did not bind it to some.
    explicit HostBackend(ControlPlane& plane, WorkRegistry& registry = WorkRegistry::global());
    ~HostBackend() override;

    std::string name() const override { return "host"; }
    DeviceFacts facts() override;
    Result<std::unique_ptr<PreparedOp>> prepare(const Graph& graph, NodeId node) override;
    Result<std::unique_ptr<PreparedOp>> prepareRegion(const Graph& graph, const FusedRegion& region) override;
    Result<std::unique_ptr<PreparedOp>> prepareCollective(const CollectiveSpec& spec) override;
    Result<std::vector<int64_t>> time(PreparedOp& op, const TimingPlan& plan) override;
    Result<TogetherTimes> timeTogether(PreparedOp& collective, PreparedOp& compute,
                                       const TimingPlan& plan) override;

    /// Memory that may be used; tests set it. Negative = what the machine has.
    void setMemoryLimit(int64_t bytes) { memory_limit_ = bytes; }

private:
    Status checkMemory(int64_t wanted) const;
    void flushCaches();
    Result<std::vector<int64_t>> timeOnce(PreparedOp& op, const TimingPlan& plan);

    ControlPlane& plane_;
    WorkRegistry& registry_;
    Communicators communicators_;
    std::vector<char> flush_;
    int threads_ = 1;
    int64_t memory_limit_ = -1;
};

/// Whether prepare() knows the operator; says nothing of sizes and memory.
bool knowsOperator(const Graph& graph, NodeId node);

DeviceFacts hostFacts(int threads);
/// Processors that this process may run on.
int usableProcessors();

} // namespace gs::host

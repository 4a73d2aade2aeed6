// A device that takes no time: numbers follow from names, and a test can make any step go wrong.
#pragma once

#include "profile/backend.h"

#include <functional>
#include <string>

namespace gs::test {

struct FakeHooks {
    /// Before an operator is prepared; `what` is its target, "fused" or the collective's kind.
    std::function<Status(const std::string& what)> prepare;
    /// Each time it runs. May throw, or end the process.
    std::function<void(const std::string& what)> run;
    /// What a collective does, and an operator that the registry says has one inside.
    std::function<void()> communicate;
    /// Before a collective runs beside compute.
    std::function<Status()> together;
};

class FakeBackend : public Backend {
public:
    FakeBackend(int32_t rank, FakeHooks hooks) : rank_(rank), hooks_(std::move(hooks)) {}

    std::string name() const override { return "fake"; }
    DeviceFacts facts() override;
    Result<std::unique_ptr<PreparedOp>> prepare(const Graph& graph, NodeId node) override;
    Result<std::unique_ptr<PreparedOp>> prepareRegion(const Graph& graph, const FusedRegion& region) override;
    Result<std::unique_ptr<PreparedOp>> prepareCollective(const CollectiveSpec& spec) override;
    /// 1 µs and more by the operator's name, 100 ns more per rank, 1 ns more per iteration.
    Result<std::vector<int64_t>> time(PreparedOp& op, const TimingPlan& plan) override;
    /// The collective takes 3/2, the compute 11/10 of its time alone.
    Result<TogetherTimes> timeTogether(PreparedOp& collective, PreparedOp& compute,
                                       const TimingPlan& plan) override;

private:
    Result<std::unique_ptr<PreparedOp>> make(const std::string& what, int64_t base_ns, bool collective);

    int32_t rank_;
    FakeHooks hooks_;
};

} // namespace gs::test

#include "support/fake_backend.h"

#include "base/hash.h"
#include "profile/benchmark_inputs.h"

#include <algorithm>

namespace gs::test {

namespace {

struct FakeOp : PreparedOp {
    std::string what;
    int64_t base_ns = 0;
    bool collective = false;
    const FakeHooks* hooks = nullptr;

    Status run() override {
        if (hooks->run)
            hooks->run(what);
        if (collective && hooks->communicate)
            hooks->communicate();
        return Unit{};
    }
};

} // namespace

DeviceFacts FakeBackend::facts() {
    DeviceFacts facts;
    facts.name = "fake device";
    facts.driver = "none";
    facts.versions["fake"] = "1";
    facts.clocks = "steady";
    return facts;
}

Result<std::unique_ptr<PreparedOp>> FakeBackend::make(const std::string& what, int64_t base_ns,
                                                      bool collective) {
    if (hooks_.prepare) {
        if (const Status status = hooks_.prepare(what); !status)
            return status.error();
    }
    auto op = std::make_unique<FakeOp>();
    op->what = what;
    op->base_ns = base_ns + 100 * rank_;
    op->collective = collective;
    op->hooks = &hooks_;
    return std::unique_ptr<PreparedOp>(std::move(op));
}

Result<std::unique_ptr<PreparedOp>> FakeBackend::prepare(const Graph& graph, NodeId node) {
    const std::string what(graph.targetText(node));
    const auto hash = static_cast<int64_t>(Hash64().text(what).value() % 1000);
    return make(what, 1000 + hash + std::max<int64_t>(0, graph.value(node).bytes()),
                BenchmarkInputRegistry::global().hasInternalCollective(what));
}

Result<std::unique_ptr<PreparedOp>> FakeBackend::prepareRegion(const Graph&, const FusedRegion& region) {
    return make("fused", 1000 * static_cast<int64_t>(region.nodes.size()), false);
}

Result<std::unique_ptr<PreparedOp>> FakeBackend::prepareCollective(const CollectiveSpec& spec) {
    if (std::find(spec.ranks.begin(), spec.ranks.end(), rank_) == spec.ranks.end())
        return std::unique_ptr<PreparedOp>();
    return make(std::string(collectiveKindName(spec.kind)), 2000 + spec.output_bytes, true);
}

Result<std::vector<int64_t>> FakeBackend::time(PreparedOp& op, const TimingPlan& plan) {
    std::vector<int64_t> samples;
    for (int32_t i = 0; i < plan.warmups + plan.iterations; ++i) {
        if (const Status status = op.run(); !status)
            return status.error();
        if (i >= plan.warmups)
            samples.push_back(static_cast<FakeOp&>(op).base_ns + i);
    }
    return samples;
}

Result<TogetherTimes> FakeBackend::timeTogether(PreparedOp& collective, PreparedOp& compute,
                                                const TimingPlan& plan) {
    if (hooks_.together) {
        if (const Status status = hooks_.together(); !status)
            return status.error();
    }
    for (int32_t i = 0; i < plan.warmups + plan.iterations; ++i) {
        for (PreparedOp* op : {&collective, &compute}) {
            if (const Status status = op->run(); !status)
                return status.error();
        }
    }
    return TogetherTimes{static_cast<FakeOp&>(collective).base_ns * 3 / 2,
                         static_cast<FakeOp&>(compute).base_ns * 11 / 10};
}

} // namespace gs::test

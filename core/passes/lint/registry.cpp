#include "passes/collective_lint.h"
#include "passes/lint/checks.h"

namespace gs {

void lintLaunchesAndWaits(LintContext& context) {
    lintCollectives(context.graph, context.collectives, context.out);
}

std::span<const LintCheck> lintChecks() {
    static constexpr LintCheck kChecks[] = {
        {"waits",
         "in-flight-at-entry, in-flight-read-early, leaves-in-flight, used-unwaited, never-waited, "
         "waited-twice, wait-of-wait, wait-without-collective",
         "launches and waits that do not belong together", lintLaunchesAndWaits},
        {"buffers", "wait-other-buffer", "a wait for another buffer than the one the launch writes",
         lintBuffers},
        {"dead", "dead-gather, dead-collective", "collectives whose result nothing uses", lintDead},
        {"repeated", "gathered-twice, gathered-again, reduced-twice",
         "the same values sent again, and sums of two reductions that could be one", lintRepeated},
        {"groups", "activation-gathers, no-weight-gathers, no-gathers, redistributes, wait-forces-earlier",
         "gathers that are no weights, programs without gathers, and waits that force earlier collectives of "
         "their group",
         lintGroups},
        {"hidden", "hidden-communication", "operators that communicate but look like compute", lintHidden},
        {"latency", "latency-bound-gathers", "small gathers that could share a launch", lintLatency},
        {"wire", "wire-dtype", "gathers in a wider dtype than what their consumers cast to", lintWireDtype},
        {"shards", "uneven-shards, empty-shard, shard-size", "shards that are not equal on all ranks",
         lintShards},
        {"memory", "memory-held", "bytes and collectives in flight at once", lintMemory},
    };
    return kChecks;
}

} // namespace gs

// A small transformer with its whole analysis, made by hand: for tests of explanations and views.
#pragma once

#include "analysis/analysis.h"

#include <functional>

namespace gs::test {

struct SampleOptions {
    int layers = 3;
    std::string scheduler = "latest-safe-launch";
    Settings settings;
    std::map<std::string, int64_t> cost_overrides; ///< key → ns
    /// Changes the decisions after scheduling, to make states that the scheduler would not produce here.
    std::function<void(Schedule&, const Program&)> edit_schedule;
    std::function<void(Timeline&, const Program&)> edit_timeline;
    std::function<void(Analysis&)> edit;
};

/// Per layer the gathers of a llama block (attn_norm, wqkv, wo, ffn_norm, w1, w3, w2), each launched right
/// before its use; one gather of an activation ("activation_gather"), one never waited for
/// ("unwaited_gather"), one that nothing uses ("unused_gather"), a reduce_scatter ("grad_reduce_scatter"), a
/// custom op without a cost
/// ("mystery"), costs of several provenances.
AnalysisPtr sampleAnalysis(const SampleOptions& options = {});

/// Launch that gathers the parameter (fqn); kNoNode if there is none.
NodeId launchOf(const Analysis& analysis, std::string_view parameter);

} // namespace gs::test

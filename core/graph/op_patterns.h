// Lists of operators that a user can change: resources/communicating_ops.json plus patterns of their own.
#pragma once

#include "graph/graph.h"

namespace gs {

/// Patterns of targets: "symm_mem.*", "*all_reduce*"; `*` stands for any characters. A pattern with "!" in
/// front takes targets out again; the last pattern that fits decides.
class OpPatterns {
public:
    void add(std::string pattern) { patterns_.push_back(std::move(pattern)); }
    bool matches(std::string_view target) const;
    const std::vector<std::string>& all() const { return patterns_; }

private:
    std::vector<std::string> patterns_;
};

/// Operators that communicate although nothing in their schema says so. `more` are patterns with commas
/// between, or "none".
OpPatterns communicatingOps(std::string_view more);
/// Operators that make the host wait for the device ("aten._local_scalar_dense").
const OpPatterns& hostSyncOps();

/// Per target of the graph (TargetId) whether the patterns fit; collectives and waits never do.
std::vector<bool> matchTargets(const Graph& graph, const OpPatterns& patterns);

} // namespace gs

// Lint: faults and waste of a captured program that its text does not show at a glance. A new check is one
// file here and one line in registry.cpp.
#pragma once

#include "analysis/settings.h"
#include "cost/device_presets.h"
#include "graph/collectives.h"

namespace gs {

/// What the checks look at: one program in the order in which it was captured.
struct LintInput {
    const Graph& graph;
    const CollectiveTable& collectives;
    const Settings& settings;
    const DevicePreset* device = nullptr; ///< null: checks of time and memory limits are left out
};

/// Tools that the checks share.
class LintContext {
public:
    LintContext(const LintInput& input, Diagnostics& out);

    const Graph& graph;
    const CollectiveTable& collectives;
    const Settings& settings;
    const DevicePreset* device;
    Diagnostics& out;

    /// Adds a finding about a node, with its line in the input file where that is known.
    void report(Severity severity, const char* code, NodeId node, std::string message, std::string hint);
    /// "\"name\"", with its source line where the graph knows it: "\"mm\" (model.py:8 x = y @ w)".
    std::string quoted(NodeId node) const;
    /// "group \"0\"", or "an unknown group".
    std::string groupText(GroupId group) const;
    /// Forward or backward as the file says; else by the gradient inputs (`tangents_…`): what stands behind
    /// the first node that depends on one is backward. Unknown without either.
    Phase phaseOf(NodeId node) const;
    /// Last node that uses what a collective delivers, in program order: its consumers and waits, and readers
    /// of a buffer that it writes. The launch itself if there is none.
    NodeId lastUse(const Collective& item) const;
    /// First consumer of its result that is no free and no barrier; kNoNode if there is none.
    NodeId firstConsumer(const Collective& item) const;
    /// The input that a tensor comes from through views and casts (not pads): where two are equal, the same
    /// values are sent.
    NodeId sourceOf(NodeId node) const;

private:
    /// Calls `visit` with every user of what the collective delivers.
    template <typename Visit>
    void forEachUser(const Collective& item, Visit visit) const;

    NodeId first_backward_ = kNoNode;
};

/// A group of checks that share a walk over the graph.
struct LintCheck {
    std::string_view name;    ///< of the group, for lists
    std::string_view codes;   ///< of its diagnostics, with commas between
    std::string_view meaning; ///< one sentence
    void (*run)(LintContext& context);
};
std::span<const LintCheck> lintChecks();

/// Runs all checks; O(nodes + edges). Warnings and errors are findings, infos are worth knowing.
void lint(const LintInput& input, Diagnostics& diagnostics);

/// One of several graphs that run after each other, e.g. on both sides of a graph break.
struct LintGraph {
    std::string label;
    GraphPtr graph;
    CollectiveTablePtr collectives;
};
/// Collectives launched in one graph and waited for in a later one (code "launch-wait-split"), matched by
/// dtype and shape in order.
void lintAcross(std::span<const LintGraph> graphs, Diagnostics& diagnostics);

} // namespace gs

// Do the ranks of a job run programs that can work together? Their collectives must meet in pairs
// (profiling.md, "Agree"): a collective that one rank issues and another does not, or in another order, hangs
// the job. Works on hashes, so that the time is linear in the graphs.
#pragma once

#include "base/diagnostics.h"
#include "graph/collectives.h"
#include "import/watchdog.h"

#include <memory>
#include <string>
#include <vector>

namespace gs {

/// A graph that a rank runs.
struct RankGraph {
    std::string label;      ///< "after_post_grad_graph [0/0]", file name, …
    std::string compile_id; ///< "0/0"; empty = not stated
    GraphPtr graph;
};

/// Names of collectives that the compiler wrote down for one graph (artifact inductor_collective_schedule).
struct RankArtifact {
    std::string compile_id;
    std::vector<std::string> targets; ///< "_c10d_functional.all_reduce_.default", waits too
    uint32_t line = 0;
};

/// Everything one rank runs, in execution order.
struct RankProgram {
    int32_t rank = -1; ///< -1 = not stated
    std::string label; ///< "rank 1", or the file's name where no rank is stated
    std::string file;
    std::vector<RankGraph> graphs;
    std::vector<RankArtifact> schedules;
    std::vector<std::string> execution_order; ///< compile ids as they ran (artifact graph_execution)
    std::vector<WatchdogTimeout> timeouts;    ///< of collectives that this rank waited for in vain
};

/// How much a schedule may do (profiling.md; source: MagiCompiler's rank negotiation).
enum class RankMode : uint8_t {
    Identical, ///< equal structural hashes: every rank decides alike
    Slot,      ///< graphs differ, collectives are the same in the same order: moves by slot between them
    Pinned,    ///< collectives differ: no gather may pass another collective
    Abort      ///< numbers of gathers differ: nothing can be scheduled together
};
/// "identical", "slot", "pinned", "abort".
std::string_view rankModeName(RankMode mode);

/// One collective of one rank, as its peers must see it.
struct RankCollective {
    uint32_t graph = 0; ///< index into RankProgram::graphs
    NodeId node = kNoNode;
    CollectiveKind kind = CollectiveKind::Other;
    uint32_t group = 0; ///< index into RankComparison::groups
    uint32_t index = 0; ///< n-th of its rank on its group, from 0: NCCL's sequence number
    DType dtype = DType::Unknown;
    int64_t bytes = kUnknownSize;   ///< sent; kUnknownSize for all_to_all, whose split lists differ by nature
    StringId detail = kEmptyString; ///< reduce operation, or the target of an operator that is no collective
    bool symbolic = false;          ///< bytes come from hints of symbols
    uint64_t hash = 0;              ///< of kind, group, dtype, bytes, detail
};

/// One side of a difference.
struct RankSide {
    int32_t rank = -1;       ///< index into RankComparison::ranks; -1 = none
    int32_t collective = -1; ///< index into the rank's collectives; -1 = nothing there
    uint32_t graph = 0;      ///< index into RankProgram::graphs
    NodeId node = kNoNode;
    std::string text; ///< "all_gather bf16 112.0 MiB as \"ag_3\" (#4 on group \"0\", node 812, model.py:8)"
};

struct RankDifference {
    Severity severity = Severity::Error;
    std::string code; ///< "rank-missing", "rank-kind", "rank-bytes", "rank-dtype", "rank-group", …
    int32_t group = -1;
    RankSide a; ///< what most ranks do
    RankSide b;
    std::string message;
    std::string hint;
};

/// A difference that does not hang: device indices, names, symbols, split lists, pad widths, ….
struct HarmlessDifference {
    std::string code; ///< "devices", "node-names", "symbol-names", "split-lists", "pad-widths", …
    size_t count = 0;
    std::string message;
};

/// A row of a group's table: n-th collectives side by side.
struct RankRow {
    std::vector<int32_t> cells; ///< per class: index into its collectives; -1 = nothing there
    bool equal = true;
};

struct RankGroup {
    std::string name;               ///< as the first rank that uses it calls it
    std::vector<std::string> names; ///< per rank; empty = it does not use it
    int32_t size = 0;               ///< 0 = not known
    std::vector<RankRow> rows;      ///< aligned; built for what differs and what does not
    size_t differing = 0;           ///< rows that are not equal
};

/// A rank that cannot go on, and what it waits for.
struct WaitStep {
    int32_t rank = -1;           ///< index into ranks
    NodeId blocked_at = kNoNode; ///< wait, host sync or launch; kNoNode = the end of its program
    RankSide collective;         ///< what it waits for
    int32_t missing_rank = -1;   ///< index of a rank that has not issued it
};

struct WaitCycle {
    bool certain =
        false; ///< waits and host syncs alone make it; else only if collectives cannot run side by side
    bool closed = true; ///< a ring; else a chain that ends at a rank with nothing left to issue
    std::vector<WaitStep> steps;
};

/// Ranks that do the same.
struct RankClass {
    std::vector<int32_t> ranks; ///< indices into RankComparison::ranks, ascending
    std::string text;           ///< "ranks 1–7"
};

struct ComparedRank {
    RankProgram program;
    std::vector<RankCollective> collectives;
    size_t gathers = 0;
    int32_t skeleton_class = 0; ///< index into classes
    int32_t graph_class = 0;    ///< ranks with equal structural hashes share it
};

struct RankComparison {
    RankMode mode = RankMode::Identical;
    std::string verdict; ///< one sentence in plain words
    std::vector<ComparedRank> ranks;
    std::vector<RankClass> classes; ///< by equal skeletons; the first is the largest: what most ranks do
    std::vector<RankGroup> groups;
    std::vector<RankDifference> differences; ///< errors first
    size_t dropped = 0;                      ///< differences beyond the limit
    std::vector<HarmlessDifference> harmless;
    /// First node where two graphs differ; node kNoNode on both sides if the graphs are identical.
    RankSide first_a, first_b;
    std::string first_what;        ///< "target", "shape", "inputs", "an argument", "only on one side"
    std::vector<WaitCycle> cycles; ///< at most one certain and one possible

    bool hasFindings() const;
};

/// True if the program's graphs are of this file: of the input as it was opened, or of the one that `graph`
/// (of a bundle) came from.
inline bool isProgramOf(const RankProgram& program, const std::string& input, const Graph& graph) {
    return program.file == input || program.file == graph.info().source_file;
}

using RankComparisonPtr = std::shared_ptr<const RankComparison>;

/// `programs`: at least two. `communicating` are patterns as in the setting communicating_ops: operators that
/// fit count as collectives.
RankComparisonPtr compareRanks(std::vector<RankProgram> programs, std::string_view communicating = "none");

} // namespace gs

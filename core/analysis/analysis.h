// The one immutable snapshot that every view, export and command shows.
#pragma once

#include "analysis/edits.h"
#include "analysis/settings.h"
#include "base/progress.h"
#include "explain/rank_compare.h"
#include "import/importer.h"
#include "passes/pass.h"
#include "schedule/schedule.h"
#include "simulate/timeline.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gs {

struct MeasuredRun;
using MeasuredRunPtr = std::shared_ptr<const MeasuredRun>;

/// Everything an analysis depends on.
struct AnalysisRequest {
    std::string graph_file;
    int graph_index = -1;                          ///< which graph of the file; -1 = the reader's choice
    int rank = -1;                                 ///< which rank's graph; -1 = any
    std::string stage;                             ///< which stage's graph; empty = any
    std::string shapes_file;                       ///< a second file of the same graph; may be empty
    std::vector<std::string> cost_files;           ///< in order
    std::vector<std::string> rank_files;           ///< of other ranks, compared with graph_file
    std::vector<std::string> trace_files;          ///< of a run, laid over the simulation; several: its ranks
    std::map<std::string, int64_t> cost_overrides; ///< StructuralKey → ns
    std::map<std::string, std::string> cost_pins;  ///< StructuralKey → source that is asked first for it
    Settings settings;
    Edits edits;       ///< changes made by hand
    Diagnostics notes; ///< what was found where the request itself was read from (a bundle)
};

/// One program with its order and what comes of it.
struct Program {
    GraphPtr graph;
    CollectiveTablePtr collectives;
    CostTablePtr costs;
    SchedulePtr schedule;
    TimelinePtr timeline;
};

struct StageTime {
    std::string stage;
    double ms = 0;
    bool reused = false; ///< came from the cache
};

struct Analysis {
    AnalysisRequest
        request;    ///< its settings as they were reckoned with: bound by ranks, with measured contention
    Settings asked; ///< … and as they were asked for
    ImportedGraph source;
    std::vector<PassReport> reports;
    RankComparisonPtr ranks;             ///< null without rank_files, or if they could not be compared
    std::optional<Error> ranks_error;    ///< why not
    Program before;                      ///< lowered graph in program order
    Program after;                       ///< lowered and bucketed graph as scheduled
    int64_t lower_bound_ns = 0;          ///< of `after`
    int64_t lower_bound_before_ns = 0;   ///< of `before`: buckets change the bound
    MeasuredRunPtr measured;             ///< null without trace_files, or if they could not be laid over
    std::optional<Error> measured_error; ///< why not
    Diagnostics diagnostics;
    Diagnostics input_diagnostics; ///< of those: what reading the request and the graph said
    Diagnostics cost_diagnostics;  ///< … and what reading and matching the cost files said
    std::vector<StageTime> times;

    /// Decision of a gather of after.graph by its launch; null if it has none.
    const Decision* decisionFor(NodeId launch) const;
};

using AnalysisPtr = std::shared_ptr<const Analysis>;

/// Runs the stages, reusing those whose inputs did not change since an earlier call. Not thread-safe itself:
/// one analyser, one job at a time.
class Analyser {
public:
    Analyser();
    ~Analyser();
    Analyser(const Analyser&) = delete;
    Analyser& operator=(const Analyser&) = delete;

    /// Error code "cancelled" when the job was stopped.
    Result<AnalysisPtr> analyse(const AnalysisRequest& request, const JobContext& job);
    /// Takes over the graph of an analysis made elsewhere, so that variations of its request do not read the
    /// file again.
    void remember(const Analysis& analysis);

    struct Cache; ///< results of earlier stages; private to analysis.cpp

private:
    std::unique_ptr<Cache> cache_;
};

/// Analyser::analyse() or what stands in for it.
using AnalyseFunction = std::function<Result<AnalysisPtr>(const AnalysisRequest&, const JobContext&)>;

/// Totals for the status line and the command line's summary.
struct Summary {
    size_t gathers = 0; ///< candidates
    size_t hidden = 0;
    size_t compute_limited = 0;
    size_t moved = 0;
    size_t missing_costs = 0;
};
Summary summarise(const Analysis& analysis);

} // namespace gs

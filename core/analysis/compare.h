// Analyses side by side: what each variant of a request brings, one line each.
#pragma once

#include "analysis/analysis.h"

#include <optional>

namespace gs {

/// What came of one variant. Plain numbers only, so that hundreds of rows stay cheap.
struct CompareRow {
    AnalysisRequest request;
    std::string scheduler;
    size_t candidates = 0;
    size_t hidden = 0;         ///< verdicts of the scheduler
    size_t launches_moved = 0; ///< decisions whose target is another place
    size_t nodes = 0;
    size_t nodes_displaced = 0;   ///< see nodesDisplaced()
    int64_t exposed_union_ns = 0; ///< the compute stream stands still for communication
    int64_t exposed_sum_ns = 0;   ///< see exposedSum(); never below the union
    int64_t step_ns = 0;          ///< simulated
    int64_t lower_bound_ns = 0;   ///< of this variant's graph: buckets change it
    int64_t peak_held_bytes = 0;  ///< Timeline::peak_held_bytes: what two-sided's budget limits
    size_t missing_costs = 0;
    size_t problems = 0;        ///< diagnostics above info
    double run_ms = 0;          ///< wall time of the scheduler
    std::optional<Error> error; ///< the analysis failed; then all numbers are 0

    /// (step − lower bound) / lower bound; 0 without a bound.
    double gap() const;
};

CompareRow makeCompareRow(const Analysis& analysis);
/// The row of the program in program order without buckets and edits, which every analysis has beside its own
/// schedule.
CompareRow programOrderRow(const Analysis& analysis);

/// How many nodes must be taken out of program order and put elsewhere to get `order`: those beyond the
/// longest subsequence that both have in common. 0 = nothing moved. O(n log n).
size_t nodesDisplaced(const Order& order);

/// Per collective the part of its transfer during which the compute stream stands still, added up: a stall in
/// which transfers of two streams run counts twice, in the union once.
int64_t exposedSum(const Timeline& timeline);

/// False where the value of `key` cannot change the result, since another setting switches off what reads it:
/// a setting of another scheduler, the cap of buckets that are not made.
bool settingMatters(Setting key, const Settings& settings);

/// Settings that matter in `settings` and differ from `base`, in the table's order, without the scheduler.
/// What does not matter in `base` (its scheduler reads no such setting) is held against the default.
std::vector<Setting> changedSettings(const Settings& settings, const Settings& base);
/// The same as on the command line: "max_in_flight_gb=0.1 bucket_mode=coalesced"; empty if nothing differs.
std::string changesText(const Settings& settings, const Settings& base);

/// Equal keys: the same result, since the requests differ at most in settings that do not matter.
std::string variantKey(const AnalysisRequest& request);

/// `request` with every registered scheduler, each with the settings of the request and with the variations
/// that people compare (both modes of document 000's sweep, in-flight limits of 2 and 0.1 GiB, depths 1 and
/// 2). No two have the same key. `only`: names of schedulers; empty = all.
std::vector<AnalysisRequest> variantsOfAllSchedulers(const AnalysisRequest& request,
                                                     const std::vector<std::string>& only = {});

using RowFunction = std::function<void(const CompareRow&)>;
/// Analyses the variants in order and calls `made` with each row. Ends early when the job is cancelled. A
/// variant that fails is a row with its error.
std::vector<CompareRow> compareVariants(const AnalyseFunction& analyse,
                                        const std::vector<AnalysisRequest>& variants, const JobContext& job,
                                        const RowFunction& made = {});

/// True if `a` is the better of two: without error, within `limit_bytes` of held bytes (< 0 = no limit),
/// then the shorter step, then the lower peak. Where neither keeps the limit, the lower peak comes first.
bool betterRow(const CompareRow& a, const CompareRow& b, int64_t limit_bytes);

} // namespace gs

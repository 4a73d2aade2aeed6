// Automatic search over schedulers and their settings: the shortest simulated step within a memory limit.
#pragma once

#include "analysis/compare.h"

namespace gs {

struct SearchLimits {
    int64_t peak_bytes = -1; ///< limit on CompareRow::peak_held_bytes; < 0 = no limit
    double seconds = 60;     ///< then the best so far is the result
};

enum class SearchEnd : uint8_t { Finished, OutOfTime, Cancelled, Failed };

struct SearchResult {
    std::vector<CompareRow> rows; ///< every variant tried, in order; the first is the request itself
    int best = -1;                ///< index of the best row, see betterRow(); -1 if none was analysed
    bool within_limit = false;    ///< the best keeps the memory limit
    SearchEnd end = SearchEnd::Finished;
    std::optional<Error> error; ///< Failed: the request itself could not be analysed
};

/// Tries, in an order that depends on nothing but the request and the limits:
/// 1. the request itself;
/// 2. a coarse grid: no buckets and both kinds of buckets × every scheduler × few values of each limit it
/// reads;
/// 3. from the best row of the best schedulers, one setting after the other over all its values, keeping what
/// is
///    better, until a round over all settings brings nothing.
/// All variants are simulated in the world of the request: where a variant lets its scheduler reckon with
/// another contention, it sets simulated_contention to the request's. So every row can be taken over as it
/// is. Settings that describe the world or change what is computed (simulation, mesh, costs, lowering, which
/// gathers are candidates, fsdp_dedup) are never varied. `tried` is called with each row as soon as it is
/// known. Stops within one variant of a cancelled job; schedulers that poll their job stop at once.
SearchResult searchSettings(const AnalyseFunction& analyse, const AnalysisRequest& request,
                            const SearchLimits& limits, const JobContext& job, const RowFunction& tried = {});

} // namespace gs

// Times by what an operator or collective is, never by its name in one graph: what the readers of traces and
// tables make, and what MeasuredModel matches with graphs.
#pragma once

#include "cost/cost_model.h"
#include "cost/readers/trace_link.h"

#include <string>
#include <unordered_map>

namespace gs {

struct MeasuredTime {
    int64_t ns = 0; ///< median of the samples
    int64_t samples = 0;
    int64_t spread_ns = -1;    ///< between the quartiles
    int64_t rank_skew_ns = -1; ///< between ranks; -1 = one rank only
    std::string note;
    bool innermost = true; ///< see OpCall; only for counting what has no match
};

/// Median (the lower one of two), spread and count. `samples` may not be empty.
MeasuredTime summarizeSamples(std::vector<int64_t> samples);

struct MeasuredCollective {
    CollectiveKind kind = CollectiveKind::None; ///< plain
    DType dtype = DType::Unknown;               ///< Unknown = any
    int64_t input_bytes = kUnknownSize;
    int64_t output_bytes = kUnknownSize;
    int64_t group_size = 0; ///< 0 = not known: any
    std::string group;      ///< empty = not known: any
    MeasuredTime time;
};

using TimesByKey = std::unordered_map<std::string, MeasuredTime>;

struct MeasuredCosts {
    std::string path;
    std::string file_name;
    std::string what = "trace"; ///< for messages: "trace", "table", "estimates"
    Provenance provenance = Provenance::Measured;
    int32_t rank = -1;
    size_t ranks = 1;

    TimesByKey typed;    ///< "aten.mm(bf16[8,4],bf16[4,2])"
    TimesByKey untyped;  ///< "aten.mm([8,4],[4,2])"
    TimesByKey with_out; ///< typed keys without the last tensor, which may be the result ("out=")
    std::map<std::string, std::vector<int64_t>> ordered_ops; ///< packet → times in order, sizes unknown
    std::vector<MeasuredCollective> collectives;
    std::map<CollectiveKind, std::vector<int64_t>> ordered_collectives; ///< in order, sizes unknown

    std::unordered_map<std::string, MeasuredTime> named; ///< by node name

    bool one_step = false;      ///< ordered times are of exactly one step
    bool strict_groups = false; ///< times of one named group do not stand for another of the same size
    /// Times are extended up to so many times the largest size; the profile chain's limit is 2.
    double reach = 2;
    std::string hint; ///< what to do about nodes without a time
};

/// "aten.mm" + signature → key of the maps above.
std::string measuredKey(std::string_view packet, std::string_view signature);

/// Takes the times of a linked trace; incomplete if the job was cancelled.
MeasuredCosts measuredCosts(const TraceEvents& events, const LinkedTrace& linked, const std::string& path,
                            const JobContext& job);

/// Several ranks as one: of an operator the slowest rank counts, as in document 000's reconciliation; of a
/// collective the fastest, because the time of the others includes waiting for it. The difference is the
/// skew.
MeasuredCosts mergeRanks(const std::vector<const MeasuredCosts*>& ranks);

} // namespace gs

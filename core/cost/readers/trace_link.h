// Links what ran on the devices to the operators that started it, and takes their times.
#pragma once

#include "cost/readers/trace_events.h"
#include "graph/op_traits.h"
#include "graph/tensor_meta.h"

#include <map>

namespace gs {

/// One call of an operator. `ns` is the length of the union of what it ran on the device, its own and that
/// of the operators it called: never a sum, so parallel kernels count once and gaps do not count.
struct OpCall {
    StringId name = kEmptyString;
    StringId signature = kEmptyString;
    int64_t start = 0; ///< of the device work
    int64_t ns = 0;
    bool innermost = false; ///< it launched work itself, not only through operators that it called
};

/// What told the kind of a collective, best first.
enum class KindSource : uint8_t { Metadata, Operator, Annotation, KernelName };
std::string_view kindSourceName(KindSource source);

struct CollectiveCall {
    CollectiveKind kind = CollectiveKind::None; ///< plain; None = no source tells it
    KindSource source = KindSource::KernelName;
    DType dtype = DType::Unknown;
    int64_t input_bytes = kUnknownSize;
    int64_t output_bytes = kUnknownSize;
    int64_t group_size = 0; ///< 0 = not known
    std::string group;
    StringId kernel = kEmptyString; ///< name of its first kernel
    int64_t start = 0;
    int64_t ns = 0; ///< union of its kernels; includes waiting for slower ranks
};

struct TraceSummary {
    int32_t rank = -1;
    int32_t world_size = 0;
    size_t events = 0;
    size_t kernels = 0;
    size_t comm_kernels = 0;
    std::map<std::string, size_t> comm_names; ///< kernel names without arguments → how many
    std::map<std::string, size_t> comm_kinds; ///< kinds of the collectives → how many
    std::vector<std::string> comm_streams;    ///< "device 0, stream 40"
    std::vector<std::string> compute_streams;
    int64_t comm_ns = 0; ///< unions
    int64_t compute_ns = 0;
    int64_t overlap_ns = 0;    ///< part of comm_ns beside compute of the same device
    size_t early_kernels = 0;  ///< begin before the call that launched them: clock skew of the profiler
    int64_t earliest_ns = 0;   ///< by how much at most
    size_t without_launch = 0; ///< kernels whose launch is not in the file
    size_t without_op = 0;     ///< compute kernels that belong to no operator
    std::map<std::string, size_t> launched_only; ///< kinds of operators whose kernels are not in the file
    size_t annotated_only = 0;                   ///< collectives known from an annotation only
    size_t group_conflicts = 0; ///< collectives whose stated group size contradicts their sizes or ranks
    bool has_ops = false;
    bool has_shapes = false;
    bool has_metadata = false; ///< of collectives
    bool host_only = false;    ///< nothing ran on a device: times are those of the host's operators
};

struct LinkedTrace {
    std::vector<OpCall> ops;                 ///< by start
    std::vector<CollectiveCall> collectives; ///< by start
    TraceSummary summary;
};

/// Device work → launch by correlation id → innermost range of the launch's thread at that time. Where the
/// launch is missing, the id of the work names the range ("External id"; in older files that is only the
/// correlation id again and then it is not used). Kernel names never decide if anything else does. Sorts the
/// events. Error: "cancelled".
Result<LinkedTrace> linkTrace(TraceEvents& events, const JobContext& job);

} // namespace gs

// What a device must be able to do to be measured. A backend is a folder under profile/backends and one line
// in its registry; only gatherscope-rank links them.
#pragma once

#include "cost/fused_regions.h"
#include "graph/collectives.h"
#include "profile/control_plane.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace gs {

struct DeviceFacts {
    std::string name;                            ///< "NVIDIA H200", "AMD EPYC 9B14, 2 cores"
    std::string driver;                          ///< empty if there is none
    std::map<std::string, std::string> versions; ///< library → version
    std::string clocks;                          ///< with throttling, if known
    int64_t memory_bytes = 0;
    int64_t free_bytes = 0;
};

/// One collective as it is really issued: on the ranks of the world that take part.
struct CollectiveSpec {
    CollectiveKind kind = CollectiveKind::None; ///< plain kind, or AllGatherCoalesced
    DType dtype = DType::Unknown;
    int64_t input_bytes = 0;           ///< per rank
    int64_t output_bytes = 0;          ///< per rank
    std::vector<int32_t> ranks;        ///< of the world, ascending; the caller is one of them
    std::vector<int64_t> member_bytes; ///< of a coalesced one: input bytes per member
};

/// An operator (or fused region, or collective) with its tensors, ready to run.
class PreparedOp {
public:
    virtual ~PreparedOp() = default;
    /// Starts it once. On devices with streams it returns before the work is done. May throw std::exception:
    /// the caller turns it into an error.
    virtual Status run() = 0;
    /// What of it is a stand-in ("computed in float32: …"), for ProfileEntry::note; empty if nothing is.
    std::string note;
};

struct TimingPlan {
    int32_t warmups = 3;
    int32_t iterations = 10; ///< fixed: adaptive counts would let ranks drift apart
    bool cache_cold = false; ///< flush the caches before each iteration
};

/// Medians of a collective and a compute operator that run together.
struct TogetherTimes {
    int64_t collective_ns = 0;
    int64_t compute_ns = 0;
};

class Backend {
public:
    virtual ~Backend() = default;
    virtual std::string name() const = 0; ///< "host", "cuda", "aten"
    virtual DeviceFacts facts() = 0;

    /// Tensors are rebuilt from the metadata, by hint where symbolic; inputs that must agree with each other
    /// come from the benchmark-input registry. Errors: "not-supported", "would-not-fit" (checked before
    /// anything is allocated; says how much it wants and how much is free), "unknown-shape".
    virtual Result<std::unique_ptr<PreparedOp>> prepare(const Graph& graph, NodeId node) = 0;
    /// A region as one kernel. "not-supported": the caller measures its nodes one by one.
    virtual Result<std::unique_ptr<PreparedOp>> prepareRegion(const Graph& graph,
                                                              const FusedRegion& region) = 0;
    /// All ranks of the world call it in the same order; those outside spec.ranks get a null pointer.
    virtual Result<std::unique_ptr<PreparedOp>> prepareCollective(const CollectiveSpec& spec) = 0;

    /// Nanoseconds of each iteration, by the device's own clock where it has one.
    virtual Result<std::vector<int64_t>> time(PreparedOp& op, const TimingPlan& plan) = 0;
    /// The collective is launched asynchronously through the work registry, `compute` runs until it is done.
    virtual Result<TogetherTimes> timeTogether(PreparedOp& collective, PreparedOp& compute,
                                               const TimingPlan& plan) = 0;
};

/// A backend of this build, for `list backends`, the dialog and --backend.
struct BackendInfo {
    std::string name;
    std::string meaning; ///< one line
    bool built = false;  ///< false: `why_not` names the missing part
    /// Devices that it found here, or why it cannot run. Starts no MPI.
    Result<std::vector<DeviceFacts>> (*probe)() = nullptr;
    /// One per process, for the device of plane.localRank().
    Result<std::unique_ptr<Backend>> (*make)(ControlPlane& plane) = nullptr;
    std::string why_not;
};
/// All known backends, built or not, in order of preference (profile/backends/registry.cpp).
const std::vector<BackendInfo>& backends();

} // namespace gs

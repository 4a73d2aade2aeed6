// Cost of every node, with provenance on every number (profiling.md, "Cost chain").
#pragma once

#include "graph/collectives.h"
#include "graph/graph.h"

#include <memory>
#include <string>
#include <vector>

namespace gs {

/// Where a number comes from. Structural = 0 by definition (views, unpacks, inputs, waits).
enum class Provenance : uint8_t {
    Structural,
    User,
    Measured,
    Reused,
    Imported,
    Interpolated,
    Extrapolated,
    Analytical,
    Missing
};
/// "structural", "user", "measured", …
std::string_view provenanceName(Provenance provenance);

/// One distinct cost of the table: equal ops share it (StructuralKey in profiling.md).
struct CostEntry {
    /// StructuralKey as text: target, shapes, dtypes, group. Several entries share one key only where a
    /// source gives equal ops different numbers (or knows some of them).
    std::string key;
    std::string kind;  ///< "compute", "all_gather", "reduce_scatter", …
    std::string label; ///< short text for people: "mm bf16[8192, 4096] × [4096, 6144]"
    int64_t ns = 0;    ///< per call; meaningless if missing
    Provenance provenance = Provenance::Missing;
    std::string source;         ///< file name, device preset, "edited by hand"
    std::string note;           ///< how it was computed, e.g. "memory bound: 402.7 MB at 3.35 TB/s"
    int64_t analytical_ns = -1; ///< the model's number beside any other source; -1 = none
    int64_t samples = 0;        ///< measurements behind it; 0 = not known
    int64_t spread_ns = -1;     ///< distance between the quartiles of the samples; -1 = not known
    int64_t rank_skew_ns = -1;  ///< greatest minus least median of the ranks; -1 = not known
    std::vector<NodeId> nodes;  ///< nodes that use it, in program order
};

/// Times of a collective in flight when the graph starts.
struct InFlightTime {
    int64_t duration_ns = 0; ///< from its launch; 0 if missing
    int64_t elapsed_ns = 0;  ///< since its launch
    int64_t remaining() const { return duration_ns > elapsed_ns ? duration_ns - elapsed_ns : 0; }
};

class CostTable {
public:
    /// Per node: ns on the compute stream, or of the transfer for a launch. Missing counts as 0 here; see
    /// entry().
    int64_t ns(NodeId id) const { return ns_[id]; }
    std::span<const int64_t> all() const { return ns_; }
    /// Entry of a node, or null for a structural zero.
    const CostEntry* entry(NodeId id) const {
        return entry_of_[id] < 0 ? nullptr : &entries_[static_cast<size_t>(entry_of_[id])];
    }
    /// What its stream runs of the collective with this index: the launch's time; in flight at entry, what is
    /// left of it.
    int64_t transferNs(const CollectiveTable& collectives, size_t index) const {
        return collectives[index].inFlightAtEntry() ? inFlight(index).remaining()
                                                    : ns_[collectives[index].launch];
    }
    int32_t entryIndex(NodeId id) const { return entry_of_[id]; }
    std::span<const CostEntry> entries() const { return entries_; }
    size_t count(Provenance provenance) const; ///< entries with this provenance
    /// Times of the collective with this index of the CollectiveTable; zeros unless it is in flight at entry.
    /// Its entry is that of its input; ns() of input and waits stays 0, since no stream runs them.
    InFlightTime inFlight(size_t collective) const {
        return collective < in_flight_.size() ? in_flight_[collective] : InFlightTime{};
    }

private:
    friend class CostTableBuilder;
    std::vector<int64_t> ns_;
    std::vector<int32_t> entry_of_;
    std::vector<CostEntry> entries_;
    std::vector<InFlightTime> in_flight_; ///< by collective; empty if none is in flight at entry
};

using CostTablePtr = std::shared_ptr<const CostTable>;

} // namespace gs

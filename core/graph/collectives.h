// Collectives of a graph: launch, unpacks, waits, group, bytes, and which all-gathers are weight gathers.
#pragma once

#include "graph/graph.h"

namespace gs {

/// One collective. Spans of nodes are in program order.
struct Collective {
    NodeId launch = kNoNode; ///< kNoNode: in flight when the graph starts, see `input`
    /// In flight when the graph starts (document 004: eager code launched it, the graph waits for it): the
    /// graph input that it writes, i.e. a placeholder, an attribute, or a getitem of one. Else kNoNode.
    NodeId input = kNoNode;
    CollectiveKind kind = CollectiveKind::None;
    GroupId group = kNoGroup;
    int32_t group_size = 0; ///< 0 = not known
    int64_t input_bytes = kUnknownSize;
    int64_t output_bytes = kUnknownSize;
    DType dtype = DType::Unknown;
    std::vector<NodeId> unpacks; ///< getitem nodes of a coalesced launch
    std::vector<NodeId> waits;
    /// Nodes that first really use the result: every user reached from the waits through views, unpacks and
    /// copies into memory that others read (FSDP2 copies what it gathers into its unsharded parameters).
    std::vector<NodeId> consumers;
    bool weight_gather = false;
    /// Parameters it gathers (one, or one per member of a coalesced or packed launch). Empty if not a weight
    /// gather.
    std::vector<NodeId> parameters;

    bool inFlightAtEntry() const { return launch == kNoNode; }
    bool isGather() const {
        return kind == CollectiveKind::AllGather || kind == CollectiveKind::AllGatherCoalesced;
    }
};

class CollectiveTable {
public:
    explicit CollectiveTable(const Graph& graph);

    std::span<const Collective> all() const { return items_; }
    size_t size() const { return items_.size(); }
    const Collective& operator[](size_t index) const { return items_[index]; }
    /// Index of the collective that `node` launches, unpacks or waits for, or of the one in flight at entry
    /// whose `input` it is; -1 if none. A wait for what no collective writes belongs to none.
    int32_t indexOf(NodeId node) const { return index_of_[node]; }
    size_t weightGatherCount() const { return weight_gathers_; }
    size_t inFlightCount() const { return in_flight_; } ///< in flight at entry

private:
    std::vector<Collective> items_;
    std::vector<int32_t> index_of_;
    size_t weight_gathers_ = 0;
    size_t in_flight_ = 0;
};

using CollectiveTablePtr = std::shared_ptr<const CollectiveTable>;

/// Name of the group that a launch states: its name, or the name of the object that is the group (a torchbind
/// attribute, an opaque input). Empty if the launch states none.
std::string_view collectiveGroupName(const Graph& graph, NodeId launch);

/// Name of a parameter for people: its fqn, else the placeholder's name.
std::string parameterName(const Graph& graph, NodeId placeholder);
/// "layers.8.feed_forward.w1.weight", or "3 parameters: a, b, c" for a bucket.
std::string gatheredParameters(const Graph& graph, const Collective& gather);

} // namespace gs

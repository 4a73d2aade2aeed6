// DTensor placements and meshes as graph files state them (torch.distributed.tensor of PyTorch 2.9 to 2.15).
#pragma once

#include "base/result.h"
#include "graph/graph.h"

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gs {

/// How a tensor lies along one mesh dimension.
struct DTensorPlacement {
    enum class Kind : uint8_t { Replicate, Shard, Other };
    Kind kind = Kind::Other;
    int dim = 0;      ///< Shard: tensor dimension, as written (may be negative)
    std::string text; ///< as written, for messages

    bool operator==(const DTensorPlacement& other) const {
        return kind == other.kind && (kind == Kind::Other ? text == other.text : dim == other.dim);
    }
};

/// "(Shard(dim=0), Replicate())", "[S(0), R]" → one placement a mesh dimension. Anything but plain Shard and
/// Replicate (Partial, _StridedShard, …) is Other.
std::vector<DTensorPlacement> parsePlacements(std::string_view text);
/// "Shard(0), Replicate" for messages.
std::string placementsText(const std::vector<DTensorPlacement>& placements);

/// What a node's metadata says about its DTensor.
struct DTensorDesc {
    std::vector<DTensorPlacement> placements;
    std::vector<int64_t> mesh; ///< sizes, outermost first
    /// This rank's shard; a symbolic size has its expression in `local_symbols`.
    std::vector<int64_t> local_shape;
    std::vector<std::string> local_symbols;
    bool known() const { return !mesh.empty() && mesh.size() == placements.size(); }
};

/// What a redistribute is asked to do.
struct RedistributeArgs {
    std::optional<std::vector<DTensorPlacement>> placements; ///< target placements, if stated
    /// forward_dtype by name ("bfloat16"), "" for None; nothing if the file does not say.
    std::optional<std::string> forward_dtype;
};

/// Reads the metadata of nodes; equal metadata of repeated layers is parsed once.
class DTensorReader {
public:
    explicit DTensorReader(const Graph& graph) : graph_(graph) {}
    const DTensorDesc& desc(NodeId id) { return parsed(id).desc; }
    /// From the function's closure (torch ≤ 2.9), else from the arguments (torch 2.15).
    RedistributeArgs redistribute(NodeId id);

private:
    struct Parsed {
        DTensorDesc desc;
        RedistributeArgs closure;
    };
    const Parsed& parsed(NodeId id);

    const Graph& graph_;
    std::unordered_map<StringId, Parsed> cache_; ///< by NodeMeta::desc_json
};

struct MeshDim {
    std::string name; ///< may be empty
    int64_t size = 0;
};

/// "8", "2,4", "2x4", "dp=2,shard=4"; "auto" and an empty text are no mesh. Outermost dimension first.
Result<std::vector<MeshDim>> parseMesh(std::string_view text);

} // namespace gs

// Lowering of weight redistributes with plain parameters; lowerRedistributes() in pass.h reads the settings.
#pragma once

#include "passes/pass.h"
#include "passes/placements.h"

namespace gs {

struct LoweringOptions {
    /// Stated by the user; read only for parameters whose placements the file does not say.
    std::vector<MeshDim> mesh;
};

/// Each lowerable redistribute + to_local becomes, at the place of the redistribute,
///
///     to_local → [_to_copy] → constant_pad_nd → all_gather_into_tensor → wait_tensor
///              → [split_with_sizes → getitem… → cat] → [slice]
///
/// and once more from the pad on for every further mesh dimension that is gathered. O(nodes + edges).
PassResult lowerRedistributes(const GraphPtr& graph, const LoweringOptions& options);

} // namespace gs

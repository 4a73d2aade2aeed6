// Coalesced buckets with plain parameters; bucketCoalesced() in pass.h reads the settings.
#pragma once

#include "graph/collectives.h"
#include "passes/pass.h"

#include <optional>
#include <string>

namespace gs {

struct BucketOptions {
    enum class Region : uint8_t {
        Boundary, ///< program order between two boundary ops
        Module,   ///< the first parts of the module path
        Adjacent  ///< launches that follow each other on one group
    };
    Region region = Region::Boundary;
    std::string boundary = "attention"; ///< "attention": ops with that trait; else a part of the op's name
    int module_depth = 2;               ///< parts of the module path: 2 = "layers.3"
    std::optional<int64_t> cap_bytes;   ///< of local shard a bucket; > 0
    bool automatic = true;              ///< false: only `by_hand`
    std::vector<std::vector<std::string>> by_hand =
        {};                   ///< launches that share a bucket; one alone stays plain
    bool all_gathers = false; ///< every all-gather is a candidate, not only weight gathers
};

/// Merges the gathers of one region, group and dtype into one coalesced launch at the place of the first;
/// waits stay. O(nodes + edges).
PassResult bucketCoalesced(const GraphPtr& graph, const BucketOptions& options);

/// Region of each collective of `candidates` (indices into the table), by its first real consumer; for
/// Adjacent by the launches alone. Numbers are equal exactly for gathers of one region.
std::vector<uint32_t> gatherRegions(const Graph& graph, const CollectiveTable& collectives,
                                    const std::vector<uint32_t>& candidates, const BucketOptions& options);

} // namespace gs

// A pass is a pure function Graph + settings → Graph + report (passes.md §1).
#pragma once

#include "analysis/edits.h"
#include "analysis/settings.h"
#include "base/diagnostics.h"
#include "graph/graph.h"

#include <string>
#include <vector>

namespace gs {

/// What a pass did with one candidate, or why not.
struct PassReportLine {
    std::string node; ///< name of the candidate
    bool done = false;
    std::string reason; ///< done: what became of it; else: why not
};

struct PassReport {
    std::string pass;    ///< "lower-redistribute", …
    std::string summary; ///< one sentence with counts
    size_t done = 0;
    size_t skipped = 0;
    std::vector<PassReportLine> lines;
    Diagnostics diagnostics;
};

struct PassResult {
    GraphPtr graph; ///< the input graph itself if nothing changed
    PassReport report;
};

/// Redistributes of weights → all-gather chains (document 000; passes.md §2).
PassResult lowerRedistributes(const GraphPtr& graph, const Settings& settings);

/// One coalesced gather per region, group and dtype (document 000; passes.md §3a), and the buckets of `edits`
/// whatever bucket_mode says. A bucket made by hand ignores regions and the cap.
PassResult bucketCoalesced(const GraphPtr& graph, const Settings& settings, const Edits& edits = {});

/// FSDP collectives merged into buckets that saturate the link (document 001; passes.md §3b).
PassResult bucketFsdp(const GraphPtr& graph, const Settings& settings);

} // namespace gs

// The stage that rewrites the graph: lowering and buckets, as the settings and the changes by hand ask.
#pragma once

#include "analysis/analysis.h"

namespace gs {

struct PassedPrograms {
    GraphPtr before; ///< lowered
    GraphPtr after;  ///< lowered and bucketed; the same graph if nothing was merged
    CollectiveTablePtr collectives_before;
    CollectiveTablePtr collectives_after;
    std::vector<PassReport> reports; ///< of each pass that ran
};

PassedPrograms runPasses(const GraphPtr& source, const Settings& settings, const Edits& edits);

} // namespace gs

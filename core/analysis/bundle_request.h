// Opening a bundle: the request that its analysis was made from.
#pragma once

#include "analysis/analysis.h"

namespace gs {

/// By the first bytes of the file, decompressed.
bool isBundle(const std::string& path);

/// Settings without a profile store: the costs that it gave are in the bundle, which is a cost file where it
/// is opened again. Unchanged if no store is chosen.
Settings withoutStore(Settings settings);

/// The request behind a bundle: its settings, edits and costs edited by hand. The bundle stands for the graph
/// file and, if there were any, for the files of other ranks and for the files and the profile of costs.
/// Errors: those of readInput, "bad-bundle", "bundle-version". What this program does not know or take (a
/// setting of another version) is among the notes, "bundle-setting".
Result<AnalysisRequest> bundleRequest(const std::string& path);

} // namespace gs

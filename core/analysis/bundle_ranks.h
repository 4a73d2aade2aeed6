// The programs of all ranks that a bundle holds (written by export/bundle_ranks.h).
#pragma once

#include "base/result.h"
#include "explain/rank_compare.h"

namespace gs {

/// Empty if the file is no bundle or holds no ranks. Errors: those of readInput, "bad-bundle",
/// "bundle-version".
Result<std::vector<RankProgram>> readBundleRanks(const std::string& path);

} // namespace gs

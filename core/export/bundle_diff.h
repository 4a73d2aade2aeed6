// What differs between two bundles, by what they state: nothing is analysed again, so that a change of this
// program shows, too. For CI.
#pragma once

#include "base/result.h"

#include <string>
#include <vector>

namespace gs {

struct BundleChange {
    /// "graph", "setting", "edit", "version", "decision", "simulation", "cost", "edited bundle" (a part
    /// of it is not as it was written).
    std::string what;
    std::string name; ///< of the setting, launch, figure or cost
    std::string a, b; ///< values as text; empty = that side has none
};

struct BundleDiff {
    std::string name_a, name_b;        ///< of the graphs
    std::vector<BundleChange> changes; ///< in the order above, then as in the bundles
    /// True if anything differs that a run would notice: all but "version".
    bool found() const;
};

/// Errors: those of readInput, "not-a-bundle"; those of reading its graph ("bad-bundle", "bundle-version").
Result<BundleDiff> compareBundles(const std::string& path_a, const std::string& path_b);

/// For people, at most `lines` changes of each kind.
std::string bundleDiffText(const BundleDiff& diff, size_t lines);
/// `gatherscope.bundle-diff` version 1.
std::string bundleDiffJson(const BundleDiff& diff);

} // namespace gs

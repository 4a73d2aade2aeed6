// Everything that the kernel generator is asked for on the graphs at hand, each kind once.
#pragma once

#include "cost/fused_regions.h"

#include <string>
#include <vector>

namespace gs::test {

struct KernelCase {
    GraphPtr graph;
    FusedRegion region; ///< a fused region, or one compute node
    std::string key;
    std::string from; ///< name of a graph that has it
};

/// Of the samples and of the corpus at hand, by key: equal work is listed once. Graphs with symbols count
/// with their hints.
std::vector<KernelCase> kernelCases();
std::vector<KernelCase> kernelCasesOf(const std::vector<std::string>& paths);

} // namespace gs::test

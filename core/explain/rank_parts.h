// The steps of a rank comparison. Internal to rank_*.cpp.
#pragma once

#include "explain/rank_compare.h"

#include <utility>

namespace gs::ranks {

/// Fills `collectives`, `gathers` and `groups` of a comparison whose ranks have their programs.
void collectSkeletons(RankComparison& comparison, std::string_view communicating);

/// Pairs of indices: equal items, unequal ones side by side, or -1 for nothing on one side; both ascending.
/// O(n log n): common beginnings and ends are cut off, between them the nearest equal item wins.
using Alignment = std::vector<std::pair<int32_t, int32_t>>;
Alignment alignHashes(std::span<const uint64_t> a, std::span<const uint64_t> b);

/// Fills the rows of all groups, and `differences` except those of order across groups.
void compareGroups(RankComparison& comparison);

/// Compares the graphs node by node: `harmless`, `first_a`, `first_b`.
void compareNodes(RankComparison& comparison);

/// Fills `cycles`.
void findWaitCycles(RankComparison& comparison);

/// Compares what the compilers of the ranks wrote down: schedules and execution orders.
void compareArtifacts(RankComparison& comparison);

/// The sentence for people.
std::string verdictText(const RankComparison& comparison);

RankSide sideOf(const RankComparison& comparison, int32_t rank, int32_t collective);
RankSide sideOfNode(const RankComparison& comparison, int32_t rank, uint32_t graph, NodeId node);
/// "node 812, line 830, model.py:8".
std::string placeText(const Graph& graph, NodeId node);
/// "all_gather bf16 112.0 MiB".
std::string collectiveText(const RankComparison& comparison, int32_t rank, const RankCollective& item);
/// "group \"0\"", as this rank calls it.
std::string groupText(const RankComparison& comparison, int32_t rank, uint32_t group);
const std::string& rankLabel(const RankComparison& comparison, int32_t rank);
/// Label of a whole class: "ranks 1–7".
const std::string& classLabel(const RankComparison& comparison, int32_t rank);

} // namespace gs::ranks

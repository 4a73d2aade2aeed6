// What there is to measure in a program: its distinct compute keys, fused regions and collectives
// (profiling.md, "Rank lockstep").
#pragma once

#include "cost/cost_model.h"
#include "profile/backend.h"

#include <set>
#include <string>
#include <vector>

namespace gs {

enum class WorkKind : uint8_t { Fused, Compute, Collective };

/// One key. Everything but the last block is equal on all ranks once they agreed (profile/agreement.h).
struct WorkItem {
    WorkKind work = WorkKind::Compute;
    std::string key;
    std::string kind;      ///< as ProfileEntry::kind
    std::string label;     ///< for people
    int64_t calls = 0;     ///< Compute: of nodes in no fused region. 0 = only measured where a region fails
    int64_t model_ns = -1; ///< what the analytical model says; -1 = it does not know
    std::string model_note;
    std::string cannot;               ///< why it is not even tried; empty = it is
    bool everywhere = true;           ///< every rank's graph has it
    std::vector<std::string> members; ///< Fused: keys of its nodes, one per node
    bool communicates = false;        ///< a collective, or an operator with one inside: needs all ranks

    CollectiveSpec spec;     ///< Collective: as it is timed
    int32_t group_ranks = 0; ///< Collective: ranks of the graph's group
    std::string placement;   ///< Collective: how the timed ranks differ from the graph's; empty = they do not
    bool contend = false;    ///< Collective: to be timed beside compute, too
    bool latency_probe = false; ///< times the steps of scaled collectives; no key of the graph

    bool here = true; ///< this rank's graph has it; collectives need no graph
    GraphPtr graph;
    NodeId node = kNoNode; ///< Compute: a node with this key
    FusedRegion region;    ///< Fused

    bool scaled() const { return work == WorkKind::Collective && int32_t(spec.ranks.size()) < group_ranks; }
};

struct WorkOptions {
    bool compute = true;
    bool collectives = true;
    std::set<std::string> reuse; ///< keys that are known already
};

struct MeasuredProgram {
    GraphPtr graph;
    CollectiveTablePtr collectives;
};

/// In the order in which they are measured: fused regions, compute, collectives (latency probes first), each
/// sorted by key. `programs`: what will run, then what it is compared with; calls are those of the first
/// program that has the key. Left out: what costs 0 by definition, what `reuse` names, collectives in flight
/// at entry. `world` = number of ranks that measure: a collective of a bigger group is timed on all of them
/// with the result's size kept, and is scaled afterwards.
std::vector<WorkItem> makeWorkList(const std::vector<MeasuredProgram>& programs, int32_t world,
                                   const CostModel& analytical, const WorkOptions& options);
/// The order described above.
void sortWork(std::vector<WorkItem>& items);

/// Time of a collective on `group` ranks from its time on `timed` ranks with the same size of the result (of
/// the input for a reduce-scatter). A ring of n ranks takes n-1 steps (all_reduce 2(n-1)) that each carry 1/n
/// of the bytes and cost `step_ns` whatever they carry: t = steps(n)·step_ns + steps(n)/n·bytes/bandwidth. A
/// step takes no longer than timed_ns / steps(timed), whatever a busy machine made of the probe. A broadcast
/// is a pipeline: all bytes pass each link once. Source of the model: nccl-tests' performance notes (bus
/// bandwidth).
int64_t scaleCollective(CollectiveKind kind, int64_t timed_ns, int64_t step_ns, int32_t timed, int32_t group);
/// Time of one step from that of a collective of next to no bytes on `timed` ranks.
int64_t stepTime(CollectiveKind kind, int64_t probe_ns, int32_t timed);
/// Key of the latency probe for a collective.
std::string latencyProbeKey(CollectiveKind kind);

/// For other ranks: everything but the last block.
std::string encodeWork(const std::vector<WorkItem>& items);
Result<std::vector<WorkItem>> decodeWork(const std::string& text);

} // namespace gs

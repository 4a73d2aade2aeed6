#include "analysis/rank_stage.h"

#include "base/hash.h"
#include "schedule/collective_order.h"
#include "schedule/manual_moves.h"
#include "schedule/overlap_scheduler/overlap_report.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <set>

namespace gs {

namespace {

/// Place of a graph in a comparison.
struct RankPlace {
    size_t rank = 0;
    size_t graph = 0;
};

std::optional<RankPlace> findOwn(const RankComparison& ranks, const Analysis& own) {
    const uint64_t hash = own.source.graph->structuralHash();
    std::optional<RankPlace> found;
    for (size_t r = 0; r < ranks.ranks.size(); ++r) {
        const RankProgram& program = ranks.ranks[r].program;
        for (size_t g = 0; g < program.graphs.size(); ++g) {
            if (program.graphs[g].graph->structuralHash() != hash)
                continue;
            if (isProgramOf(program, own.request.graph_file, *own.source.graph))
                return RankPlace{r, g};
            if (!found)
                found = RankPlace{r, g};
        }
    }
    if (found)
        return found;
    // With shapes from a second file the graph has another hash.
    for (size_t r = 0; r < ranks.ranks.size(); ++r) {
        if (isProgramOf(ranks.ranks[r].program, own.request.graph_file, *own.source.graph) &&
            ranks.ranks[r].program.graphs.size() == 1)
            return RankPlace{r, 0};
    }
    return std::nullopt;
}

/// A rank's graph, scheduled.
struct Peer {
    size_t rank = 0; ///< index into RankComparison::ranks
    Program program;
};

/// What peers must have in common at each place: kind, group, dtype, bytes, number of members.
std::vector<uint64_t> skeletonOf(const Program& program, const std::vector<NodeId>& nodes,
                                 const RankComparison& ranks, size_t rank) {
    const Graph& graph = *program.graph;
    std::vector<uint64_t> out;
    for (const NodeId id : nodes) {
        Hash64 hash;
        if (graph.node(id).kind != NodeKind::Launch) {
            hash.text(graph.targetText(id));
            out.push_back(hash.value());
            continue;
        }
        const Collective& item =
            (*program.collectives)[static_cast<size_t>(program.collectives->indexOf(id))];
        bool symbolic = false;
        for (const NodeId input : graph.inputs(id)) {
            const TensorMeta* tensor = graph.value(input).firstTensor();
            symbolic = symbolic || !tensor || tensor->symbolic();
        }
        const bool sized = !symbolic && item.kind != CollectiveKind::AllToAll;
        int64_t group = -1;
        for (size_t g = 0; item.group != kNoGroup && g < ranks.groups.size(); ++g) {
            if (ranks.groups[g].names[rank] == graph.text(graph.groups()[item.group].name))
                group = static_cast<int64_t>(g);
        }
        hash.number(static_cast<int64_t>(item.kind)).number(group).number(static_cast<int64_t>(item.dtype));
        hash.number(sized ? item.input_bytes : kUnknownSize);
        hash.number(static_cast<int64_t>(item.unpacks.size()));
        out.push_back(hash.value());
    }
    return out;
}

bool atFloor(const Schedule& schedule, NodeId launch) {
    for (const Decision& item : schedule.decisions) {
        if (item.launch == launch)
            return item.target <= item.floor || item.reason == BindingReason::GraphStart ||
                   item.reason == BindingReason::DataDependency || item.reason == BindingReason::Effect;
    }
    return true; // no scheduler moves it
}

class Binder {
public:
    Binder(RankMode mode, const Analysis& own, const ScheduleInput& input)
        : mode_(mode), own_(own), input_(input),
          patterns_(communicatingOps(input.settings.text(Setting::CommunicatingOps))) {
        out_.schedule = own.after.schedule;
        own_order_ = orderOf(own.after);
    }

    Result<BoundSchedule> run(const ScheduleGraph& schedule_graph) {
        std::vector<uint32_t> sequence(own_order_.collectives.size());
        std::iota(sequence.begin(), sequence.end(), 0);
        if (mode_ == RankMode::Slot) {
            if (const Status status = schedulePeers(schedule_graph); !status)
                return status.error();
            if (!out_.slots_fail.empty())
                return std::move(out_);
            if (!orders_.empty()) {
                agreed_ = agreeOnOrder(orders_);
                sequence = agreed_.sequence;
            }
        }
        auto schedule = std::make_shared<Schedule>(*own_.after.schedule);
        schedule->rank_mode = rankModeName(mode_);
        if (mode_ == RankMode::Pinned || !agreed_.sequence.empty())
            keep(sequence, *schedule);
        out_.schedule = std::move(schedule);
        return std::move(out_);
    }

private:
    RankOrder orderOf(const Program& program) const {
        return {program.graph.get(), collectiveNodes(*program.graph, patterns_), program.schedule->order};
    }

    const std::string& labelOf(size_t order) const {
        return own_.ranks->ranks[peers_[order].rank].program.label;
    }

    /// Ranks with equal graphs decide alike: one of each is enough.
    Status schedulePeers(const ScheduleGraph& schedule_graph) {
        if (own_.request.rank_files.empty())
            return Unit{};
        const auto place = own_.ranks ? findOwn(*own_.ranks, own_) : std::nullopt;
        if (!place) {
            out_.slots_fail = "this graph is not among those that the ranks were compared by";
            return Unit{};
        }
        if (const Status status = schedulePeer(place->rank, place->graph, schedule_graph); !status)
            return status;
        for (size_t r = 0; r < own_.ranks->ranks.size() && out_.slots_fail.empty(); ++r) {
            if (r == place->rank)
                continue;
            if (const Status status = schedulePeer(r, place->graph, schedule_graph); !status)
                return status;
        }
        return Unit{};
    }

    /// All ranks must come to the same end: the graphs are those that all compare, this rank's own too (the
    /// one analysed may know more of its shapes).
    Status schedulePeer(size_t rank, size_t index, const ScheduleGraph& schedule_graph) {
        const RankProgram& of = own_.ranks->ranks[rank].program;
        if (index >= of.graphs.size()) {
            out_.slots_fail = fmt::format("{} has no such graph", of.label);
            return Unit{};
        }
        const GraphPtr& graph = of.graphs[index].graph;
        if (!known_.insert(graph->structuralHash()).second)
            return Unit{};
        Program program = own_.after;
        if (graph->structuralHash() != own_.source.graph->structuralHash()) {
            Result<Program> made = schedule_graph(graph);
            if (!made)
                return made.error();
            program = std::move(made).value();
        }
        orders_.push_back(orderOf(program));
        std::vector<uint64_t> skeleton = skeletonOf(program, orders_.back().collectives, *own_.ranks, rank);
        if (peers_.empty())
            skeleton_ = skeleton;
        if (skeleton != skeleton_ || skeleton.size() != own_order_.collectives.size())
            out_.slots_fail =
                fmt::format("the collectives of {} differ once passes and buckets are done", of.label);
        peers_.push_back({rank, std::move(program)});
        return Unit{};
    }

    void keep(const std::vector<uint32_t>& sequence, Schedule& schedule) {
        const RankOrder& rank = own_order_;
        std::vector<std::vector<NodeId>> groups(rank.collectives.size());
        std::vector<int32_t> number(rank.graph->size(), -1);
        for (size_t i = 0; i < rank.collectives.size(); ++i)
            number[rank.collectives[i]] = static_cast<int32_t>(i);
        for (const Decision& item : schedule.decisions)
            groups[static_cast<size_t>(number[item.launch])] = item.moved_group;
        schedule.order = withSequence(rank, sequence, groups);
        if (schedule.order == rank.order)
            return;
        const std::vector<int32_t> behind = findHeld(sequence);
        for (Decision& item : schedule.decisions) {
            const auto collective = static_cast<size_t>(number[item.launch]);
            if (behind[collective] >= 0)
                hold(collective, static_cast<size_t>(behind[collective]), schedule, item);
        }
        countDecisions(schedule);
        if (schedule.rank_holds == 0)
            return;
        schedule.log_info.push_back(
            fmt::format("{}: the other ranks hold {} launch(es) back; {} of {} are moved", schedule.rank_mode,
                        schedule.rank_holds, schedule.moved, schedule.candidates));
        out_.diagnostics.add(
            {Severity::Info,
             "rank-holds",
             {},
             {},
             fmt::format(
                 "{}: {} of {} gathers are launched later than the scheduler would, so that all ranks "
                 "launch alike",
                 schedule.rank_mode, schedule.rank_holds, schedule.candidates),
             "the decision of each names the rank"});
    }

    /// Per collective the last one that it had passed and now follows; -1 if there is none.
    std::vector<int32_t> findHeld(const std::vector<uint32_t>& sequence) const {
        const RankOrder& rank = own_order_;
        const std::vector<uint32_t> position = positionsOf(rank.order);
        std::vector<int32_t> behind(sequence.size(), -1);
        std::vector<uint32_t> passed; // of the sequence so far: later in the order than all that follow them
        for (const uint32_t number : sequence) {
            const uint32_t place = position[rank.collectives[number]];
            while (!passed.empty() && position[rank.collectives[passed.back()]] < place)
                passed.pop_back();
            behind[number] = passed.empty() ? -1 : static_cast<int32_t>(passed.back());
            passed.push_back(number);
        }
        return behind;
    }

    void hold(size_t collective, size_t behind, Schedule& schedule, Decision& decision) const {
        if (decision.verdict == Verdict::NotCandidate)
            return; // it keeps the reason why no scheduler moves it
        const RankOrder& rank = own_order_;
        decision.hold.behind = rank.collectives[behind];
        decision.hold.slot = static_cast<int32_t>(collective);
        if (mode_ == RankMode::Slot) {
            const size_t by = holder(collective, behind);
            decision.hold.slot = static_cast<int32_t>(agreed_.slot[collective]);
            decision.hold.rank = labelOf(by);
            decision.hold.at_floor =
                atFloor(*peers_[by].program.schedule, orders_[by].collectives[collective]);
        }
        decision.reason = BindingReason::Ranks;
        ++schedule.rank_holds;
        decision.target = targetIn(schedule, decision);
        judgeAnew(input_, schedule.order, decision);
    }

    /// The rank with the latest slot; where that is this one, another that launches `behind` first.
    size_t holder(size_t collective, size_t behind) const {
        if (const size_t by = agreed_.latest[collective]; by > 0)
            return by;
        for (size_t r = 1; r < orders_.size(); ++r) {
            const std::vector<uint32_t> position = positionsOf(orders_[r].order);
            if (position[orders_[r].collectives[behind]] < position[orders_[r].collectives[collective]])
                return r;
        }
        return 0;
    }

    /// Position in program order: that of the first node behind the launch that moves with no gather.
    static uint32_t targetIn(const Schedule& schedule, const Decision& decision) {
        std::vector<bool> moves(schedule.order.size(), false);
        for (const Decision& item : schedule.decisions) {
            for (const NodeId id : item.moved_group)
                moves[id] = true;
            moves[item.launch] = true;
        }
        const auto launch = std::find(schedule.order.begin(), schedule.order.end(), decision.launch);
        const auto next = std::find_if(launch, schedule.order.end(), [&](NodeId id) { return !moves[id]; });
        return next == schedule.order.end() ? decision.cur : std::min<uint32_t>(decision.cur, *next);
    }

    RankMode mode_;
    const Analysis& own_;
    const ScheduleInput& input_;
    OpPatterns patterns_;
    RankOrder own_order_;
    std::vector<Peer> peers_;        ///< one for each graph that differs, this rank's first
    std::vector<RankOrder> orders_;  ///< theirs
    std::vector<uint64_t> skeleton_; ///< of all
    std::set<uint64_t> known_;       ///< hashes of their graphs
    AgreedOrder agreed_;
    BoundSchedule out_;
};

} // namespace

std::optional<RankMode> rankModeOf(const AnalysisRequest& request, const RankComparison* ranks) {
    const std::string& choice = request.settings.text(Setting::RankModeChoice);
    for (const RankMode mode : {RankMode::Identical, RankMode::Slot, RankMode::Pinned, RankMode::Abort}) {
        if (choice == rankModeName(mode))
            return mode;
    }
    return ranks ? std::optional(ranks->mode) : std::nullopt;
}

void restrictToMode(RankMode mode, AnalysisRequest& request, Diagnostics& diagnostics) {
    if (mode < RankMode::Pinned)
        return;
    const Settings before = request.settings;
    static_cast<void>(request.settings.set(Setting::BucketMode, "none"));
    static_cast<void>(request.settings.set(Setting::CollectiveBucketing, "false"));
    const size_t edits = std::erase_if(request.edits, [&](const Edit& edit) {
        return mode == RankMode::Abort || edit.kind == Edit::Kind::Bucket;
    });
    const std::string& choice = request.settings.text(Setting::RankModeChoice);
    const std::string kept_out = edits > 0 ? fmt::format(" {} changes by hand are left out.", edits) : "";
    const auto warn = [&](const char* code, const char* why, const char* what) {
        diagnostics.add({Severity::Warning,
                         code,
                         {},
                         {},
                         fmt::format("{}: {}.{}", choice == "auto" ? std::string(why) : "rank_mode=" + choice,
                                     what, kept_out),
                         "`gatherscope-cli compare RANK0 RANK1 …` shows where the ranks part"});
    };
    if (mode == RankMode::Abort) {
        static_cast<void>(request.settings.set(Setting::Scheduler, "program-order"));
        warn("rank-abort", "the ranks do not issue the same number of gathers",
             "no gather is moved or merged, the schedule is the program's order");
    } else if (edits > 0 || !(request.settings == before)) {
        warn("rank-no-buckets", "the ranks' collectives differ",
             "no gather may pass another collective, so none are merged");
    }
}

Result<BoundSchedule> bindSchedule(RankMode mode, const Analysis& own, const ScheduleInput& input,
                                   const ScheduleGraph& schedule_graph) {
    return Binder(mode, own, input).run(schedule_graph);
}

} // namespace gs

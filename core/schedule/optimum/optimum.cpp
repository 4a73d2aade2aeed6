#include "schedule/optimum/optimum.h"

#include "base/units.h"
#include "schedule/just_in_time.h"
#include "schedule/two_sided/sink_lazy.h"
#include "schedule/two_sided/two_sided_report.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <map>

namespace gs {

namespace {

constexpr size_t kNodeLimit = 100'000;

struct Gather {
    int32_t collective = -1;
    size_t stream = 0;
    size_t floor = 0;  ///< first boundary (index into the fixed sequence) it may be launched at
    size_t needed = 0; ///< index of the first fixed node that needs it; all of them: the end
    double alone_ns = 0;
    double prep_ns = 0;
};

/// A way to some boundary: when, and what is left of the transfers in flight.
struct Visit {
    double now_ns = 0;
    std::vector<double> work_ns;
};
constexpr size_t kMostVisits = 64; ///< remembered per boundary and set of launched gathers

class BranchAndBound {
public:
    BranchAndBound(const StepProblem& problem, size_t node_limit, const JobContext& job)
        : p_(problem), node_limit_(node_limit), job_(job) {}

    OptimumResult run() {
        prepare();
        StepMachine machine(p_.evaluator.model());
        best_ns_ = std::numeric_limits<double>::max();
        branch(0, 0, 0, machine);
        OptimumResult out;
        out.nodes = nodes_;
        out.stopped = job_.cancelled();
        out.proven = nodes_ <= node_limit_ && !out.stopped;
        out.order = best_.empty() ? identityOrder(p_.graph) : complete(best_);
        const StepCost found = p_.evaluator.run(out.order);
        const StepCost given = p_.evaluator.run(identityOrder(p_.graph));
        if (given.step_ns < found.step_ns) // only where the search was cut short
            out.order = identityOrder(p_.graph);
        out.step_ns = std::min(found.step_ns, given.step_ns);
        return out;
    }

private:
    // ---- the space ----------------------------------------------------------------------------------------
    void prepare() {
        std::vector<char> free(p_.graph.size(), 0);
        for (size_t i = 0; i < p_.collectives.size(); ++i) {
            const Collective& item = p_.collectives[i];
            if (!item.isGather() || item.launch == kNoNode)
                continue;
            free[item.launch] = 1;
            for (const NodeId id : p_.prep(static_cast<int32_t>(i)))
                free[id] = 1;
        }
        for (NodeId id = 0; id < p_.graph.size(); ++id) {
            if (free[id] == 0 && (p_.role[id] == StepRole::Work || p_.role[id] == StepRole::Launch))
                fixed_.push_back(id);
        }
        for (NodeId id = 0; id < p_.graph.size(); ++id) {
            if (p_.role[id] == StepRole::Late)
                fixed_.push_back(id);
        }
        index_.assign(p_.graph.size(), fixed_.size());
        for (size_t i = 0; i < fixed_.size(); ++i)
            index_[fixed_[i]] = i;
        findWaits();
        findGathers();
        compute_left_.assign(fixed_.size() + 1, 0);
        for (size_t i = fixed_.size(); i-- > 0;)
            compute_left_[i] = compute_left_[i + 1] + static_cast<double>(p_.cost_ns[fixed_[i]]);
        findStreams();
    }

    /// Per fixed node, the collectives it waits for that no fixed node before it did.
    void findWaits() {
        waits_.resize(fixed_.size() + 1);
        std::vector<char> seen(p_.graph.size(), 0);
        std::vector<NodeId> stack;
        const auto demand = [&](size_t index, NodeId id) {
            stack.assign(1, id);
            while (!stack.empty()) {
                const NodeId at = stack.back();
                stack.pop_back();
                for (const NodeId input : p_.before(at)) {
                    if (seen[input] != 0 || p_.role[input] != StepRole::Lazy)
                        continue;
                    seen[input] = 1;
                    stack.push_back(input);
                    if (p_.graph.node(input).kind == NodeKind::Wait && p_.collectives.indexOf(input) >= 0)
                        waits_[index].push_back(p_.collectives.indexOf(input));
                }
            }
        };
        for (size_t i = 0; i < fixed_.size(); ++i)
            demand(i, fixed_[i]);
        for (NodeId id = 0; id < p_.graph.size(); ++id) // waits that only the end needs
            demand(fixed_.size(), id);
    }

    void findGathers() {
        for (size_t i = 0; i < p_.collectives.size(); ++i) {
            const Collective& item = p_.collectives[i];
            if (!item.isGather() || item.launch == kNoNode)
                continue;
            Gather gather;
            gather.collective = static_cast<int32_t>(i);
            gather.stream = p_.evaluator.model().stream_of[i];
            gather.alone_ns = static_cast<double>(p_.evaluator.model().alone_ns[i]);
            gather.needed = fixed_.size();
            for (size_t at = 0; at < waits_.size(); ++at) {
                if (std::find(waits_[at].begin(), waits_[at].end(), gather.collective) != waits_[at].end())
                    gather.needed = std::min(gather.needed, at);
            }
            std::vector<NodeId> group = p_.prep(gather.collective);
            group.push_back(item.launch);
            for (const NodeId id : group) {
                gather.prep_ns += static_cast<double>(p_.cost_ns[id]);
                gather.floor = std::max(gather.floor, floorOf(id));
            }
            exact_ = exact_ && gather.prep_ns == 0;
            gathers_.push_back(gather);
        }
        std::stable_sort(gathers_.begin(), gathers_.end(),
                         [](const Gather& a, const Gather& b) { return a.needed < b.needed; });
        exact_ = exact_ && p_.evaluator.model().compute_rate == 1.0 && p_.simulation.shared_links.empty();
    }

    /// First boundary behind every fixed node that the node depends on.
    size_t floorOf(NodeId id) const {
        size_t floor = 0;
        std::vector<NodeId> stack{id};
        std::vector<char> seen(p_.graph.size(), 0);
        while (!stack.empty()) {
            const NodeId at = stack.back();
            stack.pop_back();
            for (const NodeId input : p_.before(at)) {
                if (seen[input] != 0)
                    continue;
                seen[input] = 1;
                if (index_[input] < fixed_.size())
                    floor = std::max(floor, index_[input] + 1);
                stack.push_back(input);
            }
        }
        return floor;
    }

    void findStreams() {
        const size_t streams = p_.evaluator.model().groups.size();
        next_fixed_.assign(streams, std::vector<size_t>(fixed_.size() + 1, fixed_.size() + 1));
        fixed_left_ns_.assign(streams, std::vector<double>(fixed_.size() + 1, 0));
        for (size_t stream = 0; stream < streams; ++stream) {
            for (size_t i = fixed_.size(); i-- > 0;) {
                next_fixed_[stream][i] = next_fixed_[stream][i + 1];
                fixed_left_ns_[stream][i] = fixed_left_ns_[stream][i + 1];
                const int32_t index = p_.collectives.indexOf(fixed_[i]);
                if (p_.role[fixed_[i]] != StepRole::Launch ||
                    p_.evaluator.model().stream_of[static_cast<size_t>(index)] != stream)
                    continue;
                next_fixed_[stream][i] = i;
                fixed_left_ns_[stream][i] +=
                    static_cast<double>(p_.evaluator.model().alone_ns[static_cast<size_t>(index)]);
            }
        }
    }

    // ---- the search ---------------------------------------------------------------------------------------
    /// At the boundary in front of fixed node `at`, with the gathers of `launched` launched.
    void branch(size_t at, uint32_t launched, size_t lowest_stream, const StepMachine& machine) {
        if (++nodes_ > node_limit_ || (nodes_ % 256 == 0 && job_.cancelled())) {
            nodes_ = std::max(nodes_, job_.cancelled() ? nodes_ : node_limit_ + 1);
            return;
        }
        if (bound(at, launched, machine) >= best_ns_ - 0.5)
            return;
        bool must_launch = false;
        for (size_t i = 0; i < gathers_.size(); ++i) {
            if ((launched >> i & 1) == 0 && gathers_[i].needed <= at)
                must_launch = true;
        }
        const bool proceeds = !must_launch && !(exact_ && idlesForNothing(at, launched, machine));
        for (size_t i = 0; i < gathers_.size(); ++i) {
            const Gather& gather = gathers_[i];
            if ((launched >> i & 1) != 0 || gather.floor > at || (exact_ && gather.stream < lowest_stream))
                continue;
            const bool dry = runsDry(gather, at, machine);
            if (exact_ && !dry && !must_launch)
                continue; // later is as good: the stream is busy beside all of the next computation
            StepMachine next = machine;
            if (gather.prep_ns > 0)
                next.compute(gather.prep_ns);
            next.launch(gather.collective);
            sequence_.push_back(static_cast<int32_t>(i));
            branch(at, launched | 1u << i, gather.stream, next);
            sequence_.pop_back();
            if (nodes_ > node_limit_)
                return;
        }
        if (proceeds)
            proceed(at, launched, machine);
    }

    /// Some stream would run dry though each of its gathers could be launched here and be done before the
    /// next fixed launch: whichever comes next may as well come now.
    bool idlesForNothing(size_t at, uint32_t launched, const StepMachine& machine) const {
        std::vector<char> any(next_fixed_.size(), 0), all(next_fixed_.size(), 1);
        for (size_t i = 0; i < gathers_.size(); ++i) {
            const Gather& gather = gathers_[i];
            if ((launched >> i & 1) != 0)
                continue;
            any[gather.stream] = any[gather.stream] != 0 || runsDry(gather, at, machine);
            all[gather.stream] =
                all[gather.stream] != 0 && gather.floor <= at && harmless(gather, at, machine);
        }
        for (size_t stream = 0; stream < any.size(); ++stream) {
            if (any[stream] != 0 && all[stream] != 0)
                return true;
        }
        return false;
    }

    bool runsDry(const Gather& gather, size_t at, const StepMachine& machine) const {
        const double reach =
            at < fixed_.size() ? static_cast<double>(p_.cost_ns[fixed_[at]]) * p_.evaluator.model().comm_rate
                               : 0;
        return machine.backlog(static_cast<uint32_t>(gather.stream)) <= reach || stallsAt(at, machine) ||
               (at < fixed_.size() && p_.role[fixed_[at]] == StepRole::Launch);
    }

    bool stallsAt(size_t at, const StepMachine& machine) const {
        return std::any_of(waits_[at].begin(), waits_[at].end(),
                           [&](int32_t collective) { return !machine.finished(collective); });
    }

    /// Its transfer is done before the next fixed launch of its stream can come: nobody is delayed.
    bool harmless(const Gather& gather, size_t at, const StepMachine& machine) const {
        const size_t next = next_fixed_[gather.stream][at];
        if (next > fixed_.size())
            return true;
        const double span = compute_left_[at] - compute_left_[next];
        return (machine.backlog(static_cast<uint32_t>(gather.stream)) + gather.alone_ns) <=
               span * p_.evaluator.model().comm_rate;
    }

    void proceed(size_t at, uint32_t launched, const StepMachine& machine) {
        StepMachine next = machine;
        for (const int32_t collective : waits_[at])
            next.wait(collective);
        if (at == fixed_.size()) {
            next.drain();
            if (next.now() < best_ns_) {
                best_ns_ = next.now();
                best_ = sequence_;
            }
            return;
        }
        const NodeId id = fixed_[at];
        if (p_.role[id] == StepRole::Launch)
            next.launch(p_.collectives.indexOf(id));
        else
            next.compute(static_cast<double>(p_.cost_ns[id]));
        if (exact_ && isDominated(at + 1, launched, next))
            return;
        sequence_.push_back(-1);
        branch(at + 1, launched, 0, next);
        sequence_.pop_back();
    }

    /// Another way to the same place with the same gathers launched was not later and, had it waited until
    /// now, no transfer of it would end later. Remembers this way otherwise.
    bool isDominated(size_t at, uint32_t launched, const StepMachine& machine) {
        std::vector<Visit>& visits = visited_[{at, launched}];
        Visit here{machine.now(), machine.workUntilDone()};
        for (const Visit& other : visits) {
            const double waited = here.now_ns - other.now_ns;
            bool as_good = waited >= 0;
            for (size_t i = 0; as_good && i < here.work_ns.size(); ++i)
                as_good = other.work_ns[i] - waited <= here.work_ns[i];
            if (as_good)
                return true;
        }
        if (visits.size() < kMostVisits)
            visits.push_back(std::move(here));
        return false;
    }

    /// No completion is shorter.
    double bound(size_t at, uint32_t launched, const StepMachine& machine) const {
        double least = machine.now() + compute_left_[at];
        if (at < fixed_.size())
            least = std::max(least, machine.now() +
                                        static_cast<double>(p_.cost_ns[fixed_[at]] + p_.tail(fixed_[at])));
        for (size_t stream = 0; stream < next_fixed_.size(); ++stream) {
            double sum =
                machine.now() + machine.backlog(static_cast<uint32_t>(stream)) + fixed_left_ns_[stream][at];
            for (size_t i = 0; i < gathers_.size(); ++i) {
                if ((launched >> i & 1) != 0 || gathers_[i].stream != stream)
                    continue;
                sum += gathers_[i].alone_ns;
                const NodeId launch = p_.collectives[static_cast<size_t>(gathers_[i].collective)].launch;
                least = std::max(least, machine.now() + machine.backlog(static_cast<uint32_t>(stream)) +
                                            gathers_[i].alone_ns + static_cast<double>(p_.tail(launch)));
            }
            least = std::max(least, sum);
        }
        return least;
    }

    /// The whole order of a sequence: gathers by number, −1 = the next fixed node.
    Order complete(const std::vector<int32_t>& sequence) const {
        Order anchors;
        std::vector<char> placed(p_.graph.size(), 0);
        const auto put = [&](NodeId id) {
            if (placed[id] == 0)
                anchors.push_back(id);
            placed[id] = 1;
        };
        for (NodeId id = 0; id < p_.graph.size(); ++id) {
            const NodeKind kind = p_.graph.node(id).kind;
            if (kind == NodeKind::Placeholder || kind == NodeKind::GetAttr)
                put(id);
        }
        size_t at = 0;
        for (const int32_t item : sequence) {
            if (item < 0) {
                put(fixed_[at++]);
                continue;
            }
            const int32_t collective = gathers_[static_cast<size_t>(item)].collective;
            for (const NodeId id : p_.prep(collective))
                put(id);
            put(p_.collectives[static_cast<size_t>(collective)].launch);
        }
        for (NodeId id = 0; id < p_.graph.size(); ++id)
            put(id);
        return sinkLazyNodes(p_, anchors, std::vector<char>(p_.graph.size(), 0));
    }

    const StepProblem& p_;
    size_t node_limit_;
    const JobContext& job_;
    std::vector<NodeId> fixed_;
    std::vector<size_t> index_;                   ///< per node: place in fixed_
    std::vector<std::vector<int32_t>> waits_;     ///< per fixed node, and one more for the end
    std::vector<Gather> gathers_;                 ///< by first need
    std::vector<double> compute_left_;            ///< from each boundary on
    std::vector<std::vector<size_t>> next_fixed_; ///< per stream and boundary: next launch that is no gather
    std::vector<std::vector<double>> fixed_left_ns_; ///< per stream and boundary: transfers of such launches
    std::map<std::pair<size_t, uint32_t>, std::vector<Visit>> visited_; ///< by boundary and launched gathers
    bool exact_ = true; ///< the rules that leave out orders hold
    std::vector<int32_t> sequence_, best_;
    double best_ns_ = 0;
    size_t nodes_ = 0;
};

} // namespace

std::string tooLargeForOptimum(const Graph& graph, const CollectiveTable& collectives) {
    const auto gathers = static_cast<size_t>(
        std::count_if(collectives.all().begin(), collectives.all().end(),
                      [](const Collective& item) { return item.isGather() && item.launch != kNoNode; }));
    if (gathers > kMostOptimumGathers)
        return fmt::format("the exact search takes graphs of up to {} gathers, this one has {}",
                           kMostOptimumGathers, gathers);
    if (graph.size() > kMostOptimumNodes || graph.size() * collectives.size() > kMostOptimumStates)
        return fmt::format(
            "the exact search takes graphs of up to {} nodes, and {} of nodes × collectives; this "
            "one has {} nodes and {} collectives",
            kMostOptimumNodes, kMostOptimumStates, graph.size(), collectives.size());
    return {};
}

OptimumResult findOptimum(const StepProblem& problem, size_t node_limit, const JobContext& job) {
    return BranchAndBound(problem, node_limit, job).run();
}

Schedule runOptimum(const ScheduleInput& input) {
    if (const std::string why = tooLargeForOptimum(input.graph, input.collectives); !why.empty()) {
        Schedule schedule = runProgramOrder(input);
        schedule.scheduler = "optimum";
        schedule.diagnostics.add({Severity::Warning,
                                  "optimum-too-large",
                                  {},
                                  {},
                                  why,
                                  "program order is kept; `two-sided` comes close on graphs of any size"});
        return schedule;
    }
    const StepProblem problem(input);
    OptimumResult found = findOptimum(problem, kNodeLimit, input.job);
    TwoSidedOutcome outcome;
    outcome.cost = problem.evaluator.run(found.order);
    outcome.order = std::move(found.order);
    outcome.made_by =
        fmt::format("exact search over {} nodes", formatCount(static_cast<int64_t>(found.nodes)));
    outcome.stopped = found.stopped;
    Schedule schedule = reportTwoSided(input, problem, std::move(outcome));
    schedule.scheduler = "optimum";
    schedule.diagnostics.add(
        {Severity::Info,
         found.proven ? "optimum-proven" : "optimum-not-proven",
         {},
         {},
         found.proven
             ? fmt::format("no placement of the gathers makes the step shorter than {}",
                           formatTime(found.step_ns))
             : fmt::format(
                   "the search ended after {} nodes: {} is the best found, not proven to be the optimum",
                   formatCount(static_cast<int64_t>(found.nodes)), formatTime(found.step_ns)),
         ""});
    return schedule;
}

} // namespace gs

#include "schedule/two_sided/list_scheduler.h"

#include "schedule/two_sided/budget_profile.h"
#include "schedule/two_sided/sink_lazy.h"
#include "schedule/two_sided/work_left.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <set>
#include <tuple>

namespace gs {

namespace {

/// How many of the next gathers of a stream are looked at to see whether a reduction would delay one.
constexpr int kLookAhead = 32;

class ListScheduler {
public:
    ListScheduler(const StepProblem& problem, const ListPolicy& policy, const JobContext& job)
        : p_(problem), policy_(policy), job_(job), machine_(problem.evaluator.model()),
          held_(problem.evaluator.held()), work_left_(problem), profile_(problem.graph.size() + 1),
          missing_(problem.graph.size(), 0), done_(problem.graph.size(), 0),
          prep_of_(problem.graph.size(), -1), pinned_(problem.graph.size(), 0),
          group_missing_(problem.collectives.size(), 0), waiting_(problem.collectives.size()),
          pools_(problem.evaluator.model().groups.size()) {}

    Order run() {
        prepare();
        for (size_t steps = 0; order_.size() < p_.graph.size(); ++steps) {
            if (steps % 256 == 0 && job_.cancelled())
                return {};
            settle();
            const NodeId next = nextReady();
            if (feedStreams(next))
                continue;
            if (next != kNoNode)
                runNext();
            else if (!stall() && !forceLaunch())
                break;
        }
        finishRest();
        pinDeadGathers();
        return sinkLazyNodes(p_, order_, pinned_);
    }

private:
    using Ready = std::tuple<int, int64_t, NodeId>;
    struct Pool {
        std::set<std::pair<NodeId, int32_t>> urgent; ///< by due node
        std::deque<int32_t> reductions;              ///< due at the end of the step, as they became ready
    };

    void prepare() {
        for (size_t i = 0; i < p_.collectives.size(); ++i) {
            for (const NodeId id : p_.prep(static_cast<int32_t>(i)))
                prep_of_[id] = static_cast<int32_t>(i);
        }
        for (NodeId id = 0; id < p_.graph.size(); ++id) {
            const int32_t group = groupOf(id);
            for (const NodeId input : p_.before(id)) {
                if (group < 0)
                    ++missing_[id];
                else if (prep_of_[input] != group)
                    ++group_missing_[static_cast<size_t>(group)];
            }
        }
        if (policy_.budget_bytes >= 0)
            book();
        std::vector<NodeId> free_nodes;
        for (NodeId id = 0; id < p_.graph.size(); ++id) {
            if (groupOf(id) < 0 && missing_[id] == 0)
                free_nodes.push_back(id);
        }
        for (size_t i = 0; i < p_.collectives.size(); ++i) {
            if (p_.collectives[i].launch != kNoNode && group_missing_[i] == 0)
                offer(static_cast<int32_t>(i));
        }
        for (const NodeId id : free_nodes)
            makeReady(id);
    }

    /// Collective whose launch group the node belongs to; -1 for none.
    int32_t groupOf(NodeId id) const {
        return p_.role[id] == StepRole::Prep     ? prep_of_[id]
               : p_.role[id] == StepRole::Launch ? p_.collectives.indexOf(id)
                                                 : -1;
    }

    void book() {
        for (size_t i = 0; i < p_.collectives.size(); ++i) {
            const int32_t index = static_cast<int32_t>(i);
            const Collective& item = p_.collectives[i];
            if (item.launch == kNoNode)
                continue;
            if (const int64_t bytes = p_.evaluator.held().gatheredBytes(index); bytes > 0)
                profile_.add(naturalPlace(index), p_.lastUse(index) + 1, bytes);
        }
        for (const HeldModel::Gradient& item : p_.evaluator.held().gradients())
            profile_.add(item.maker, p_.collectives[static_cast<size_t>(item.collective)].launch + 1,
                         item.bytes);
    }

    /// Where a gather is launched at the latest: in front of its first consumer.
    NodeId naturalPlace(int32_t collective) const {
        const NodeId due = p_.due(collective);
        return due == kNoNode ? p_.collectives[static_cast<size_t>(collective)].launch : due;
    }

    void settle() {
        const std::vector<int32_t>& finished = machine_.finishOrder();
        for (; settled_ < finished.size(); ++settled_) {
            const int32_t collective = finished[settled_];
            pending_gradient_ -= p_.evaluator.held().gradientBytes(collective);
            std::vector<NodeId> waits;
            waits.swap(waiting_[static_cast<size_t>(collective)]);
            for (const NodeId wait : waits)
                finishNode(wait);
        }
        held_.settle(machine_);
    }

    void makeReady(NodeId id) {
        const NodeKind kind = p_.graph.node(id).kind;
        const int32_t collective = p_.collectives.indexOf(id);
        if (kind == NodeKind::Wait && collective >= 0 && !machine_.finished(collective)) {
            waiting_[static_cast<size_t>(collective)].push_back(id);
            return;
        }
        if (p_.role[id] == StepRole::Lazy) {
            finishNode(id);
            return;
        }
        ready_.insert(readyKey(id));
        urgent_.insert(urgentKey(id));
    }

    /// In program order; late computation last.
    Ready readyKey(NodeId id) const { return {p_.role[id] == StepRole::Late ? 1 : 0, 0, id}; }
    /// The longest way to the end first.
    Ready urgentKey(NodeId id) const { return {0, -p_.tail(id) - p_.cost_ns[id], id}; }

    /// The node has run (lazy ones take no time): what depends on it may be ready.
    void finishNode(NodeId id) {
        finished_.push_back(id);
        if (draining_)
            return; // the loop below is running further up
        draining_ = true;
        while (!finished_.empty()) {
            const NodeId node = finished_.front();
            finished_.pop_front();
            if (p_.role[node] == StepRole::Lazy) {
                held_.begin(node, machine_);
                held_.end(node);
            }
            done_[node] = 1;
            order_.push_back(node);
            for (const NodeId user : p_.after(node)) {
                const int32_t group = groupOf(user);
                if (group < 0 && --missing_[user] == 0)
                    makeReady(user);
                else if (group >= 0 && prep_of_[node] != group &&
                         --group_missing_[static_cast<size_t>(group)] == 0)
                    offer(group);
            }
        }
        draining_ = false;
    }

    void offer(int32_t collective) {
        Pool& pool = pools_[streamOf(collective)];
        const NodeId due = p_.due(collective);
        if (due == kNoNode)
            pool.reductions.push_back(collective);
        else
            pool.urgent.insert({due, collective});
    }

    uint32_t streamOf(int32_t collective) const {
        return p_.evaluator.model().stream_of[static_cast<size_t>(collective)];
    }
    double alone(int32_t collective) const {
        return static_cast<double>(p_.evaluator.model().alone_ns[static_cast<size_t>(collective)]);
    }

    /// Launches on every stream that would run dry beside `next`; while nothing can run, one transfer ahead.
    /// A launch whose preparation takes time comes behind all others, and only one of them: the clock moves.
    /// True if anything was launched.
    bool feedStreams(NodeId next) {
        const double reach =
            next == kNoNode ? 0 : static_cast<double>(p_.cost_ns[next]) * p_.evaluator.model().comm_rate;
        bool any = false;
        int32_t costly = -1;
        for (uint32_t stream = 0; stream < pools_.size(); ++stream) {
            while (next == kNoNode ? machine_.queued(stream) == 0 : machine_.backlog(stream) <= reach) {
                const int32_t chosen = choose(stream, reach);
                if (chosen < 0)
                    break;
                if (p_.prepNs(chosen) > 0) {
                    if (costly < 0 || p_.due(chosen) < p_.due(costly))
                        costly = chosen;
                    break;
                }
                launch(chosen);
                any = true;
            }
        }
        if (costly < 0 && !any && next == kNoNode && policy_.fill_stalls)
            costly = firstCostly();
        if (costly >= 0)
            any = launchUpTo(costly) || any;
        return any;
    }

    /// Launches the gather behind those of its stream that are needed before it. True if anything was
    /// launched.
    bool launchUpTo(int32_t collective) {
        Pool& pool = pools_[streamOf(collective)];
        bool any = false;
        while (p_.due(collective) != kNoNode) {
            const int32_t front = pool.urgent.begin()->second;
            if (!allowed(front))
                return any;
            launch(front);
            any = true;
            if (front == collective)
                return true;
        }
        launch(collective);
        return true;
    }

    /// The gather needed first whose preparation can fill a stall.
    int32_t firstCostly() const {
        int32_t first = -1;
        for (const Pool& pool : pools_) {
            for (const auto& [due, collective] : pool.urgent) {
                if (p_.prepNs(collective) == 0 || !allowed(collective))
                    continue;
                if (first < 0 || due < p_.due(first))
                    first = collective;
                break;
            }
        }
        return first;
    }

    /// The compute stream stands until a transfer ends. False if there is none.
    bool stall() {
        const size_t before = machine_.finishOrder().size();
        if (!machine_.waitAny())
            return false;
        stalled_for_.assign(machine_.finishOrder().begin() + static_cast<int64_t>(before),
                            machine_.finishOrder().end());
        settle();
        return true;
    }

    /// The stall that just ended is part of the order, not only of this simulation: its waits stay in front
    /// of what comes now. Needed where the budget, not the data, made it stand.
    void keepStall() {
        for (const int32_t collective : stalled_for_) {
            for (const NodeId wait : p_.collectives[static_cast<size_t>(collective)].waits)
                pinned_[wait] = 1;
        }
        stalled_for_.clear();
    }

    int32_t choose(uint32_t stream, double reach) const {
        const Pool& pool = pools_[stream];
        const int32_t reduction = firstReduction(pool);
        if (pool.urgent.empty())
            return reduction;
        if (reduction >= 0 &&
            (policy_.reductions_first || alone(reduction) + reach <= slackOf(pool, machine_.backlog(stream))))
            return reduction;
        const int32_t first = pool.urgent.begin()->second;
        return allowed(first) ? first : reduction;
    }

    /// First in line that the budget allows: among what only the end of the step needs there can be gathers
    /// that nothing uses.
    int32_t firstReduction(const Pool& pool) const {
        const auto found = std::find_if(pool.reductions.begin(), pool.reductions.end(),
                                        [&](int32_t collective) { return allowed(collective); });
        return found == pool.reductions.end() ? -1 : *found;
    }

    /// How much later the next transfers of the stream could start without delaying a consumer.
    double slackOf(const Pool& pool, double backlog) const {
        double slack = std::numeric_limits<double>::max();
        double sum = backlog;
        int looked = 0;
        for (const auto& [due, collective] : pool.urgent) {
            sum += alone(collective);
            slack = std::min(slack, static_cast<double>(work_left_.before(due)) - sum);
            if (++looked == kLookAhead)
                break;
        }
        return slack;
    }

    bool allowed(int32_t collective) const {
        const int64_t bytes = p_.evaluator.held().gatheredBytes(collective);
        if (policy_.budget_bytes < 0 || bytes == 0)
            return true;
        if (held_.live() + bytes > policy_.budget_bytes)
            return false;
        const NodeId natural = naturalPlace(collective);
        return std::max<int64_t>(profile_.highest(position(), natural), 0) + pending_gradient_ + bytes <=
               policy_.budget_bytes;
    }

    /// First computation in program order that has not run.
    NodeId position() const {
        while (position_ < p_.graph.size() && (p_.role[position_] != StepRole::Work || done_[position_] != 0))
            ++position_;
        return position_;
    }

    void launch(int32_t collective) {
        if (policy_.budget_bytes >= 0)
            keepStall();
        Pool& pool = pools_[streamOf(collective)];
        if (p_.due(collective) == kNoNode)
            pool.reductions.erase(std::find(pool.reductions.begin(), pool.reductions.end(), collective));
        else
            pool.urgent.erase({p_.due(collective), collective});
        const int64_t bytes = p_.evaluator.held().gatheredBytes(collective);
        if (policy_.budget_bytes >= 0 && bytes > 0)
            profile_.add(position(), naturalPlace(collective), bytes);
        for (const NodeId id : p_.prep(collective)) {
            computeNode(id);
            finishNode(id);
        }
        const NodeId launch = p_.collectives[static_cast<size_t>(collective)].launch;
        held_.begin(launch, machine_);
        machine_.launch(collective);
        held_.end(launch);
        finishNode(launch);
        settle();
    }

    /// Nothing is ready and nothing is in flight: the budget must give way.
    bool forceLaunch() {
        int32_t best = -1;
        for (const Pool& pool : pools_) {
            if (!pool.urgent.empty() && (best < 0 || pool.urgent.begin()->first < p_.due(best)))
                best = pool.urgent.begin()->second;
        }
        for (size_t i = 0; best < 0 && i < pools_.size(); ++i) {
            if (!pools_[i].reductions.empty())
                best = pools_[i].reductions.front();
        }
        if (best >= 0)
            launch(best);
        return best >= 0;
    }

    void computeNode(NodeId id) {
        stalled_for_.clear();
        held_.begin(id, machine_);
        pending_gradient_ += p_.evaluator.held().takes(id); // no launch runs here: all of it is gradients
        machine_.compute(static_cast<double>(p_.cost_ns[id]));
        held_.end(id);
    }

    void runNext() {
        const NodeId id = nextReady();
        ready_.erase(readyKey(id));
        urgent_.erase(urgentKey(id));
        if (policy_.budget_bytes >= 0)
            makeRoom(p_.evaluator.held().takes(id));
        computeNode(id);
        if (p_.role[id] == StepRole::Work && p_.cost_ns[id] > 0)
            work_left_.add(id, -p_.cost_ns[id]);
        finishNode(id);
    }

    /// Gradients that wait for their reduce-scatter give their bytes back by themselves: wait for them rather
    /// than break the budget.
    void makeRoom(int64_t bytes) {
        while (bytes > 0 && held_.live() + bytes > policy_.budget_bytes) {
            bool launched = false;
            for (Pool& pool : pools_) {
                for (int32_t next = firstReduction(pool); next >= 0; next = firstReduction(pool)) {
                    launch(next);
                    launched = true;
                }
            }
            if (!launched && (pending_gradient_ == 0 || !stall()))
                return;
            keepStall();
        }
    }

    /// What runs next: the first that is ready, or what leads to a launch soonest while a stream runs dry.
    NodeId nextReady() const {
        if (ready_.empty())
            return kNoNode;
        const NodeId first = firstThatFits();
        const NodeId urgent = std::get<2>(*urgent_.begin());
        const double end =
            machine_.now() + static_cast<double>(p_.cost_ns[first] + p_.cost_ns[urgent] + p_.tail(urgent));
        if (urgent != first && end > static_cast<double>(policy_.aim_ns) && fits(urgent))
            return urgent;
        if (!policy_.feed_first || p_.role[first] != StepRole::Work || !runsDry(p_.cost_ns[first]))
            return first;
        NodeId best = first;
        int looked = 0;
        for (const Ready& item : ready_) {
            const NodeId id = std::get<2>(item);
            if (p_.role[id] == StepRole::Work && toLaunch(id) < toLaunch(best) && fits(id))
                best = id;
            if (++looked == kLookAhead)
                break;
        }
        return best;
    }

    bool runsDry(int64_t span_ns) const {
        for (uint32_t stream = 0; stream < pools_.size(); ++stream) {
            if (machine_.backlog(stream) <= static_cast<double>(span_ns) * p_.evaluator.model().comm_rate)
                return true;
        }
        return false;
    }

    bool fits(NodeId id) const {
        const int64_t takes = p_.evaluator.held().takes(id);
        return policy_.budget_bytes < 0 || takes == 0 || held_.live() + takes <= policy_.budget_bytes;
    }

    /// First in order of priority whose gradient the budget has room for; else the first.
    NodeId firstThatFits() const {
        int looked = 0;
        for (const Ready& item : ready_) {
            if (fits(std::get<2>(item)))
                return std::get<2>(item);
            if (++looked == kLookAhead)
                break;
        }
        return std::get<2>(*ready_.begin());
    }

    int64_t toLaunch(NodeId id) const { return p_.cost_ns[id] + p_.launchDistance(id); }

    /// Nodes that only collectives without a launch could have made ready.
    void finishRest() {
        for (NodeId id = 0; id < p_.graph.size(); ++id) {
            if (done_[id] == 0)
                order_.push_back(id);
        }
    }

    /// A gather that nothing uses is held until its wait: that goes where the transfer is known to be done.
    void pinDeadGathers() {
        for (size_t i = 0; i < p_.collectives.size(); ++i) {
            if (p_.evaluator.held().gatheredBytes(static_cast<int32_t>(i)) == 0 ||
                !p_.collectives[i].consumers.empty())
                continue;
            for (const NodeId wait : p_.collectives[i].waits)
                pinned_[wait] = 1;
        }
    }

    const StepProblem& p_;
    const ListPolicy& policy_;
    const JobContext& job_;
    StepMachine machine_;
    HeldBytes held_;
    WorkLeft work_left_;
    BudgetProfile profile_;
    std::vector<uint32_t> missing_;
    std::vector<char> done_;
    std::vector<int32_t> prep_of_;
    std::vector<char> pinned_;                 ///< per node: a wait that stays where it is
    std::vector<uint32_t> group_missing_;      ///< per collective: edges into its launch group still open
    std::vector<std::vector<NodeId>> waiting_; ///< per collective: waits that are ready but for the transfer
    std::vector<Pool> pools_;                  ///< per stream
    std::set<Ready> urgent_;                   ///< the same, the longest tail first
    std::set<Ready> ready_;                    ///< computation, the first to run first
    std::deque<NodeId> finished_;              ///< have run; their users have not been told
    bool draining_ = false;
    Order order_;
    std::vector<int32_t> stalled_for_; ///< what ended with the last stall, nothing having run since
    size_t settled_ = 0;
    int64_t pending_gradient_ = 0; ///< made, and their reduce-scatter not yet done
    mutable NodeId position_ = 0;
};

} // namespace

Order scheduleList(const StepProblem& problem, const ListPolicy& policy, const JobContext& job) {
    return ListScheduler(problem, policy, job).run();
}

} // namespace gs

#include "simulate/lower_bound.h"

#include "simulate/step_machine.h"

#include <algorithm>
#include <cmath>
#include <queue>

namespace gs {

namespace {

/// Nodes whose earliest start is computed from all that comes before them; on larger graphs a sample of them.
constexpr size_t kMostTargets = 160;
constexpr size_t kTargetWork = 2'000'000; ///< targets × nodes

/// One operation on a serial machine: earliest start, duration, least time from its end to the end of the
/// step.
struct Job {
    int64_t head = 0;
    int64_t duration = 0;
    int64_t tail = 0;
};

/// Least makespan of the jobs on one machine if they could be interrupted: at any time the one with the
/// longest tail runs (J. R. Jackson's rule; J. Carlier, "The one-machine sequencing problem", 1982). O(n log
/// n).
int64_t oneMachineBound(std::vector<Job>& jobs) {
    std::sort(jobs.begin(), jobs.end(), [](const Job& a, const Job& b) { return a.head < b.head; });
    std::priority_queue<std::pair<int64_t, int64_t>> ready; // tail, duration left
    int64_t now = 0, bound = 0;
    for (size_t next = 0; next < jobs.size() || !ready.empty();) {
        if (ready.empty())
            now = std::max(now, jobs[next].head);
        for (; next < jobs.size() && jobs[next].head <= now; ++next)
            ready.push({jobs[next].tail, jobs[next].duration});
        auto [tail, left] = ready.top();
        ready.pop();
        const int64_t span = next < jobs.size() ? std::min(left, jobs[next].head - now) : left;
        now += span;
        if (span < left)
            ready.push({tail, left - span});
        else
            bound = std::max(bound, now + tail);
    }
    return bound;
}

/// The graph for the bound, in topological numbering; reversing it exchanges heads and tails.
struct BoundGraph {
    std::vector<int64_t> duration;
    std::vector<uint32_t> machine; ///< 0 = compute, 1 + link for transfers
    std::vector<int64_t> release;  ///< never starts earlier: waits for what is in flight at entry
    std::vector<uint32_t> before_begin{0};
    std::vector<uint32_t> before;

    size_t size() const { return duration.size(); }
    std::span<const uint32_t> inputs(size_t node) const {
        return {before.data() + before_begin[node], before_begin[node + 1] - before_begin[node]};
    }

    BoundGraph reversed() const {
        const auto count = static_cast<uint32_t>(size());
        BoundGraph out;
        out.duration.assign(duration.rbegin(), duration.rend());
        out.machine.assign(machine.rbegin(), machine.rend());
        out.release.assign(size(), 0);
        out.before_begin.assign(count + 1, 0);
        for (const uint32_t input : before)
            ++out.before_begin[count - input];
        for (size_t i = 0; i < count; ++i)
            out.before_begin[i + 1] += out.before_begin[i];
        out.before.resize(before.size());
        std::vector<uint32_t> next(out.before_begin.begin(), out.before_begin.end() - 1);
        for (uint32_t node = 0; node < count; ++node) {
            for (const uint32_t input : inputs(node))
                out.before[next[count - 1 - input]++] = count - 1 - node;
        }
        return out;
    }
};

/// While a transfer and compute overlap, neither runs at full speed: least time for both, however they
/// overlap.
struct OverlapRates {
    double comm = 1;
    double compute = 1;

    int64_t bound(int64_t compute_ns, int64_t comm_ns) const {
        const double both =
            std::min(static_cast<double>(compute_ns) / compute, static_cast<double>(comm_ns) / comm);
        const double gain = std::max(0.0, comm + compute - 1);
        const double sum = static_cast<double>(compute_ns) + static_cast<double>(comm_ns);
        // Floor, less what rounding may add: the bound must stay below.
        return static_cast<int64_t>(std::floor(sum - both * gain - 1e-9 * sum));
    }
};

class HeadFinder {
public:
    HeadFinder(const BoundGraph& graph, size_t machines, const OverlapRates& rates)
        : graph_(graph), rates_(rates), jobs_(machines), behind_(graph.size(), -1), head_(graph.release) {}

    /// Earliest start of every node.
    std::vector<int64_t> run() {
        const std::vector<bool> target = chooseTargets();
        for (size_t node = 0; node < graph_.size(); ++node) {
            for (const uint32_t input : graph_.inputs(node))
                head_[node] = std::max(head_[node], head_[input] + graph_.duration[input]);
            if (target[node])
                head_[node] = std::max(head_[node], boundOfAncestors(node));
        }
        return std::move(head_);
    }

private:
    std::vector<bool> chooseTargets() const {
        std::vector<size_t> costed;
        for (size_t i = 0; i < graph_.size(); ++i) {
            if (graph_.duration[i] > 0)
                costed.push_back(i);
        }
        const size_t most =
            std::clamp<size_t>(kTargetWork / std::max<size_t>(graph_.size(), 1), 8, kMostTargets);
        std::vector<bool> target(graph_.size(), false);
        const size_t count = std::min(most, costed.size());
        for (size_t i = 0; i < count; ++i)
            target[costed[i * costed.size() / count]] = true;
        return target;
    }

    /// All ancestors must be done before the node starts.
    int64_t boundOfAncestors(size_t node) {
        for (std::vector<Job>& jobs : jobs_)
            jobs.clear();
        std::vector<int64_t> sum(jobs_.size(), 0);
        behind_[node] = 0;
        for (size_t at = node + 1; at-- > 0;) {
            if (behind_[at] < 0)
                continue;
            const int64_t duration = graph_.duration[at];
            if (at != node && duration > 0) {
                jobs_[graph_.machine[at]].push_back({head_[at], duration, behind_[at]});
                sum[graph_.machine[at]] += duration;
            }
            const int64_t through = behind_[at] + (at == node ? 0 : duration);
            for (const uint32_t input : graph_.inputs(at))
                behind_[input] = std::max(behind_[input], through);
            behind_[at] = -1; // clean for the next call
        }
        int64_t bound = 0;
        for (size_t machine = 0; machine < jobs_.size(); ++machine) {
            bound = std::max(bound, oneMachineBound(jobs_[machine]));
            if (machine > 0)
                bound = std::max(bound, rates_.bound(sum[0], sum[machine]));
        }
        return bound;
    }

    const BoundGraph& graph_;
    const OverlapRates& rates_;
    std::vector<std::vector<Job>> jobs_; ///< per machine
    std::vector<int64_t> behind_;        ///< longest path to the node in question; -1 = no ancestor of it
    std::vector<int64_t> head_;
};

BoundGraph makeBoundGraph(const Graph& graph, const CollectiveTable& collectives, const CostTable& costs,
                          const StepModel& model) {
    BoundGraph out;
    for (NodeId id = 0; id < graph.size(); ++id) {
        const NodeKind kind = graph.node(id).kind;
        const int32_t index = collectives.indexOf(id);
        const bool transfer = kind == NodeKind::Launch && index >= 0;
        const bool wait = kind == NodeKind::Wait && index >= 0;
        out.duration.push_back(wait ? 0 : std::max<int64_t>(costs.ns(id), 0));
        out.machine.push_back(transfer ? 1 + model.link[model.stream_of[static_cast<size_t>(index)]] : 0);
        out.release.push_back(wait ? costs.inFlight(static_cast<size_t>(index)).remaining() : 0);
        for (const NodeId input : graph.inputs(id))
            out.before.push_back(input);
        for (const OrderEdge& edge : graph.orderEdges(id))
            out.before.push_back(edge.node);
        out.before_begin.push_back(static_cast<uint32_t>(out.before.size()));
    }
    return out;
}

} // namespace

StepBounds findStepBounds(const Graph& graph, const CollectiveTable& collectives, const CostTable& costs,
                          const SimulationSettings& settings) {
    const StepModel model(graph, collectives, costs, settings);
    const BoundGraph forwards = makeBoundGraph(graph, collectives, costs, model);
    const OverlapRates rates{model.comm_rate, model.compute_rate};
    const size_t machines = 1 + model.groups.size();
    StepBounds out;
    out.head_ns = HeadFinder(forwards, machines, rates).run();
    out.tail_ns = HeadFinder(forwards.reversed(), machines, rates).run();
    std::reverse(out.tail_ns.begin(), out.tail_ns.end());

    std::vector<std::vector<Job>> jobs(machines);
    std::vector<int64_t> sum(machines, 0);
    for (size_t i = 0; i < forwards.size(); ++i) {
        out.bound_ns = std::max(out.bound_ns, out.head_ns[i] + forwards.duration[i] + out.tail_ns[i]);
        if (forwards.duration[i] > 0)
            jobs[forwards.machine[i]].push_back({out.head_ns[i], forwards.duration[i], out.tail_ns[i]});
        sum[forwards.machine[i]] += forwards.duration[i];
    }
    for (size_t machine = 0; machine < machines; ++machine) {
        int64_t bound = oneMachineBound(jobs[machine]);
        if (machine > 0)
            bound = std::max(bound, rates.bound(sum[0], sum[machine]));
        if (bound < out.bound_ns || sum[machine] == 0)
            continue;
        out.bound_ns = bound;
        out.kind = machine == 0 ? StepBounds::Kind::Compute : StepBounds::Kind::Stream;
        out.group = machine == 0 ? kNoGroup : model.groups[machine - 1];
    }
    return out;
}

int64_t stepLowerBound(const Graph& graph, const CollectiveTable& collectives, const CostTable& costs,
                       const SimulationSettings& settings) {
    return findStepBounds(graph, collectives, costs, settings).bound_ns;
}

} // namespace gs

#include "schedule/two_sided/local_search.h"

#include <algorithm>

namespace gs {

namespace {

constexpr size_t kStallsPerRound = 8;
constexpr int kLongestChain = 6; ///< transfers looked at in front of a stall

/// Part of the order taken out and put back somewhere else.
struct Move {
    std::vector<NodeId> nodes; ///< in the order in which they stand
    NodeId before = kNoNode;   ///< they go right in front of it
};

class LocalSearch {
public:
    LocalSearch(const StepProblem& problem, const LocalSearchLimits& limits, const JobContext& job,
                Order& order, StepCost& cost)
        : p_(problem), limits_(limits), job_(job), order_(order), cost_(cost) {}

    size_t run() {
        while (used_ < limits_.steps && !job_.cancelled()) {
            position_ = positionsOf(order_);
            const TimelinePtr timeline = p_.simulate(order_);
            ++used_;
            if (!improveOnce(*timeline))
                break;
        }
        return used_;
    }

private:
    bool improveOnce(const Timeline& timeline) {
        std::vector<Stall> stalls = timeline.stalls;
        std::stable_sort(stalls.begin(), stalls.end(), [](const Stall& a, const Stall& b) {
            return a.end_ns - a.start_ns > b.end_ns - b.start_ns;
        });
        if (stalls.size() > kStallsPerRound)
            stalls.resize(kStallsPerRound);
        for (const Stall& stall : stalls) {
            int32_t collective = stall.collective;
            for (int depth = 0; depth < kLongestChain && collective >= 0; ++depth) {
                for (const Move& move : movesFor(collective, timeline)) {
                    if (used_ >= limits_.steps || job_.cancelled())
                        return false;
                    if (tryMove(move))
                        return true;
                }
                const Transfer& transfer = timeline.transfers[static_cast<size_t>(collective)];
                collective =
                    transfer.start_ns > transfer.launched_ns ? transferBefore(transfer, timeline) : -1;
            }
        }
        return false;
    }

    static int32_t transferBefore(const Transfer& transfer, const Timeline& timeline) {
        int32_t before = -1;
        for (const Transfer& other : timeline.transfers) {
            if (other.stream == transfer.stream && other.collective != transfer.collective &&
                other.end_ns <= transfer.start_ns &&
                (before < 0 || other.end_ns > timeline.transfers[static_cast<size_t>(before)].end_ns))
                before = other.collective;
        }
        return before;
    }

    std::vector<NodeId> launchGroup(int32_t collective) const {
        std::vector<NodeId> group = p_.prep(collective);
        group.push_back(p_.collectives[static_cast<size_t>(collective)].launch);
        return group;
    }

    std::vector<Move> movesFor(int32_t collective, const Timeline& timeline) const {
        std::vector<Move> moves;
        const NodeId launch = p_.collectives[static_cast<size_t>(collective)].launch;
        if (launch == kNoNode)
            return moves;
        addShifts(launchGroup(collective), moves);
        // In front of the launch before it on its stream, and that one behind it.
        const int32_t before = transferBefore(timeline.transfers[static_cast<size_t>(collective)], timeline);
        if (before >= 0 && p_.collectives[static_cast<size_t>(before)].launch != kNoNode) {
            moves.push_back({launchGroup(collective), launchGroup(before).front()});
            if (position_[launch] + 1 < order_.size())
                moves.push_back({launchGroup(before), order_[position_[launch] + 1]});
        }
        // The computation that makes its input.
        for (const NodeId input : p_.before(launchGroup(collective).front())) {
            if (p_.role[input] == StepRole::Work)
                addShifts({input}, moves);
        }
        return moves;
    }

    /// In front of the 1st, 2nd, 4th, … computation before its place, and of everything.
    void addShifts(const std::vector<NodeId>& nodes, std::vector<Move>& moves) const {
        int passed = 0, wanted = 1;
        NodeId first = kNoNode;
        for (uint32_t at = position_[nodes.front()]; at-- > 0;) {
            const NodeId id = order_[at];
            const NodeKind kind = p_.graph.node(id).kind;
            if (kind == NodeKind::Placeholder || kind == NodeKind::GetAttr)
                break;
            first = id;
            if (p_.cost_ns[id] > 0 && ++passed == wanted && wanted <= 64) {
                moves.push_back({nodes, id});
                wanted *= 2;
            }
        }
        if (first != kNoNode)
            moves.push_back({nodes, first});
    }

    bool tryMove(const Move& move) {
        std::vector<char> moving(order_.size(), 0);
        std::vector<NodeId> nodes;
        if (!collect(move, moving, nodes))
            return false;
        Order changed;
        changed.reserve(order_.size());
        for (const NodeId id : order_) {
            if (id == move.before)
                changed.insert(changed.end(), nodes.begin(), nodes.end());
            if (moving[id] == 0)
                changed.push_back(id);
        }
        ++used_;
        // A run that is cut at a limit has not seen its whole peak: no limit while the peak still decides.
        const StepCost cost =
            limits_.fits(cost_) ? p_.evaluator.run(changed, cost_.step_ns) : p_.evaluator.run(changed);
        if (!limits_.better(cost, cost_))
            return false;
        order_ = std::move(changed);
        cost_ = cost;
        return true;
    }

    /// The nodes with the lazy ones they need (views, waits); false if the move would break an edge.
    bool collect(const Move& move, std::vector<char>& moving, std::vector<NodeId>& nodes) const {
        const uint32_t place = position_[move.before];
        nodes = move.nodes;
        for (const NodeId id : nodes)
            moving[id] = 1;
        for (size_t at = 0; at < nodes.size(); ++at) {
            for (const NodeId input : p_.before(nodes[at])) {
                if (moving[input] != 0 || position_[input] < place)
                    continue;
                if (p_.role[input] != StepRole::Lazy)
                    return false;
                moving[input] = 1;
                nodes.push_back(input);
            }
            for (const NodeId user : p_.after(nodes[at])) {
                if (moving[user] == 0 && position_[user] < place)
                    return false;
            }
        }
        std::sort(nodes.begin(), nodes.end(),
                  [&](NodeId a, NodeId b) { return position_[a] < position_[b]; });
        return moving[move.before] == 0;
    }

    const StepProblem& p_;
    const LocalSearchLimits& limits_;
    const JobContext& job_;
    Order& order_;
    StepCost& cost_;
    std::vector<uint32_t> position_;
    size_t used_ = 0;
};

} // namespace

size_t improveOrder(const StepProblem& problem, const LocalSearchLimits& limits, const JobContext& job,
                    Order& order, StepCost& cost) {
    return LocalSearch(problem, limits, job, order, cost).run();
}

} // namespace gs

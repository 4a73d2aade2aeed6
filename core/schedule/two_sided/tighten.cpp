#include "schedule/two_sided/tighten.h"

#include <algorithm>
#include <cmath>

namespace gs {

namespace {

class Tightener {
public:
    Tightener(const StepProblem& problem, const Order& order, const Timeline& timeline, int64_t slack_ns)
        : p_(problem), order_(order), timeline_(timeline), slack_ns_(slack_ns), position_(positionsOf(order)),
          goes_before_(problem.collectives.size(), kNoNode) {
        for (const NodeId id : order) {
            if (p_.cost_ns[id] > 0 && p_.role[id] != StepRole::Prep)
                work_.push_back(id);
        }
    }

    Order run() {
        std::vector<int32_t> by_start;
        for (const Transfer& transfer : timeline_.transfers)
            by_start.push_back(transfer.collective);
        std::stable_sort(by_start.begin(), by_start.end(), [&](int32_t a, int32_t b) {
            const Transfer& first = transferOf(a);
            const Transfer& second = transferOf(b);
            return first.start_ns != second.start_ns ? first.start_ns < second.start_ns
                                                     : launchPosition(a) < launchPosition(b);
        });
        std::vector<int64_t> next_start(timeline_.streams.size(), INT64_MAX / 4);
        std::vector<uint32_t> next_place(timeline_.streams.size(), UINT32_MAX);
        for (size_t i = by_start.size(); i-- > 0;) {
            const Transfer& transfer = transferOf(by_start[i]);
            place(transfer, next_start[transfer.stream], next_place[transfer.stream]);
        }
        return rebuild();
    }

private:
    const Transfer& transferOf(int32_t collective) const {
        return timeline_.transfers[static_cast<size_t>(collective)];
    }
    uint32_t launchPosition(int32_t collective) const {
        const NodeId launch = p_.collectives[static_cast<size_t>(collective)].launch;
        return launch == kNoNode ? 0 : position_[launch];
    }

    /// `next_start`, `next_place`: of the stream's transfer behind this one; replaced by this one's own.
    void place(const Transfer& transfer, int64_t& next_start, uint32_t& next_place) {
        const Collective& item = p_.collectives[static_cast<size_t>(transfer.collective)];
        const int64_t next = next_start;
        const uint32_t limit = std::min(next_place, firstUse(item));
        next_start = transfer.start_ns;
        next_place = item.launch == kNoNode ? 0 : position_[item.launch];
        if (item.launch == kNoNode || !item.isGather() || item.waits.empty() || transfer.exposed_ns > 0)
            return;
        const int64_t needed = timeline_.start_ns[order_[firstUse(item)]] - slack_ns_;
        const int64_t latest = std::min(needed, next) - (transfer.end_ns - transfer.start_ns);
        if (latest <= transfer.launched_ns)
            return;
        // The last computation that starts by then; the launch goes in front of it.
        auto found = std::upper_bound(work_.begin(), work_.end(), latest,
                                      [&](int64_t time, NodeId id) { return time < timeline_.start_ns[id]; });
        while (found != work_.begin() && position_[*(found - 1)] >= limit)
            --found;
        if (found == work_.begin() || position_[*(found - 1)] <= position_[item.launch])
            return;
        const NodeId before = *(found - 1);
        goes_before_[static_cast<size_t>(transfer.collective)] = before;
        next_start = std::max(transfer.start_ns, timeline_.start_ns[before]);
        next_place = position_[before];
    }

    /// Position of the first node that needs the launch.
    uint32_t firstUse(const Collective& item) const {
        uint32_t first = static_cast<uint32_t>(order_.size()) - 1;
        if (item.launch != kNoNode) {
            for (const NodeId user : p_.after(item.launch))
                first = std::min(first, position_[user]);
        }
        return first;
    }

    Order rebuild() const {
        std::vector<std::vector<int32_t>> arrives(order_.size());
        std::vector<char> moves(order_.size(), 0);
        std::vector<std::pair<uint32_t, int32_t>> by_launch;
        for (size_t i = 0; i < goes_before_.size(); ++i) {
            if (goes_before_[i] != kNoNode)
                by_launch.emplace_back(launchPosition(static_cast<int32_t>(i)), static_cast<int32_t>(i));
        }
        std::sort(by_launch.begin(), by_launch.end());
        for (const auto& [position, collective] : by_launch) {
            arrives[goes_before_[static_cast<size_t>(collective)]].push_back(collective);
            moves[order_[position]] = 1;
            for (const NodeId id : p_.prep(collective))
                moves[id] = 1;
        }
        Order out;
        out.reserve(order_.size());
        for (const NodeId id : order_) {
            for (const int32_t collective : arrives[id]) {
                out.insert(out.end(), p_.prep(collective).begin(), p_.prep(collective).end());
                out.push_back(p_.collectives[static_cast<size_t>(collective)].launch);
            }
            if (moves[id] == 0)
                out.push_back(id);
        }
        return out;
    }

    const StepProblem& p_;
    const Order& order_;
    const Timeline& timeline_;
    int64_t slack_ns_;
    std::vector<uint32_t> position_;
    std::vector<NodeId> work_; ///< computation that takes time, in order
    std::vector<NodeId>
        goes_before_; ///< per collective: computation in front of which it moves; kNoNode: it stays
};

} // namespace

Order launchGathersLate(const StepProblem& problem, const Order& order, const Timeline& timeline,
                        int64_t slack_ns) {
    return Tightener(problem, order, timeline, slack_ns).run();
}

} // namespace gs

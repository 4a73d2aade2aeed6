// Exact event-driven simulation of two kinds of streams: one of compute, one per process group (passes.md
// §8).
#include "simulate/critical_path.h"
#include "simulate/live_bytes.h"
#include "simulate/timeline.h"

#include <algorithm>
#include <cmath>
#include <deque>

namespace gs {

namespace {

/// Work left below this is rounding, not work (times are ns in double).
constexpr double kEpsilonNs = 1e-6;

struct Stream {
    std::deque<int32_t> waiting; ///< launched, not started
    int32_t active = -1;
    double remaining_ns = 0; ///< of the active transfer, at full speed
    uint32_t link = 0;       ///< streams of one link share its bandwidth
};

class Simulator {
public:
    Simulator(const Graph& graph, const CollectiveTable& collectives, const CostTable& costs,
              const Order& order, const SimulationSettings& settings)
        : graph_(graph), collectives_(collectives), costs_(costs), order_(order), settings_(settings),
          out_(std::make_shared<Timeline>()), finished_(collectives.size(), false) {
        out_->start_ns.assign(graph.size(), 0);
        out_->end_ns.assign(graph.size(), 0);
        makeStreams();
        makeTransfers();
    }

    std::shared_ptr<Timeline> run() {
        for (const NodeId id : order_)
            step(id);
        const double compute_end = now_;
        while (anyActive())
            advance(0);
        out_->step_ns = std::llround(std::max(now_, compute_end));
        out_->exposed_ns = std::llround(exposed_);
        out_->compute_ns = std::llround(computed_);
        out_->idle_ns = out_->step_ns - out_->compute_ns;
        for (const Transfer& transfer : out_->transfers) {
            CommStream& stream = out_->streams[transfer.stream];
            stream.busy_ns += transfer.end_ns - transfer.start_ns;
            stream.alone_ns += transfer.alone_ns;
            out_->comm_ns += transfer.alone_ns;
        }
        return out_;
    }

private:
    void makeStreams() {
        std::vector<int32_t> stream_of(graph_.groups().size() + 1, -1);
        stream_of_.resize(collectives_.size());
        int32_t done_at_entry = -1;
        for (size_t i = 0; i < collectives_.size(); ++i) {
            const GroupId group = collectives_[i].group;
            const bool in_flight = collectives_[i].inFlightAtEntry();
            int32_t own = -1;
            int32_t& stream = in_flight ? (costs_.inFlight(i).remaining() > 0 ? own : done_at_entry)
                                        : stream_of[group == kNoGroup ? graph_.groups().size() : group];
            if (stream < 0) {
                stream = static_cast<int32_t>(out_->streams.size());
                out_->streams.push_back({group, in_flight, 0, 0});
                streams_.push_back({});
                streams_.back().link = static_cast<uint32_t>(stream);
            }
            stream_of_[i] = static_cast<uint32_t>(stream);
        }
        for (const auto& link : settings_.shared_links) {
            int32_t first = -1;
            for (const GroupId group : link) {
                if (stream_of[group] < 0)
                    continue;
                first = first < 0 ? stream_of[group] : first;
                streams_[static_cast<size_t>(stream_of[group])].link = static_cast<uint32_t>(first);
            }
        }
        active_on_link_.assign(streams_.size(), 0);
    }

    void makeTransfers() {
        out_->transfers.resize(collectives_.size());
        for (size_t i = 0; i < collectives_.size(); ++i) {
            Transfer& transfer = out_->transfers[i];
            transfer.collective = static_cast<int32_t>(i);
            transfer.stream = stream_of_[i];
            transfer.alone_ns = costs_.transferNs(collectives_, i);
            if (collectives_[i].inFlightAtEntry())
                enqueue(static_cast<int32_t>(i));
        }
    }

    void step(NodeId id) {
        out_->start_ns[id] = std::llround(now_);
        const NodeKind kind = graph_.node(id).kind;
        const int32_t collective = collectives_.indexOf(id);
        if (kind == NodeKind::Launch && collective >= 0)
            enqueue(collective);
        else if (kind == NodeKind::Wait && collective >= 0)
            wait(id, collective);
        else
            compute(static_cast<double>(costs_.ns(id)));
        out_->end_ns[id] = std::llround(now_);
    }

    void enqueue(int32_t collective) {
        Transfer& transfer = out_->transfers[static_cast<size_t>(collective)];
        transfer.launched_ns = std::llround(now_);
        Stream& stream = streams_[transfer.stream];
        stream.waiting.push_back(collective);
        if (stream.active < 0)
            startNext(stream);
    }

    /// Starts waiting transfers; those of zero length are done at once.
    void startNext(Stream& stream) {
        while (stream.active < 0 && !stream.waiting.empty()) {
            const int32_t collective = stream.waiting.front();
            stream.waiting.pop_front();
            Transfer& transfer = out_->transfers[static_cast<size_t>(collective)];
            transfer.start_ns = std::llround(now_);
            if (transfer.alone_ns <= 0) {
                transfer.end_ns = transfer.start_ns;
                finished_[static_cast<size_t>(collective)] = true;
                continue;
            }
            stream.active = collective;
            stream.remaining_ns = static_cast<double>(transfer.alone_ns);
            ++active_on_link_[stream.link];
            ++active_;
        }
    }

    void wait(NodeId id, int32_t collective) {
        const double begin = now_;
        while (!finished_[static_cast<size_t>(collective)] && anyActive())
            advance(0);
        if (now_ - begin <= kEpsilonNs)
            return;
        exposed_ += now_ - begin;
        const int64_t start = std::llround(begin), end = std::llround(now_);
        out_->transfers[static_cast<size_t>(collective)].exposed_ns += end - start;
        if (end > start)
            out_->stalls.push_back({id, collective, start, end});
    }

    void compute(double work_ns) {
        const double begin = now_;
        while (work_ns > kEpsilonNs)
            work_ns = advance(work_ns);
        computed_ += now_ - begin;
    }

    bool anyActive() const { return active_ > 0; }

    /// Advances to the next event: the end of `work_ns` of compute (0 = the compute stream stands still) or
    /// of a transfer. Returns the compute left.
    double advance(double work_ns) {
        const bool computing = work_ns > 0;
        if (active_ == 0) {
            now_ += work_ns;
            return 0;
        }
        const double compute_rate = 1.0 / settings_.compute_slowdown;
        const double comm_rate = computing ? 1.0 / settings_.contention : 1.0;
        double span = computing ? work_ns / compute_rate : INFINITY;
        for (const Stream& stream : streams_) {
            if (stream.active >= 0)
                span = std::min(span, stream.remaining_ns / (comm_rate / active_on_link_[stream.link]));
        }
        now_ += span;
        for (Stream& stream : streams_) {
            if (stream.active >= 0)
                stream.remaining_ns -= span * comm_rate / active_on_link_[stream.link];
        }
        for (Stream& stream : streams_) { // after all were advanced at the old rates
            if (stream.active >= 0 && stream.remaining_ns <= kEpsilonNs)
                finish(stream);
        }
        return computing ? std::max(0.0, work_ns - span * compute_rate) : 0;
    }

    void finish(Stream& stream) {
        out_->transfers[static_cast<size_t>(stream.active)].end_ns = std::llround(now_);
        finished_[static_cast<size_t>(stream.active)] = true;
        stream.active = -1;
        --active_on_link_[stream.link];
        --active_;
        startNext(stream);
    }

    const Graph& graph_;
    const CollectiveTable& collectives_;
    const CostTable& costs_;
    const Order& order_;
    const SimulationSettings& settings_;
    std::shared_ptr<Timeline> out_;
    std::vector<Stream> streams_;
    std::vector<uint32_t> stream_of_;
    std::vector<uint32_t> active_on_link_;
    std::vector<bool> finished_;
    uint32_t active_ = 0;
    double now_ = 0;
    double exposed_ = 0;
    double computed_ = 0;
};

} // namespace

TimelinePtr simulate(const Graph& graph, const CollectiveTable& collectives, const CostTable& costs,
                     const Order& order, const SimulationSettings& settings) {
    std::shared_ptr<Timeline> timeline = Simulator(graph, collectives, costs, order, settings).run();
    addLiveBytes(graph, collectives, order, *timeline);
    timeline->critical_path = findCriticalPath(graph, collectives, order, *timeline);
    return timeline;
}

int64_t stepLowerBound(const Graph& graph, const CollectiveTable& collectives, const CostTable& costs,
                       const SimulationSettings& settings) {
    // Costs are at least as long as without contention, so the bound holds for every setting of it. Streams
    // of one link share its bandwidth: their transfers add up.
    int64_t compute = 0;
    std::vector<int64_t> per_group(graph.groups().size() + 1, 0);
    std::vector<int64_t> path(graph.size(), 0);
    int64_t longest = 0;
    for (NodeId id = 0; id < graph.size(); ++id) {
        const int64_t cost = costs.ns(id);
        if (graph.node(id).kind == NodeKind::Launch) {
            const int32_t index = collectives.indexOf(id);
            const GroupId group = index < 0 ? kNoGroup : collectives[static_cast<size_t>(index)].group;
            per_group[group == kNoGroup ? graph.groups().size() : group] += cost;
        } else {
            compute += cost;
        }
        int64_t before = 0;
        if (const int32_t index = collectives.indexOf(id);
            graph.node(id).kind == NodeKind::Wait && index >= 0)
            before = costs.inFlight(static_cast<size_t>(index)).remaining();
        for (const NodeId input : graph.inputs(id))
            before = std::max(before, path[input]);
        for (const OrderEdge& edge : graph.orderEdges(id))
            before = std::max(before, path[edge.node]);
        path[id] = before + cost;
        longest = std::max(longest, path[id]);
    }
    int64_t bound = std::max(compute, longest);
    for (const auto& link : settings.shared_links) {
        int64_t sum = 0;
        for (const GroupId group : link)
            sum += per_group[group];
        bound = std::max(bound, sum);
    }
    return std::max(bound, *std::max_element(per_group.begin(), per_group.end()));
}

} // namespace gs

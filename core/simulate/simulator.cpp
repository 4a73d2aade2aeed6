// Exact event-driven simulation of two kinds of streams: one of compute, one per process group (passes.md
// §8).
#include "simulate/critical_path.h"
#include "simulate/held_bytes.h"
#include "simulate/live_bytes.h"

#include <algorithm>
#include <cmath>

namespace gs {

namespace {

/// Stalls up to this are rounding (times are ns in double).
constexpr double kEpsilonNs = 1e-6;

/// Drives the machine through an order and writes down what happens.
class Simulator {
public:
    Simulator(const Graph& graph, const CollectiveTable& collectives, const CostTable& costs,
              const Order& order, const SimulationSettings& settings)
        : graph_(graph), collectives_(collectives), costs_(costs), order_(order),
          model_(graph, collectives, costs, settings), machine_(model_), held_model_(graph, collectives),
          held_(held_model_), out_(std::make_shared<Timeline>()) {
        out_->start_ns.assign(graph.size(), 0);
        out_->end_ns.assign(graph.size(), 0);
        for (size_t i = 0; i < model_.groups.size(); ++i)
            out_->streams.push_back({model_.groups[i], model_.is_in_flight[i] != 0, 0, 0});
        out_->transfers.resize(collectives_.size());
    }

    std::shared_ptr<Timeline> run() {
        for (const NodeId id : order_) {
            held_.begin(id, machine_);
            step(id);
            held_.end(id);
        }
        machine_.drain();
        out_->peak_held_bytes = held_.peak();
        out_->step_ns = std::llround(machine_.now());
        out_->exposed_ns = std::llround(exposed_);
        out_->compute_ns = std::llround(machine_.computed());
        out_->idle_ns = out_->step_ns - out_->compute_ns;
        for (size_t i = 0; i < collectives_.size(); ++i)
            finishTransfer(i);
        return out_;
    }

private:
    void step(NodeId id) {
        out_->start_ns[id] = std::llround(machine_.now());
        const NodeKind kind = graph_.node(id).kind;
        const int32_t collective = collectives_.indexOf(id);
        if (kind == NodeKind::Launch && collective >= 0) {
            out_->transfers[static_cast<size_t>(collective)].launched_ns = out_->start_ns[id];
            machine_.launch(collective);
        } else if (kind == NodeKind::Wait && collective >= 0) {
            wait(id, collective);
        } else {
            machine_.compute(static_cast<double>(costs_.ns(id)));
        }
        out_->end_ns[id] = std::llround(machine_.now());
    }

    void wait(NodeId id, int32_t collective) {
        const int64_t start = out_->start_ns[id];
        const double stall = machine_.wait(collective);
        if (stall <= kEpsilonNs)
            return;
        exposed_ += stall;
        const int64_t end = std::llround(machine_.now());
        out_->transfers[static_cast<size_t>(collective)].exposed_ns += end - start;
        if (end > start)
            out_->stalls.push_back({id, collective, start, end});
    }

    void finishTransfer(size_t index) {
        Transfer& transfer = out_->transfers[index];
        transfer.collective = static_cast<int32_t>(index);
        transfer.stream = model_.stream_of[index];
        transfer.alone_ns = model_.alone_ns[index];
        transfer.start_ns = std::llround(machine_.startOf(transfer.collective));
        transfer.end_ns = std::llround(machine_.endOf(transfer.collective));
        CommStream& stream = out_->streams[transfer.stream];
        stream.busy_ns += transfer.end_ns - transfer.start_ns;
        stream.alone_ns += transfer.alone_ns;
        out_->comm_ns += transfer.alone_ns;
    }

    const Graph& graph_;
    const CollectiveTable& collectives_;
    const CostTable& costs_;
    const Order& order_;
    StepModel model_;
    StepMachine machine_;
    HeldModel held_model_;
    HeldBytes held_;
    std::shared_ptr<Timeline> out_;
    double exposed_ = 0;
};

} // namespace

TimelinePtr simulate(const Graph& graph, const CollectiveTable& collectives, const CostTable& costs,
                     const Order& order, const SimulationSettings& settings) {
    std::shared_ptr<Timeline> timeline = Simulator(graph, collectives, costs, order, settings).run();
    addLiveBytes(graph, collectives, order, *timeline);
    timeline->critical_path = findCriticalPath(graph, collectives, order, *timeline);
    return timeline;
}

} // namespace gs

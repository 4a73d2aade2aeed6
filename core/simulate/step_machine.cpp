#include "simulate/step_machine.h"

#include <algorithm>
#include <cmath>

namespace gs {

namespace {

/// Work left below this is rounding, not work (times are ns in double).
constexpr double kEpsilonNs = 1e-6;

} // namespace

StepModel::StepModel(const Graph& graph, const CollectiveTable& collectives, const CostTable& costs,
                     const SimulationSettings& settings)
    : stream_of(collectives.size()), alone_ns(collectives.size(), 0), comm_rate(1.0 / settings.contention),
      compute_rate(1.0 / settings.compute_slowdown) {
    std::vector<int32_t> stream_of_group(graph.groups().size() + 1, -1);
    int32_t done_at_entry = -1;
    for (size_t i = 0; i < collectives.size(); ++i) {
        const GroupId group = collectives[i].group;
        const bool at_entry = collectives[i].inFlightAtEntry();
        alone_ns[i] = costs.transferNs(collectives, i);
        int32_t own = -1;
        int32_t& stream = at_entry ? (alone_ns[i] > 0 ? own : done_at_entry)
                                   : stream_of_group[group == kNoGroup ? graph.groups().size() : group];
        if (stream < 0) {
            stream = static_cast<int32_t>(groups.size());
            link.push_back(static_cast<uint32_t>(stream));
            groups.push_back(group);
            is_in_flight.push_back(at_entry ? 1 : 0);
        }
        stream_of[i] = static_cast<uint32_t>(stream);
        if (at_entry)
            in_flight.push_back(static_cast<int32_t>(i));
    }
    for (const auto& shared : settings.shared_links) {
        int32_t first = -1;
        for (const GroupId group : shared) {
            if (stream_of_group[group] < 0)
                continue;
            first = first < 0 ? stream_of_group[group] : first;
            link[static_cast<size_t>(stream_of_group[group])] = static_cast<uint32_t>(first);
        }
    }
}

StepMachine::StepMachine(const StepModel& model)
    : model_(&model), streams_(model.groups.size()), active_on_link_(model.groups.size(), 0),
      runs_(model.alone_ns.size()) {
    for (const int32_t collective : model.in_flight)
        launch(collective);
}

void StepMachine::launch(int32_t collective) {
    const uint32_t index = model_->stream_of[static_cast<size_t>(collective)];
    Stream& stream = streams_[index];
    if (stream.queued++ == 0)
        stream.first = collective;
    else
        run(stream.last).next = collective;
    stream.last = collective;
    stream.queued_ns += static_cast<double>(model_->alone_ns[static_cast<size_t>(collective)]);
    if (stream.active < 0)
        startNext(index);
}

/// Starts waiting transfers; those of zero length are done at once.
void StepMachine::startNext(uint32_t index) {
    Stream& stream = streams_[index];
    while (stream.active < 0 && stream.queued > 0) {
        const int32_t collective = stream.first;
        Run& item = run(collective);
        stream.first = item.next;
        --stream.queued;
        const double alone_ns = static_cast<double>(model_->alone_ns[static_cast<size_t>(collective)]);
        item.start_ns = now_;
        if (alone_ns <= 0) {
            item.end_ns = now_;
            item.finished = true;
            finish_order_.push_back(collective);
            continue;
        }
        stream.active = collective;
        stream.remaining_ns = alone_ns;
        stream.queued_ns -= alone_ns;
        ++active_on_link_[model_->link[index]];
        ++active_;
    }
}

double StepMachine::wait(int32_t collective) {
    const double begin = now_;
    while (!run(collective).finished && active_ > 0)
        advance(0);
    return now_ - begin;
}

bool StepMachine::waitAny() {
    if (active_ == 0)
        return false;
    advance(0);
    return true;
}

void StepMachine::compute(double work_ns) {
    const double begin = now_;
    while (work_ns > kEpsilonNs)
        work_ns = advance(work_ns);
    computed_ns_ += now_ - begin;
}

std::vector<double> StepMachine::workUntilDone() const {
    std::vector<double> out(runs_.size(), 0);
    for (const Stream& stream : streams_) {
        if (stream.active < 0)
            continue;
        double sum = stream.remaining_ns;
        out[static_cast<size_t>(stream.active)] = sum;
        int32_t next = stream.first;
        for (uint32_t i = 0; i < stream.queued; ++i, next = run(next).next) {
            sum += static_cast<double>(model_->alone_ns[static_cast<size_t>(next)]);
            out[static_cast<size_t>(next)] = sum;
        }
    }
    return out;
}

void StepMachine::drain() {
    while (active_ > 0)
        advance(0);
}

/// Advances to the next event: the end of `work_ns` of compute (0 = the compute stream stands still) or of a
/// transfer. Returns the compute left.
double StepMachine::advance(double work_ns) {
    const bool computing = work_ns > 0;
    if (active_ == 0) {
        now_ += work_ns;
        return 0;
    }
    const double comm_rate = computing ? model_->comm_rate : 1.0;
    double span = computing ? work_ns / model_->compute_rate : INFINITY;
    for (size_t i = 0; i < streams_.size(); ++i) {
        if (streams_[i].active >= 0)
            span = std::min(span, streams_[i].remaining_ns / (comm_rate / active_on_link_[model_->link[i]]));
    }
    now_ += span;
    for (size_t i = 0; i < streams_.size(); ++i) {
        if (streams_[i].active >= 0)
            streams_[i].remaining_ns -= span * comm_rate / active_on_link_[model_->link[i]];
    }
    for (uint32_t i = 0; i < streams_.size(); ++i) { // after all were advanced at the old rates
        if (streams_[i].active >= 0 && streams_[i].remaining_ns <= kEpsilonNs)
            finish(i);
    }
    return computing ? std::max(0.0, work_ns - span * model_->compute_rate) : 0;
}

void StepMachine::finish(uint32_t index) {
    Stream& stream = streams_[index];
    run(stream.active).end_ns = now_;
    run(stream.active).finished = true;
    finish_order_.push_back(stream.active);
    stream.active = -1;
    stream.remaining_ns = 0;
    --active_on_link_[model_->link[index]];
    --active_;
    startNext(index);
}

} // namespace gs

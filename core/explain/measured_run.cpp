#include "explain/measured_run.h"

#include "base/median.h"
#include "cost/readers/collective_names.h"
#include "explain/measured_match.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <map>

namespace gs {

namespace {

using Spans = std::vector<std::pair<int64_t, int64_t>>;

int64_t coveredBy(const Spans& spans, int64_t start, int64_t end) {
    int64_t sum = 0;
    auto at = std::upper_bound(spans.begin(), spans.end(), std::pair(start, INT64_MAX));
    if (at != spans.begin())
        --at;
    for (; at != spans.end() && at->first < end; ++at)
        sum += std::max<int64_t>(0, std::min(end, at->second) - std::max(start, at->first));
    return sum;
}

/// Sequences of the program's and the trace's collectives that belong to one process group.
struct Lanes {
    std::vector<CollectiveMark> program, calls;
};

/// Groups by name where the trace names those of the graph, else by their size where that tells them apart,
/// else all in one.
class LaneFinder {
public:
    LaneFinder(const Analysis& analysis, const RunTrace& trace)
        : graph_(*analysis.after.graph), trace_(trace) {
        const Timeline& timeline = *analysis.after.timeline;
        std::vector<size_t> order;
        for (size_t i = 0; i < timeline.transfers.size(); ++i) {
            if (!(*analysis.after.collectives)[i].inFlightAtEntry())
                order.push_back(i);
        }
        std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
            return timeline.transfers[a].launched_ns < timeline.transfers[b].launched_ns;
        });
        chooseKeys(analysis);
        for (const size_t i : order) {
            const Collective& item = (*analysis.after.collectives)[i];
            lanes_[keyOf(item)].program.push_back(
                {plainKind(item.kind), item.input_bytes, item.output_bytes, i});
        }
        for (size_t i = 0; i < trace.collectives.size(); ++i) {
            const CollectiveCall& call = trace.collectives[i];
            lanes_[keyOf(call)].calls.push_back({call.kind, call.input_bytes, call.output_bytes, i});
        }
    }

    const std::map<std::string, Lanes>& lanes() const { return lanes_; }

private:
    void chooseKeys(const Analysis& analysis) {
        by_name_ = by_size_ = true;
        for (const CollectiveCall& call : trace_.collectives) {
            by_name_ = by_name_ && graph_.findGroup(call.group) != kNoGroup;
            by_size_ = by_size_ && call.group_size > 0;
        }
        std::map<int32_t, GroupId> sizes;
        for (const Collective& item : analysis.after.collectives->all()) {
            const auto [found, added] = sizes.try_emplace(item.group_size, item.group);
            by_size_ = by_size_ && item.group_size > 0 && found->second == item.group;
        }
    }
    std::string keyOf(const Collective& item) const {
        if (by_name_)
            return item.group == kNoGroup ? std::string()
                                          : std::string(graph_.text(graph_.groups()[item.group].name));
        return by_size_ ? std::to_string(item.group_size) : std::string();
    }
    std::string keyOf(const CollectiveCall& call) const {
        return by_name_ ? call.group : by_size_ ? std::to_string(call.group_size) : std::string();
    }

    const Graph& graph_;
    const RunTrace& trace_;
    bool by_name_ = false, by_size_ = false;
    std::map<std::string, Lanes> lanes_;
};

struct Matches {
    std::vector<std::vector<size_t>> calls; ///< by collective: its call in every step found, in time order
    size_t steps = 0;
    size_t used = 0; ///< calls that belong to a step
};

Matches matchTrace(const Analysis& analysis, const RunTrace& trace) {
    Matches out;
    out.calls.resize(analysis.after.collectives->size());
    const LaneFinder finder(analysis, trace);
    for (const auto& [key, lanes] : finder.lanes()) {
        const auto steps = matchSteps(lanes.program, lanes.calls);
        out.steps = std::max(out.steps, steps.size());
        for (const auto& step : steps) {
            for (const auto& [position, call] : step) {
                out.calls[lanes.program[position].index].push_back(lanes.calls[call].index);
                ++out.used;
            }
        }
    }
    return out;
}

int64_t quantile(const std::vector<int64_t>& sorted, double share) {
    return sorted[static_cast<size_t>(share * static_cast<double>(sorted.size() - 1) + 0.5)];
}

MeasuredErrors errorsOf(const Analysis& analysis, const MeasuredRun& run, CollectiveKind kind) {
    MeasuredErrors out;
    out.kind = kind;
    std::vector<int64_t> errors;
    int64_t exposed = 0;
    bool known = true;
    for (const MeasuredTransfer& item : run.transfers) {
        if (item.collective < 0)
            continue;
        const auto index = static_cast<size_t>(item.collective);
        if (kind != CollectiveKind::None && plainKind((*analysis.after.collectives)[index].kind) != kind)
            continue;
        const Transfer& predicted = analysis.after.timeline->transfers[index];
        const int64_t error = item.ns - (predicted.end_ns - predicted.start_ns);
        errors.push_back(error);
        out.predicted_ns += predicted.end_ns - predicted.start_ns;
        out.measured_ns += item.ns;
        out.predicted_exposed_ns += predicted.exposed_ns;
        known = known && item.exposed_ns >= 0;
        exposed += std::max<int64_t>(item.exposed_ns, 0);
        if (out.worst < 0 || std::abs(error) > std::abs(out.worst_ns)) {
            out.worst_ns = error;
            out.worst = item.collective;
        }
    }
    out.count = errors.size();
    if (errors.empty())
        return out;
    out.bias_ns = (out.measured_ns - out.predicted_ns) / static_cast<int64_t>(errors.size());
    std::sort(errors.begin(), errors.end());
    out.spread_ns = quantile(errors, 0.75) - quantile(errors, 0.25);
    out.measured_exposed_ns = known ? exposed : -1;
    return out;
}

void addErrors(const Analysis& analysis, MeasuredRun& run) {
    run.errors.push_back(errorsOf(analysis, run, CollectiveKind::None));
    for (const CollectiveKind kind :
         {CollectiveKind::AllGather, CollectiveKind::ReduceScatter, CollectiveKind::AllReduce,
          CollectiveKind::AllToAll, CollectiveKind::Broadcast, CollectiveKind::Other}) {
        if (MeasuredErrors errors = errorsOf(analysis, run, kind); errors.count > 0)
            run.errors.push_back(errors);
    }
}

/// The step shown is the middle one: the first is often a warm-up.
void place(const Analysis& analysis, const RunTrace& trace, const Matches& matches, MeasuredRun& run) {
    const std::vector<CollectiveCall>& calls = trace.collectives;
    const Spans& compute = trace.compute;
    run.transfers.resize(matches.calls.size());
    int64_t offset = 0, first = INT64_MAX, last = INT64_MIN, earliest = INT64_MAX;
    int64_t next = INT64_MAX; // begin of the following step
    for (size_t i = 0; i < matches.calls.size(); ++i) {
        if (matches.calls[i].empty())
            continue;
        MeasuredTransfer& item = run.transfers[i];
        item.collective = static_cast<int32_t>(i);
        ++run.matched;
        std::vector<int64_t> times;
        for (const size_t call : matches.calls[i])
            times.push_back(calls[call].ns);
        item.ns = median(std::move(times));
        const size_t middle = (matches.calls[i].size() - 1) / 2;
        const CollectiveCall& shown = calls[matches.calls[i][middle]];
        if (middle + 1 < matches.calls[i].size())
            next = std::min(next, calls[matches.calls[i][middle + 1]].start);
        item.start_ns = shown.start;
        item.shown_ns = shown.ns;
        if (!compute.empty())
            item.exposed_ns =
                shown.ns - std::min(shown.ns, coveredBy(compute, shown.start, shown.start + shown.ns));
        first = std::min(first, shown.start);
        last = std::max(last, shown.start + shown.ns);
        if (const Transfer& predicted = analysis.after.timeline->transfers[i];
            predicted.start_ns < earliest) {
            earliest = predicted.start_ns;
            offset = shown.start - predicted.start_ns;
        }
    }
    if (run.matched == 0)
        return;
    run.step_ns = last - first;
    for (MeasuredTransfer& item : run.transfers)
        item.start_ns -= item.collective < 0 ? 0 : offset;
    // What is computed after the last transfer is shown as far as the simulated step goes.
    const int64_t until = std::max(last, std::min(next, offset + analysis.after.timeline->step_ns));
    for (const auto& [start, end] : compute) {
        if (end > offset && start < until)
            run.compute.emplace_back(start - offset, end - offset);
    }
}

/// Of several ranks the shortest time is the transfer, the rest is waiting for the last to arrive.
void mergeRank(const RunTrace& trace, const Matches& matches, MeasuredRun& run) {
    for (MeasuredTransfer& item : run.transfers) {
        if (item.collective < 0 || matches.calls[static_cast<size_t>(item.collective)].empty())
            continue;
        std::vector<int64_t> times;
        for (const size_t call : matches.calls[static_cast<size_t>(item.collective)])
            times.push_back(trace.collectives[call].ns);
        const int64_t other = median(std::move(times));
        const int64_t longest = std::max(item.ns + std::max<int64_t>(item.skew_ns, 0), other);
        item.ns = std::min(item.ns, other);
        item.skew_ns = longest - item.ns;
    }
}

void remark(const MeasuredRun& run, const RunTrace& trace, size_t collectives, Diagnostics& out) {
    const auto add = [&](Severity severity, const char* code, std::string message, std::string hint) {
        out.add({severity, code, {run.files.front(), 0, 0}, {}, std::move(message), std::move(hint)});
    };
    if (run.matched < collectives)
        add(Severity::Warning, "unmatched-collectives",
            fmt::format("{} of {} collectives of the program are not in the trace", collectives - run.matched,
                        collectives),
            "is it a trace of a run with this schedule applied?");
    if (run.unmatched > 0)
        add(Severity::Info, "other-collectives",
            fmt::format("{} of {} collectives of the trace belong to no step that was found", run.unmatched,
                        run.calls),
            "");
    if (run.single_rank)
        add(Severity::Info, "includes-skew", "measured durations include waiting for slower ranks",
            "give the traces of the other ranks, too");
    if (trace.host_only)
        add(Severity::Warning, "host-only",
            "nothing ran on a device: durations are the host's, and what was exposed is not known", "");
}

} // namespace

Result<MeasuredRun> measureRun(const Analysis& analysis, const std::vector<RunTrace>& traces) {
    MeasuredRun run;
    size_t collectives = 0;
    for (const Collective& item : analysis.after.collectives->all())
        collectives += item.inFlightAtEntry() ? 0 : 1;
    for (const RunTrace& trace : traces) {
        const bool first = run.files.empty();
        run.files.push_back(trace.file);
        const Matches matches = matchTrace(analysis, trace);
        if (!first) {
            mergeRank(trace, matches, run);
            continue;
        }
        run.calls = trace.collectives.size();
        run.unmatched = run.calls - std::min(run.calls, matches.used);
        run.steps = matches.steps;
        run.single_rank = traces.size() == 1;
        place(analysis, trace, matches, run);
        if (run.matched == 0)
            return Error{"other-program",
                         fmt::format("{}: none of its {} collectives fits one of the program's {}",
                                     trace.file, run.calls, collectives),
                         {trace.file, 0, 0},
                         "kinds, bytes and groups differ: is it a trace of this program?"};
        remark(run, trace, collectives, run.diagnostics);
    }
    addErrors(analysis, run);
    return run;
}

Result<MeasuredRun> measureRun(const Analysis& analysis, const std::vector<std::string>& traces,
                               const JobContext& job) {
    const Result<std::vector<RunTrace>> read = readRunTraces(traces, job);
    if (!read)
        return read.error();
    return measureRun(analysis, read.value());
}

} // namespace gs

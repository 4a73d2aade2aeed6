#include "analysis/compare.h"

#include "schedule/scheduler.h"
#include "simulate/simulation_settings.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace gs {

namespace {

CompareRow rowOf(const Program& program, const AnalysisRequest& request) {
    CompareRow row;
    row.request = request;
    row.scheduler = program.schedule->scheduler;
    row.candidates = program.schedule->candidates;
    row.launches_moved = program.schedule->moved;
    for (const Decision& decision : program.schedule->decisions)
        row.hidden += decision.verdict == Verdict::Hidden ? 1 : 0;
    row.nodes = program.graph->size();
    row.nodes_displaced = nodesDisplaced(program.schedule->order);
    row.exposed_union_ns = program.timeline->exposed_ns;
    row.exposed_sum_ns = exposedSum(*program.timeline);
    row.step_ns = program.timeline->step_ns;
    row.peak_held_bytes = program.timeline->peak_held_bytes;
    row.missing_costs = program.costs->count(Provenance::Missing);
    row.run_ms = program.schedule->run_ms;
    return row;
}

size_t countProblems(const Diagnostics& diagnostics) {
    const auto& all = diagnostics.all();
    return static_cast<size_t>(std::count_if(
        all.begin(), all.end(), [](const Diagnostic& item) { return item.severity != Severity::Info; }));
}

bool reads(const Settings& settings, Setting key) {
    const SchedulerInfo* info = findScheduler(settings.text(Setting::Scheduler));
    return !info || std::find(info->settings.begin(), info->settings.end(), key) != info->settings.end();
}

/// One part of a longer job reports as its share.
class PartProgress : public ProgressSink {
public:
    PartProgress(const JobContext& whole, std::string label, double begin, double share)
        : whole_(whole), label_(std::move(label)), begin_(begin), share_(share) {}
    void report(std::string_view, double fraction) override {
        whole_.report(label_, begin_ + share_ * std::min(fraction, 0.999));
    }

private:
    const JobContext& whole_;
    std::string label_;
    double begin_, share_;
};

struct Variation {
    Setting needs; ///< only for schedulers that read this setting
    std::vector<std::pair<Setting, const char*>> values;
};

/// What is compared beside the request's own settings. The in-flight limits and both modes of the sweep are
/// those of the reference results.
const std::vector<Variation>& variations() {
    using enum Setting;
    static const std::vector<Variation> kVariations = {
        {Carry, {{Carry, "false"}, {MovePrepChain, "false"}}},
        {MaxInFlightGb, {{MaxInFlightGb, "2"}}},
        {MaxInFlightGb, {{MaxInFlightGb, "0.1"}}},
        {ForwardDepth, {{ForwardDepth, "2"}, {BackwardDepth, "2"}}},
    };
    return kVariations;
}

} // namespace

double CompareRow::gap() const {
    return lower_bound_ns > 0
               ? static_cast<double>(step_ns - lower_bound_ns) / static_cast<double>(lower_bound_ns)
               : 0;
}

CompareRow makeCompareRow(const Analysis& analysis) {
    CompareRow row = rowOf(analysis.after, analysis.request);
    row.lower_bound_ns = analysis.lower_bound_ns;
    row.problems = countProblems(analysis.diagnostics);
    return row;
}

CompareRow programOrderRow(const Analysis& analysis) {
    AnalysisRequest request = analysis.request;
    // Both are values of these settings, so setting them cannot fail.
    static_cast<void>(request.settings.set(Setting::Scheduler, "program-order"));
    static_cast<void>(request.settings.set(Setting::BucketMode, "none"));
    request.edits.clear();
    CompareRow row = rowOf(analysis.before, request);
    row.lower_bound_ns = analysis.lower_bound_before_ns;
    return row;
}

size_t nodesDisplaced(const Order& order) {
    // Program order is 0, 1, 2, …: what both have in common is an increasing subsequence. tails[k] = smallest
    // end of one of k + 1 nodes.
    std::vector<NodeId> tails;
    for (const NodeId id : order) {
        const auto at = std::lower_bound(tails.begin(), tails.end(), id);
        if (at == tails.end())
            tails.push_back(id);
        else
            *at = id;
    }
    return order.size() - tails.size();
}

int64_t exposedSum(const Timeline& timeline) {
    // stalled[i] = stall time before stall i; stalls are disjoint and in time order.
    std::vector<int64_t> stalled(timeline.stalls.size() + 1, 0);
    for (size_t i = 0; i < timeline.stalls.size(); ++i)
        stalled[i + 1] = stalled[i] + timeline.stalls[i].end_ns - timeline.stalls[i].start_ns;
    const auto stalledUntil = [&](int64_t time) {
        const auto next = std::partition_point(timeline.stalls.begin(), timeline.stalls.end(),
                                               [&](const Stall& stall) { return stall.end_ns <= time; });
        const auto index = static_cast<size_t>(next - timeline.stalls.begin());
        const int64_t within =
            next == timeline.stalls.end() ? 0 : std::max<int64_t>(0, time - next->start_ns);
        return stalled[index] + within;
    };
    int64_t sum = 0;
    for (const Transfer& transfer : timeline.transfers)
        sum += stalledUntil(transfer.end_ns) - stalledUntil(transfer.start_ns);
    // Times are rounded one by one: on one stream both are the same but for a few nanoseconds.
    return std::max(sum, timeline.exposed_ns);
}

bool settingMatters(Setting key, const Settings& settings) {
    using enum Setting;
    const std::string& mode = settings.text(BucketMode);
    const std::string& region = settings.text(BucketRegion);
    switch (key) {
    case Scheduler:
        return true;
    case Contention:
        return reads(settings, key) || settings.number(SimulatedContention) == 0;
    case BucketCapMib:
        return mode != "none";
    case BucketRegion:
        return mode == "coalesced";
    case BucketBoundary:
        return mode == "coalesced" && region == "boundary";
    case BucketLayer:
        return mode == "coalesced" && region == "module";
    case FsdpDedup:
        return mode == "fsdp";
    default:
        return settingSpec(key).stage != Stage::Schedule || reads(settings, key);
    }
}

std::vector<Setting> changedSettings(const Settings& settings, const Settings& base) {
    const Settings defaults;
    std::vector<Setting> changed;
    for (const SettingSpec& spec : settingSpecs()) {
        const Settings& reference = settingMatters(spec.key, base) ? base : defaults;
        if (spec.key != Setting::Scheduler && settingMatters(spec.key, settings) &&
            settings.text(spec.key) != reference.text(spec.key))
            changed.push_back(spec.key);
    }
    return changed;
}

std::string changesText(const Settings& settings, const Settings& base) {
    std::string text;
    for (const Setting key : changedSettings(settings, base))
        text += fmt::format("{}{}={}", text.empty() ? "" : " ", settingSpec(key).name, settings.text(key));
    return text;
}

std::string variantKey(const AnalysisRequest& request) {
    std::string key = fmt::format("{}\n{}\n{}\n{}\n{}\n", request.graph_file, request.graph_index,
                                  request.rank, request.stage, request.shapes_file);
    for (const std::string& file : request.cost_files)
        key += file + "\n";
    for (const auto& [name, ns] : request.cost_overrides)
        key += fmt::format("{}={}\n", name, ns);
    for (const auto& [name, source] : request.cost_pins)
        key += fmt::format("{}={}\n", name, source);
    for (const std::string& edit : editTexts(request.edits))
        key += edit + "\n";
    const Settings& settings = request.settings;
    for (const SettingSpec& spec : settingSpecs()) {
        const bool matters =
            spec.key == Setting::Contention ? reads(settings, spec.key) : settingMatters(spec.key, settings);
        if (spec.key == Setting::SimulatedContention)
            key += fmt::format("{}={}\n", spec.name, simulatedContention(settings));
        else if (matters)
            key += fmt::format("{}={}\n", spec.name, settings.text(spec.key));
    }
    return key;
}

std::vector<AnalysisRequest> variantsOfAllSchedulers(const AnalysisRequest& request,
                                                     const std::vector<std::string>& only) {
    std::vector<AnalysisRequest> variants;
    std::set<std::string> seen;
    const auto add = [&](const AnalysisRequest& variant) {
        if (seen.insert(variantKey(variant)).second)
            variants.push_back(variant);
    };
    for (const SchedulerInfo& info : schedulers()) {
        if (!only.empty() && std::find(only.begin(), only.end(), info.name) == only.end())
            continue;
        AnalysisRequest own = request;
        static_cast<void>(own.settings.set(Setting::Scheduler, info.name));
        add(own);
        for (const Variation& variation : variations()) {
            if (!settingMatters(variation.needs, own.settings))
                continue;
            AnalysisRequest variant = own;
            for (const auto& [key, value] : variation.values)
                static_cast<void>(variant.settings.set(key, value));
            add(variant);
        }
    }
    return variants;
}

std::vector<CompareRow> compareVariants(const AnalyseFunction& analyse,
                                        const std::vector<AnalysisRequest>& variants, const JobContext& job,
                                        const RowFunction& made) {
    std::vector<CompareRow> rows;
    const double share = 1.0 / static_cast<double>(std::max<size_t>(1, variants.size()));
    for (size_t i = 0; i < variants.size() && !job.cancelled(); ++i) {
        const std::string& scheduler = variants[i].settings.text(Setting::Scheduler);
        PartProgress progress(job, fmt::format("{}, {} of {}", scheduler, i + 1, variants.size()),
                              share * static_cast<double>(i), share);
        const Result<AnalysisPtr> result = analyse(variants[i], {job.stop, &progress});
        if (!result && job.cancelled())
            break;
        CompareRow row;
        if (result) {
            row = makeCompareRow(*result.value());
        } else {
            row.request = variants[i];
            row.scheduler = scheduler;
            row.error = result.error();
        }
        if (made)
            made(row);
        rows.push_back(std::move(row));
    }
    job.report("done", 1.0);
    return rows;
}

bool betterRow(const CompareRow& a, const CompareRow& b, int64_t limit_bytes) {
    if (a.error || b.error)
        return !a.error && b.error;
    const auto fits = [&](const CompareRow& row) {
        return limit_bytes < 0 || row.peak_held_bytes <= limit_bytes;
    };
    if (fits(a) != fits(b))
        return fits(a);
    const auto key = [&](const CompareRow& row) {
        return fits(row) ? std::pair(row.step_ns, row.peak_held_bytes)
                         : std::pair(row.peak_held_bytes, row.step_ns);
    };
    return key(a) < key(b);
}

} // namespace gs

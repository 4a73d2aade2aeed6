#include "analysis/search.h"

#include "schedule/scheduler.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <thread>

namespace gs {

namespace {

using Clock = std::chrono::steady_clock;
using Values = std::vector<std::string>;

constexpr double kMib = 1024.0 * 1024.0;
/// Schedulers from whose best row the fine search starts.
constexpr size_t kStarts = 3;

/// Stops when the outer job is stopped or the time is over.
class Deadline {
public:
    Deadline(std::stop_token outer, double seconds) : forward_(std::move(outer), Forward{&stop_}) {
        if (seconds <= 0) {
            stop_.request_stop();
            return;
        }
        timer_ = std::jthread([this, seconds](const std::stop_token& ended) {
            std::mutex mutex;
            std::unique_lock lock(mutex);
            std::condition_variable_any never;
            never.wait_for(lock, ended, std::chrono::duration<double>(seconds), [] { return false; });
            if (!ended.stop_requested())
                stop_.request_stop();
        });
    }

    std::stop_token token() const { return stop_.get_token(); }

private:
    struct Forward {
        std::stop_source* stop;
        void operator()() const { stop->request_stop(); }
    };
    std::stop_source stop_;
    std::stop_callback<Forward> forward_;
    std::jthread timer_;
};

/// Values of a setting from small to large; empty = never varied.
Values ladder(Setting key) {
    using enum Setting;
    switch (key) {
    case Contention:
        return {"1", "1.25", "1.5", "2", "2.5", "3", "4"};
    case SlackNs:
        return {"0", "2000", "5000", "10000", "20000", "50000", "100000"};
    case GatherBudgetMib:
        return {"64", "128", "256", "512", "1024", "2048", "4096", "8192", "none"};
    case MaxInFlightGb:
        return {"0.05", "0.1", "0.25", "0.5", "1", "2", "4", "8", "16"};
    case ComputeOverlapMultipler:
        return {"0.5", "0.75", "1", "1.5", "2", "3"};
    case MaxCollDistance:
        return {"20", "50", "100", "200", "500", "1000", "5000", "100000"};
    case MaxComputePreFetch:
        return {"5", "20", "50", "200", "1000"};
    case MaxMemoryIncreaseGb:
        return {"0.1", "0.25", "0.5", "1", "2", "4", "8", "16"};
    case ForwardDepth:
    case BackwardDepth:
        return {"1", "2", "3", "4", "6", "8"};
    case BucketCapMib:
        return {"5", "10", "25", "50", "100", "200", "400", "800", "none"};
    case BucketLayer:
        return {"1", "2", "3", "4"};
    case Gathers:
    case FsdpDedup:
    case Lowering:
        return {};
    default:
        break;
    }
    // Settings of schedulers to come: what can be enumerated.
    const SettingSpec& spec = settingSpec(key);
    if (spec.stage != Stage::Schedule && spec.stage != Stage::Passes)
        return {};
    if (spec.type == SettingType::Flag)
        return {"true", "false"};
    if (spec.type == SettingType::Choice)
        return {spec.choices.begin(), spec.choices.end()};
    return {};
}

/// The few values of the coarse grid: limits, which move a schedule most.
Values coarse(Setting key) {
    using enum Setting;
    switch (key) {
    case GatherBudgetMib:
        return {"512", "2048", "none"};
    case MaxInFlightGb:
        return {"0.1", "0.5", "2", "8"};
    case MaxMemoryIncreaseGb:
        return {"0.25", "4"};
    case ForwardDepth:
    case BackwardDepth:
        return {"1", "3"};
    default:
        return {};
    }
}

class Search {
public:
    Search(const AnalyseFunction& analyse, const AnalysisRequest& request, const SearchLimits& limits,
           const JobContext& job, const RowFunction& tried)
        : analyse_(analyse), request_(request), limits_(limits), job_(job), tried_(tried),
          began_(Clock::now()), deadline_(job.stop, std::max(0.0, limits.seconds)) {
        world_ = request.settings.text(Setting::SimulatedContention);
        if (request.settings.number(Setting::SimulatedContention) == 0)
            world_ = request.settings.text(Setting::Contention);
    }

    SearchResult run() {
        attempt(request_.settings);
        if (!out_.rows.empty() && out_.rows.front().error) {
            out_.error = out_.rows.front().error;
            out_.end = SearchEnd::Failed;
            return std::move(out_);
        }
        coarseGrid();
        const std::vector<size_t> starts = bestPerScheduler();
        for (size_t i = 0; i < starts.size() && !stopped(); ++i)
            descend(starts[i]);
        if (stopped())
            out_.end = job_.cancelled() ? SearchEnd::Cancelled : SearchEnd::OutOfTime;
        out_.within_limit = out_.best >= 0 && fits(out_.rows[static_cast<size_t>(out_.best)]);
        job_.report("done", 1.0);
        return std::move(out_);
    }

private:
    bool stopped() const { return deadline_.token().stop_requested(); }
    bool fits(const CompareRow& row) const {
        return limits_.peak_bytes < 0 || row.peak_held_bytes <= limits_.peak_bytes;
    }

    /// With the memory limit itself among the values of the settings that are limits.
    Values withLimit(Setting key, Values values) const {
        if (limits_.peak_bytes <= 0 || values.empty())
            return values;
        const double mib = static_cast<double>(limits_.peak_bytes) / kMib;
        if (key == Setting::GatherBudgetMib)
            values.push_back(fmt::format("{}", mib));
        if (key == Setting::MaxInFlightGb && mib / 1024 >= settingSpec(key).minimum)
            values.push_back(fmt::format("{}", mib / 1024));
        return values;
    }

    Settings changed(Settings settings, Setting key, const std::string& value) const {
        static_cast<void>(settings.set(key, value)); // all values are in range
        if (key == Setting::Contention) {
            const std::string& own = request_.settings.text(Setting::SimulatedContention);
            const bool same = settings.text(Setting::Contention) == world_;
            static_cast<void>(settings.set(Setting::SimulatedContention, same ? own : world_));
        }
        return settings;
    }

    /// Row of these settings, analysed unless an equal variant was; -1 when the search is to stop.
    int attempt(const Settings& settings) {
        AnalysisRequest variant = request_;
        variant.settings = settings;
        variant.trace_files.clear(); // they are of one schedule
        const auto [known, is_new] = row_of_.try_emplace(variantKey(variant), out_.rows.size());
        if (!is_new)
            return static_cast<int>(known->second);
        // The request itself has all the time it needs, so that there is a best.
        const std::stop_token stop = out_.rows.empty() ? job_.stop : deadline_.token();
        const Result<AnalysisPtr> result =
            stop.stop_requested() ? Result<AnalysisPtr>(Error{}) : analyse_(variant, {stop, nullptr});
        if (!result && stop.stop_requested()) {
            row_of_.erase(known);
            return -1;
        }
        CompareRow row;
        if (result) {
            row = makeCompareRow(*result.value());
        } else {
            row.request = variant;
            row.scheduler = settings.text(Setting::Scheduler);
            row.error = result.error();
        }
        const int index = static_cast<int>(out_.rows.size());
        if (!row.error &&
            (out_.best < 0 || betterRow(row, out_.rows[static_cast<size_t>(out_.best)], limits_.peak_bytes)))
            out_.best = index;
        if (tried_)
            tried_(row);
        out_.rows.push_back(std::move(row));
        report();
        return index;
    }

    void report() const {
        const double elapsed = std::chrono::duration<double>(Clock::now() - began_).count();
        const double time = limits_.seconds > 0 ? elapsed / limits_.seconds : 1;
        const double done =
            static_cast<double>(out_.rows.size()) / static_cast<double>(out_.rows.size() + planned_);
        job_.report(fmt::format("{} tried", out_.rows.size()), std::clamp(std::max(time, done), 0.0, 0.999));
    }

    void coarseGrid() {
        std::vector<Settings> buckets{request_.settings};
        for (const char* mode : {"none", "coalesced", "fsdp"})
            buckets.push_back(changed(request_.settings, Setting::BucketMode, mode));
        std::vector<Settings> points;
        for (const Settings& bucket : buckets) {
            for (const SchedulerInfo& info : schedulers()) {
                const Settings own = changed(bucket, Setting::Scheduler, std::string(info.name));
                points.push_back(own);
                for (const Setting key : info.settings)
                    for (const std::string& value : withLimit(key, coarse(key)))
                        points.push_back(changed(own, key, value));
            }
        }
        planned_ = points.size();
        for (const Settings& point : points) {
            if (attempt(point) < 0)
                return;
            planned_ -= planned_ > 0 ? 1 : 0;
        }
    }

    /// The best row of each scheduler, best first.
    std::vector<size_t> bestPerScheduler() const {
        std::map<std::string, size_t> best;
        for (size_t i = 0; i < out_.rows.size(); ++i) {
            const auto [it, is_new] = best.try_emplace(out_.rows[i].scheduler, i);
            if (!is_new && betterRow(out_.rows[i], out_.rows[it->second], limits_.peak_bytes))
                it->second = i;
        }
        std::vector<size_t> starts;
        for (const auto& [name, row] : best)
            starts.push_back(row);
        std::sort(starts.begin(), starts.end(), [this](size_t a, size_t b) {
            if (betterRow(out_.rows[a], out_.rows[b], limits_.peak_bytes))
                return true;
            return !betterRow(out_.rows[b], out_.rows[a], limits_.peak_bytes) && a < b;
        });
        starts.resize(std::min(starts.size(), kStarts));
        return starts;
    }

    void descend(size_t row) {
        bool better = true;
        while (better) {
            better = false;
            planned_ = 0;
            for (const SettingSpec& spec : settingSpecs())
                planned_ += varies(spec.key, row) ? ladder(spec.key).size() : 0;
            for (const SettingSpec& spec : settingSpecs()) {
                if (!varies(spec.key, row))
                    continue;
                for (const std::string& value : withLimit(spec.key, ladder(spec.key))) {
                    const Settings settings = out_.rows[row].request.settings;
                    const int next = attempt(changed(settings, spec.key, value));
                    if (next < 0)
                        return;
                    planned_ -= planned_ > 0 ? 1 : 0;
                    if (betterRow(out_.rows[static_cast<size_t>(next)], out_.rows[row], limits_.peak_bytes)) {
                        row = static_cast<size_t>(next);
                        better = true;
                    }
                }
            }
        }
    }

    bool varies(Setting key, size_t row) const {
        const Settings& settings = out_.rows[row].request.settings;
        // Nothing else than the simulated world may read it: then there is nothing to vary.
        if (key == Setting::Scheduler || ladder(key).empty())
            return false;
        Settings fixed = settings;
        static_cast<void>(fixed.set(Setting::SimulatedContention, world_));
        return settingMatters(key, fixed);
    }

    const AnalyseFunction& analyse_;
    const AnalysisRequest& request_;
    SearchLimits limits_;
    JobContext job_;
    const RowFunction& tried_;
    Clock::time_point began_;
    Deadline deadline_;
    std::string world_; ///< contention of the simulation, for all variants
    SearchResult out_;
    std::map<std::string, size_t> row_of_; ///< by variantKey()
    size_t planned_ = 0;                   ///< variants of this part of the search still to come, at most
};

} // namespace

SearchResult searchSettings(const AnalyseFunction& analyse, const AnalysisRequest& request,
                            const SearchLimits& limits, const JobContext& job, const RowFunction& tried) {
    return Search(analyse, request, limits, job, tried).run();
}

} // namespace gs

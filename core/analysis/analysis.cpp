#include "analysis/analysis.h"

#include "analysis/analysis_notes.h"
#include "analysis/merge_stage.h"
#include "analysis/pass_stage.h"
#include "analysis/price_stage.h"
#include "analysis/rank_files.h"
#include "analysis/rank_stage.h"
#include "analysis/simulate_stage.h"
#include "analysis/stage_cache.h"
#include "analysis/stage_keys.h"
#include "analysis/trace_stage.h"
#include "explain/measured_run.h"
#include "passes/lint/lint.h"
#include "schedule/manual_moves.h"
#include "schedule/scheduler.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>

namespace gs {

namespace {

using Clock = std::chrono::steady_clock;

struct Imported {
    ImportedGraph source;
    Diagnostics diagnostics;
};

struct Scheduled {
    SchedulePtr before;
    SchedulePtr after;
};

struct Merged {
    Program program;
    PassReport report;
};

SchedulePtr runScheduler(const SchedulerInfo& info, const ScheduleInput& input) {
    const auto begin = Clock::now();
    auto schedule = std::make_shared<Schedule>(info.run(input));
    if (schedule->buckets.empty()) // else once they are merged
        applyEdits(input, input.edits, *schedule);
    schedule->run_ms = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
    return schedule;
}

} // namespace

struct Analyser::Cache {
    StageCache<Imported> imported{2};
    StageCache<PassedPrograms> passed{8};
    StageCache<Diagnostics> linted{8};
    StageCache<RanksResult> ranks{2};
    StageCache<PricedPrograms> priced{8};
    StageCache<Scheduled> scheduled{16};
    StageCache<Merged> merged{4};
    StageCache<BoundSchedule> bound{8};
    StageCache<SimulatedPrograms> simulated{16};
    StageCache<TracesResult> traces{2};
    StageCache<MeasuredResult> measured{4};
};

namespace {

/// One run over the stages. Each step looks into the cache first.
class Run {
public:
    Run(Analyser::Cache& cache, const AnalysisRequest& request, const JobContext& job)
        : cache_(cache), request_(request), job_(job), out_(std::make_shared<Analysis>()), asked_(request) {
        out_->request = request;
        out_->asked = request.settings;
    }

    Result<AnalysisPtr> operator()() {
        for (Status (Run::*step)() : {&Run::import, &Run::compareWithRanks, &Run::passes, &Run::lintProgram,
                                      &Run::price, &Run::schedule, &Run::merge, &Run::bindToRanks}) {
            if (const Status status = (this->*step)(); !status)
                return status.error();
        }
        if (!slots_fail_.empty())
            return withoutSlots();
        if (const Status status = simulateBoth(); !status)
            return status.error();
        explainOthers(out_->after, out_->diagnostics);
        if (const Status status = layTracesOver(); !status)
            return status.error();
        job_.report("done", 1.0);
        return AnalysisPtr(out_);
    }

private:
    static Error cancelled() { return {"cancelled", "the analysis was cancelled", {}, ""}; }

    /// The stage's result for `key`, from the cache or made by `make` (which returns a Result).
    template <typename T, typename Make>
    Result<const typename StageCache<T>::Item*> stage(StageCache<T>& cache, const char* name, double progress,
                                                      const std::string& key, Make make) {
        if (job_.cancelled())
            return cancelled();
        job_.report(name, progress);
        const auto begin = Clock::now();
        const auto* item = cache.find(key);
        const bool reused = item != nullptr;
        if (!item) {
            Result<T> made = make();
            if (!made)
                return made.error();
            if (job_.cancelled())
                return cancelled();
            item = &cache.insert(key, std::move(made).value());
        }
        out_->times.push_back(
            {name, std::chrono::duration<double, std::milli>(Clock::now() - begin).count(), reused});
        return item;
    }

    Status import() {
        auto item = stage(cache_.imported, "import", 0.0, importKey(request_), [&]() -> Result<Imported> {
            Imported made;
            Result<ImportedGraph> source =
                importGraph(request_.graph_file,
                            {request_.graph_index, request_.rank, request_.stage, request_.shapes_file},
                            made.diagnostics, job_);
            if (!source)
                return source.error();
            made.source = std::move(source).value();
            return made;
        });
        if (!item)
            return item.error();
        number_ = item.value()->number;
        out_->source = item.value()->value.source;
        out_->input_diagnostics = request_.notes;
        out_->input_diagnostics.append(item.value()->value.diagnostics);
        out_->diagnostics.append(out_->input_diagnostics);
        return Unit{};
    }

    Status passes() {
        const std::string key = fmt::format("{}\n{}", number_, passesKey(request_));
        auto item = stage(cache_.passed, "passes", 0.5, key, [&]() -> Result<PassedPrograms> {
            return runPasses(out_->source.graph, request_.settings, request_.edits);
        });
        if (!item)
            return item.error();
        const PassedPrograms& passed = item.value()->value;
        number_ = item.value()->number;
        out_->before.graph = passed.before;
        out_->before.collectives = passed.collectives_before;
        out_->after.graph = passed.after;
        out_->after.collectives = passed.collectives_after;
        out_->reports = passed.reports;
        for (const PassReport& report : passed.reports)
            out_->diagnostics.append(report.diagnostics);
        return Unit{};
    }

    /// Looks at the lowered graph only; no later stage depends on it.
    Status lintProgram() {
        const std::string key = fmt::format("{}\n{}{}", number_, settingsKey(request_.settings, Stage::Lint),
                                            request_.settings.text(Setting::Device));
        auto item = stage(cache_.linted, "lint", 0.55, key, [&]() -> Result<Diagnostics> {
            Diagnostics found;
            lint({*out_->before.graph, *out_->before.collectives, request_.settings,
                  findDevicePreset(request_.settings.text(Setting::Device))},
                 found);
            return found;
        });
        if (!item)
            return item.error();
        out_->diagnostics.append(item.value()->value);
        return Unit{};
    }

    /// A file that cannot be read is no reason to show nothing: the error goes where the ranks would be.
    Status compareWithRanks() {
        if (!request_.rank_files.empty()) {
            if (const Status status = readOtherRanks(); !status)
                return status;
        }
        if (!rank_mode_)
            rank_mode_ = rankModeOf(request_, out_->ranks.get());
        if (rank_mode_) {
            restrictToMode(*rank_mode_, request_, out_->diagnostics);
            out_->request.settings = request_.settings; // as with measured contention
        }
        return Unit{};
    }

    Status readOtherRanks() {
        std::vector<std::string> files{request_.graph_file};
        std::string key = request_.settings.text(Setting::CommunicatingOps) + "\n" + fileKey(files.front());
        for (const std::string& file : request_.rank_files) {
            key += fileKey(file);
            if (std::find(files.begin(), files.end(), file) == files.end())
                files.push_back(file);
        }
        auto item = stage(cache_.ranks, "ranks", 0.4, key, [&]() -> Result<RanksResult> {
            RanksResult made =
                compareRankFiles(files, request_.settings.text(Setting::CommunicatingOps), job_);
            if (job_.cancelled())
                return cancelled();
            return made;
        });
        if (!item)
            return item.error();
        ranks_number_ = item.value()->number;
        out_->ranks = item.value()->value.comparison;
        out_->ranks_error = item.value()->value.error;
        if (out_->ranks_error)
            out_->diagnostics.add(diagnosticOf(*out_->ranks_error));
        return Unit{};
    }

    Status price() {
        const std::string key = fmt::format("{}\n{}", number_, costsKey(request_));
        auto item = stage(cache_.priced, "costs", 0.6, key, [&]() -> Result<PricedPrograms> {
            return pricePrograms(request_, out_->before, out_->after, job_);
        });
        if (!item)
            return item.error();
        number_ = item.value()->number;
        out_->before.costs = item.value()->value.before;
        out_->after.costs = item.value()->value.after;
        chain_ = item.value()->value.chain;
        out_->cost_diagnostics = item.value()->value.of_sources;
        if (chain_.profile && takeMeasuredContention(*chain_.profile, request_.settings, out_->diagnostics))
            out_->request.settings =
                request_.settings; // whoever shows the analysis sees what it reckoned with
        out_->diagnostics.append(item.value()->value.diagnostics);
        return Unit{};
    }

    Status schedule() {
        const SchedulerInfo* info = findScheduler(request_.settings.text(Setting::Scheduler));
        if (!info)
            return Error{
                "unknown-scheduler",
                fmt::format("there is no scheduler \"{}\"", request_.settings.text(Setting::Scheduler)),
                {},
                "`gatherscope-cli list schedulers` names them all"};
        std::string key = fmt::format("{}\n{}{}", number_, settingsKey(request_.settings, Stage::Schedule),
                                      editsKey(request_.edits, false));
        for (const Setting read : info->settings) { // some schedulers simulate
            if (settingSpec(read).stage == Stage::Simulate)
                key += request_.settings.text(read) + "\n";
        }
        auto item = stage(cache_.scheduled, "schedule", 0.7, key, [&]() -> Result<Scheduled> {
            const auto input = [&](const Program& program) {
                return ScheduleInput{*program.graph, *program.collectives, *program.costs, request_.settings,
                                     job_};
            };
            ScheduleInput after = input(out_->after);
            after.edits = request_.edits;
            return Scheduled{runScheduler(*findScheduler("program-order"), input(out_->before)),
                             runScheduler(*info, after)};
        });
        if (!item)
            return item.error();
        number_ = item.value()->number;
        out_->before.schedule = item.value()->value.before;
        out_->after.schedule = item.value()->value.after;
        return Unit{};
    }

    /// Buckets that the scheduler decided become nodes.
    Status merge() {
        if (!out_->after.schedule->buckets.empty()) {
            const std::string key = fmt::format("{}", number_);
            auto item = stage(cache_.merged, "merge", 0.8, key, [&]() -> Result<Merged> {
                Merged made;
                made.program = mergeBuckets(out_->after, request_, chain_, job_, made.report);
                return made;
            });
            if (!item)
                return item.error();
            number_ = item.value()->number;
            out_->after = item.value()->value.program;
            out_->reports.push_back(item.value()->value.report);
        }
        reportMissing(out_->after, *out_->after.costs, out_->diagnostics);
        out_->diagnostics.append(out_->after.schedule->diagnostics);
        return Unit{};
    }

    Status bindToRanks() {
        if (!rank_mode_)
            return Unit{};
        const std::string key = fmt::format("{}\n{}\n{}", number_, ranks_number_, rankModeName(*rank_mode_));
        auto item = stage(cache_.bound, "bind", 0.82, key, [&] {
            const Program& program = out_->after;
            return bindSchedule(
                *rank_mode_, *out_,
                {*program.graph, *program.collectives, *program.costs, request_.settings, job_},
                [&](const GraphPtr& graph) { return scheduleOther(graph); });
        });
        if (!item)
            return item.error();
        number_ = item.value()->number;
        out_->after.schedule = item.value()->value.schedule;
        out_->diagnostics.append(item.value()->value.diagnostics);
        slots_fail_ = item.value()->value.slots_fail;
        return Unit{};
    }

    /// Another rank's graph through the stages that decide.
    Result<Program> scheduleOther(const GraphPtr& graph) const {
        Analyser::Cache cache;
        Run other(cache, request_, {job_.stop, nullptr});
        other.out_->source.graph = graph;
        for (Status (Run::*step)() : {&Run::passes, &Run::price, &Run::schedule, &Run::merge}) {
            if (const Status status = (other.*step)(); !status)
                return status.error();
        }
        return other.out_->after;
    }

    /// Ranks without slots in common can still keep the order of their collectives.
    Result<AnalysisPtr> withoutSlots() const {
        Run pinned(cache_, asked_, job_);
        pinned.rank_mode_ = RankMode::Pinned;
        pinned.out_->diagnostics.add({Severity::Warning,
                                      "rank-no-slots",
                                      {},
                                      {},
                                      slots_fail_ + ": no gather passes another collective",
                                      "without buckets (bucket_mode=none) the ranks' collectives may agree"});
        return pinned();
    }

    Status simulateBoth() {
        const std::string key =
            fmt::format("{}\n{}", number_, settingsKey(request_.settings, Stage::Simulate));
        auto item = stage(cache_.simulated, "simulate", 0.85, key, [&]() -> Result<SimulatedPrograms> {
            return simulatePrograms(out_->before, out_->after, request_.settings);
        });
        if (!item)
            return item.error();
        number_ = item.value()->number;
        out_->before.timeline = item.value()->value.before;
        out_->after.timeline = item.value()->value.after;
        out_->lower_bound_ns = item.value()->value.lower_bound_ns;
        out_->lower_bound_before_ns = item.value()->value.lower_bound_before_ns;
        out_->diagnostics.append(item.value()->value.diagnostics);
        return Unit{};
    }

    /// As with the ranks, what cannot be read is shown as missing. A change of the schedule reads nothing
    /// anew.
    Status layTracesOver() {
        if (request_.trace_files.empty())
            return Unit{};
        std::string key;
        for (const std::string& file : request_.trace_files)
            key += fileKey(file);
        auto read = stage(cache_.traces, "traces", 0.9, key, [&]() -> Result<TracesResult> {
            return TracesResult(readRunTraces(request_.trace_files, job_));
        });
        if (!read)
            return read.error();
        const std::string both = fmt::format("{}\n{}", number_, read.value()->number);
        auto item = stage(cache_.measured, "measured", 0.95, both,
                          [&]() -> Result<MeasuredResult> { return measuredOf(*out_, read.value()->value); });
        if (!item)
            return item.error();
        showMeasured(*out_, item.value()->value);
        return Unit{};
    }

    Analyser::Cache& cache_;
    AnalysisRequest request_; ///< as the ranks and the measured contention make it
    JobContext job_;
    std::shared_ptr<Analysis> out_;
    AnalysisRequest asked_; ///< as it came
    CostChain chain_;
    std::optional<RankMode> rank_mode_; ///< how other ranks bind the schedule
    std::string slots_fail_;            ///< why they cannot do so by slot
    uint64_t ranks_number_ = 0;         ///< of the comparison
    uint64_t number_ = 0;               ///< of the last stage's result
};

} // namespace

Analyser::Analyser() : cache_(std::make_unique<Cache>()) {}
Analyser::~Analyser() = default;

Result<AnalysisPtr> Analyser::analyse(const AnalysisRequest& request, const JobContext& job) {
    return Run(*cache_, request, job)();
}

void Analyser::remember(const Analysis& analysis) {
    const std::string key = importKey(analysis.request);
    if (!cache_->imported.find(key))
        cache_->imported.insert(key, {analysis.source, {}});
}

const Decision* Analysis::decisionFor(NodeId launch) const {
    const auto& decisions = after.schedule->decisions;
    const auto found = std::lower_bound(decisions.begin(), decisions.end(), launch,
                                        [](const Decision& a, NodeId b) { return a.launch < b; });
    return found != decisions.end() && found->launch == launch ? &*found : nullptr;
}

} // namespace gs

#include "app/cli/profile_run.h"

#include "app/cli/options.h"
#include "app/worker/measure_plan.h"
#include "base/units.h"

#include <QEventLoop>
#include <QTemporaryDir>
#include <fmt/format.h>

namespace gs {

namespace {

/// Can the backend measure here?
Status checkBackend(const WorkerRequest& worker) {
    const auto backends = probeBackends(worker.program);
    if (!backends)
        return backends.error();
    std::string names;
    for (const ProbedBackend& backend : backends.value()) {
        if (backend.name == worker.backend && !backend.devices.empty())
            return Unit{};
        if (backend.name == worker.backend)
            return Error{"no-backend",
                         fmt::format("the backend {} cannot measure here: {}", backend.name, backend.why_not),
                         {},
                         "`gatherscope-cli list backends` shows what can"};
        names += (names.empty() ? "" : ", ") + backend.name;
    }
    return Error{"usage",
                 fmt::format("there is no backend \"{}\"; known are {}", worker.backend, names),
                 {},
                 "`gatherscope-cli list backends` shows them"};
}

class ProgressLines {
public:
    ProgressLines(WorkerClient& client, const ProfileRequest& request) : request_(request) {
        QObject::connect(&client, &WorkerClient::hello, [this](int rank, const HelloMessage& m) {
            if (!request_.quiet)
                fmt::print(stderr, "rank {} of {}: {} on {}, {}\n", rank, m.ranks, m.backend, m.host,
                           m.device);
        });
        QObject::connect(&client, &WorkerClient::progress, [this](int rank, const ProgressMessage& m) {
            if (request_.show_progress)
                show(rank, m);
        });
        QObject::connect(&client, &WorkerClient::warning, [this](int rank, const WarningMessage& m) {
            clear();
            fmt::print(stderr, "rank {}: warning: {}{}\n", rank, m.message,
                       m.hint.empty() ? "" : fmt::format(" ({})", m.hint));
        });
    }
    ~ProgressLines() { clear(); }

private:
    void show(int rank, const ProgressMessage& m) {
        fmt::print(stderr, "\r\x1b[Krank {} {} {}/{} {:.60}{}", rank, m.phase, m.index + 1, m.count, m.label,
                   m.eta_ns < 0 ? "" : fmt::format(", {} left", formatTime(m.eta_ns)));
        shown_ = true;
    }
    void clear() {
        if (shown_)
            fmt::print(stderr, "\r\x1b[K");
        shown_ = false;
    }

    const ProfileRequest& request_;
    bool shown_ = false;
};

Result<Profile> measure(const ProfileRequest& request) {
    WorkerClient client;
    const ProgressLines lines(client, request);
    QEventLoop loop;
    Result<Profile> result = Error{"cancelled", "nothing was measured", {}, ""};
    QObject::connect(&client, &WorkerClient::finished, &loop, [&](const Profile& profile) {
        result = profile;
        loop.quit();
    });
    QObject::connect(&client, &WorkerClient::failed, &loop, [&](const WorkerFailure& failure) {
        result = failure.error;
        loop.quit();
    });
    client.start(request.worker);
    loop.exec();
    return result;
}

/// Measures what is not known; the whole has an id if all of it is in one profile already.
Result<Profile> makeProfile(ProfileRequest request, const Analysis& analysis) {
    Result<MeasurePlan> plan = MeasurePlan::make(analysis, {request.worker, request.store, request.again});
    if (!plan)
        return plan.error();
    request.worker.reuse = [&plan](const std::string& device) {
        std::vector<std::string> keys = plan->reuse(device);
        if (plan->known() > 0)
            fmt::print(stderr, "{} keys are reused from the store, {} are measured\n", plan->known(),
                       plan->unknown());
        return keys;
    };
    Result<Profile> measured = measure(request);
    if (!measured)
        return measured;
    return plan->whole(std::move(measured).value());
}

/// Ranks with other numbers of gathers have no schedule: there is nothing to measure for.
Status checkMode(const Analysis& analysis) {
    if (analysis.after.schedule->rank_mode != rankModeName(RankMode::Abort))
        return Unit{};
    const RankComparison* ranks = analysis.ranks.get();
    if (!ranks || ranks->mode != RankMode::Abort)
        return Error{"rank-abort", "rank_mode=abort: no schedule is made", {}, "leave the setting at auto"};
    std::string message = ranks->verdict;
    if (!ranks->differences.empty())
        message += " " + ranks->differences.front().message + ".";
    return Error{"rank-abort",
                 std::move(message),
                 {},
                 "`gatherscope-cli compare RANK0 RANK1 …` shows where the ranks part"};
}

} // namespace

namespace {

AnalysisRequest fullRequest(const ProfileRequest& request) {
    AnalysisRequest analysis = request.worker.analysis;
    analysis.graph_file = request.worker.files.front();
    analysis.rank_files.insert(analysis.rank_files.end(), request.worker.files.begin() + 1,
                               request.worker.files.end());
    return analysis;
}

} // namespace

Result<AnalysisPtr> analyseToProfile(Analyser& analyser, const ProfileRequest& request) {
    return analyser.analyse(fullRequest(request), {});
}

Result<ProfileOutcome> profileGraph(Analyser& analyser, const ProfileRequest& asked,
                                    const AnalysisPtr& before) {
    ProfileOutcome outcome;
    ProfileRequest request = asked;
    if (const Status fits = checkMode(*before); !fits)
        return fits.error();
    // What the ranks rule out (buckets) is not measured either.
    static_cast<void>(request.worker.analysis.settings.set(
        Setting::BucketMode, before->request.settings.text(Setting::BucketMode)));
    if (const Status usable = checkBackend(request.worker); !usable)
        return usable.error();
    Result<Profile> profile = makeProfile(request, *before);
    if (!profile)
        return profile.error();
    outcome.profile = std::move(profile).value();
    std::optional<QTemporaryDir> scratch; // the analysis reads a store, also where nobody asked for one
    if (request.store.empty())
        request.store = scratch.emplace().filePath("profiles.db").toStdString();
    if (outcome.profile.id == 0) {
        const Result<int64_t> id = storeProfile(request.store, outcome.profile);
        if (!id) {
            outcome.not_stored = id.error();
            return outcome;
        }
        outcome.profile.id = id.value();
        if (!scratch && !request.quiet)
            fmt::print(stderr, "stored as profile {} in {}\n", id.value(), request.store);
    }
    AnalysisRequest analysis = fullRequest(asked);
    Settings& settings = analysis.settings;
    for (const auto& [name, value] : {std::pair(Setting::ProfileStore, request.store),
                                      std::pair(Setting::ProfileChoice, std::to_string(outcome.profile.id)),
                                      std::pair(Setting::MeasuredContention, std::string("true"))}) {
        if (const Status status = settings.set(name, value); !status)
            return status.error();
    }
    const Result<AnalysisPtr> after = analyser.analyse(analysis, {});
    if (!after)
        return after.error();
    outcome.after = after.value();
    return outcome;
}

} // namespace gs

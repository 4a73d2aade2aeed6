#include "app/cli/profile_run.h"

#include "app/cli/options.h"
#include "base/units.h"
#include "cost/analytical_model.h"
#include "cost/device_presets.h"
#include "profile/known_costs.h"

#include <QEventLoop>
#include <QFileInfo>
#include <fmt/format.h>

namespace gs {

namespace {

/// Name of the device that the backend measures on here.
Result<std::string> deviceOf(const WorkerRequest& worker) {
    const auto backends = probeBackends(worker.program);
    if (!backends)
        return backends.error();
    std::string names;
    for (const ProbedBackend& backend : backends.value()) {
        if (backend.name == worker.backend && !backend.devices.empty())
            return backend.devices.front().name;
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

std::vector<WorkItem> workOf(const Analysis& analysis, const WorkerRequest& worker) {
    const DevicePreset* device = findDevicePreset(analysis.request.settings.text(Setting::Device));
    WorkOptions options;
    options.compute = worker.compute;
    options.collectives = worker.collectives;
    const CostModelPtr model = makeAnalyticalModel(*device);
    return makeWorkList({{analysis.after.graph, analysis.after.collectives},
                         {analysis.before.graph, analysis.before.collectives}},
                        worker.ranks, *model, options);
}

/// Keys that have to be measured, those of nodes inside fused regions not counted.
size_t countUnknown(const std::vector<WorkItem>& work, const KnownCosts& known) {
    size_t count = 0;
    for (const WorkItem& item : work) {
        const bool asked = !item.latency_probe && (item.work != WorkKind::Compute || item.calls > 0);
        count += asked && item.cannot.empty() && known.entries.count(item.key) == 0 ? 1 : 0;
    }
    return count;
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

/// What of the work the store has.
Result<KnownCosts> readKnown(const ProfileRequest& request, const std::string& device,
                             const std::vector<WorkItem>& work) {
    if (request.again || !QFileInfo::exists(QString::fromStdString(request.store)))
        return KnownCosts{};
    const auto store = ProfileStore::openReadOnly(request.store);
    if (!store)
        return store.error();
    return findKnownCosts(
        store.value(), {device, request.worker.backend, request.worker.ranks, request.worker.plan.iterations},
        work);
}

Result<int64_t> storeProfile(const std::string& path, const Profile& profile) {
    auto store = ProfileStore::open(path);
    if (!store)
        return store.error();
    return store->add(profile);
}

Result<Profile> knownProfile(const ProfileRequest& request, int64_t id) {
    const auto store = ProfileStore::openReadOnly(request.store);
    if (!store)
        return store.error();
    return store->read(id);
}

/// Measures what is not known and stores the whole; nothing is stored if all is in one profile already.
Result<Profile> makeProfile(ProfileRequest request, const std::string& device,
                            const std::vector<WorkItem>& work) {
    const Result<KnownCosts> known = readKnown(request, device, work);
    if (!known)
        return known.error();
    const size_t unknown = countUnknown(work, known.value());
    if (!known->entries.empty())
        fmt::print(stderr, "{} keys are reused from the store, {} are measured\n", known->entries.size(),
                   unknown);
    for (const auto& [key, entry] : known->entries)
        request.worker.reuse.push_back(key);
    if (unknown == 0 && known->one_profile)
        return knownProfile(request, known->newest_id);
    Result<Profile> measured = measure(request);
    if (!measured)
        return measured;
    Profile whole = withKnownCosts(std::move(measured).value(), known.value());
    const Result<int64_t> id = storeProfile(request.store, whole);
    if (!id)
        return id.error();
    whole.id = id.value();
    if (request.keep && !request.quiet)
        fmt::print(stderr, "stored as profile {} in {}\n", whole.id, request.store);
    return whole;
}

} // namespace

Result<ProfileOutcome> profileGraph(const ProfileRequest& request) {
    ProfileOutcome outcome;
    Analyser analyser;
    AnalysisRequest analysis = request.worker.analysis;
    analysis.graph_file = request.worker.files.front();
    Result<AnalysisPtr> before = analyser.analyse(analysis, {});
    if (!before)
        return before.error();
    outcome.before = before.value();
    const Result<std::string> device = deviceOf(request.worker);
    if (!device)
        return device.error();
    Result<Profile> profile = makeProfile(request, device.value(), workOf(*outcome.before, request.worker));
    if (!profile)
        return profile.error();
    outcome.profile = std::move(profile).value();
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

size_t movedLaunches(const Analysis& before, const Analysis& after) {
    size_t moved = 0;
    for (const Decision& decision : after.after.schedule->decisions) {
        if (decision.verdict == Verdict::NotCandidate)
            continue;
        const auto other = before.after.graph->find(after.after.graph->name(decision.launch));
        const Decision* earlier = other ? before.decisionFor(*other) : nullptr;
        moved += !earlier || earlier->target != decision.target ? 1 : 0;
    }
    return moved;
}

} // namespace gs

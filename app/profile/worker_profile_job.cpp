#include "app/profile/worker_profile_job.h"

#include "cost/profile_store_lock.h"
#include "cost/profile_store_path.h"

#include <QDir>
#include <QFutureWatcher>
#include <QStandardPaths>
#include <QtConcurrent>

#include <algorithm>

namespace gs {

namespace {

/// `done` runs on the owner's thread, unless the owner has gone.
template <typename Work, typename Done>
void inBackground(QObject* owner, Work work, Done done) {
    using T = decltype(work());
    auto* watcher = new QFutureWatcher<T>(owner);
    QObject::connect(watcher, &QFutureWatcherBase::finished, owner, [watcher, done] {
        watcher->deleteLater();
        done(watcher->result());
    });
    watcher->setFuture(QtConcurrent::run(work));
}

struct Plan {
    Result<MeasurePlan> plan;
    Status free; ///< of other writers
};

/// The store is looked at first: a measurement that nothing can take in may last an hour.
Plan makePlan(const SnapshotPtr& snapshot, const MeasureRequest& request) {
    if (const Status usable = checkStorePath(request.store, StoreFolder::IsMade); !usable)
        return {usable.error(), Unit{}};
    return {MeasurePlan::make(*snapshot, request), checkStoreIsFree(request.store)};
}

AnalyseFunction analyserOf(const SnapshotPtr& snapshot) {
    auto analyser = std::make_shared<Analyser>();
    analyser->remember(*snapshot);
    return [analyser](const AnalysisRequest& request, const JobContext& job) {
        return analyser->analyse(request, job);
    };
}

ProbeReport makeReport(const QString& program) {
    ProbeReport report;
    report.mpirun = QStandardPaths::findExecutable(QStringLiteral("mpirun"));
    report.srun = QStandardPaths::findExecutable(QStringLiteral("srun"));
    auto backends = probeBackends(program);
    if (backends)
        report.backends = std::move(backends).value();
    else
        report.program = backends.error();
    return report;
}

} // namespace

bool ProbeReport::canMeasure() const {
    return !program && !(mpirun.isEmpty() && srun.isEmpty()) &&
           std::any_of(backends.begin(), backends.end(),
                       [](const ProbedBackend& backend) { return !backend.devices.empty(); });
}

Result<AnalysisRequest> withProfile(AnalysisRequest request, const std::string& store, int64_t id,
                                    bool contention) {
    Settings& settings = request.settings;
    std::string sources = settings.text(Setting::CostSources);
    // A chain that names no measured costs would leave them out.
    if (sources != "auto" && sources.find("measured") == std::string::npos)
        sources = "measured," + sources;
    for (const auto& [name, value] :
         {std::pair(Setting::ProfileStore, store), std::pair(Setting::ProfileChoice, std::to_string(id)),
          std::pair(Setting::MeasuredContention, std::string(contention ? "true" : "false")),
          std::pair(Setting::CostSources, sources)}) {
        if (const Status status = settings.set(name, value); !status)
            return status.error();
    }
    return request;
}

WorkerProfileJob::WorkerProfileJob(SnapshotPtr snapshot, QString program, AnalyseFunction analyse,
                                   QObject* parent)
    : ProfileJob(parent), snapshot_(std::move(snapshot)), program_(std::move(program)),
      runner_(analyse ? std::move(analyse) : analyserOf(snapshot_)) {
    connect(&client_, &WorkerClient::hello, this, &ProfileJob::hello);
    connect(&client_, &WorkerClient::progress, this, &ProfileJob::progress);
    connect(&client_, &WorkerClient::entry, this, &ProfileJob::entry);
    connect(&client_, &WorkerClient::warning, this, &ProfileJob::warning);
    connect(&client_, &WorkerClient::failed, this, &ProfileJob::failed);
    connect(&client_, &WorkerClient::finished, this, &WorkerProfileJob::took);
    connect(&runner_, &JobRunner::finished, this, &ProfileJob::previewed);
    connect(&runner_, &JobRunner::failed, this, &ProfileJob::previewFailed);
}

void WorkerProfileJob::probe() {
    inBackground(
        this, [program = program_] { return makeReport(program); },
        [this](const ProbeReport& report) { emit probed(report); });
}

void WorkerProfileJob::plan(const MeasureRequest& request) {
    const uint64_t generation = ++generation_;
    inBackground(
        this, [snapshot = snapshot_, request] { return makePlan(snapshot, request); },
        [this, generation](const Plan& plan) {
            if (generation != generation_)
                return;
            if (!plan.plan)
                return emit planFailed(plan.plan.error());
            if (!plan.free)
                emit storeBusy(plan.free.error());
            emit planned(static_cast<qlonglong>(plan.plan->keys()));
        });
}

void WorkerProfileJob::start(const MeasureRequest& request) {
    const uint64_t generation = ++generation_;
    preparing_ = true;
    inBackground(
        this, [snapshot = snapshot_, request] { return makePlan(snapshot, request); },
        [this, generation](const Plan& plan) {
            if (generation == generation_)
                begin(plan.plan);
        });
}

void WorkerProfileJob::begin(const Result<MeasurePlan>& plan) {
    preparing_ = false;
    if (!plan) {
        emit failed({plan.error(), -1, {}});
        return;
    }
    plan_ = plan.value();
    WorkerRequest worker = plan_->request().worker;
    worker.reuse = [this](const std::string& device) { return plan_->reuse(device); };
    worker.program = program_;
    client_.start(worker);
}

void WorkerProfileJob::took(const Profile& profile) {
    const Result<Profile> whole = plan_->whole(profile);
    if (whole)
        emit measured(whole.value());
    else
        emit failed({whole.error(), -1, {}});
}

void WorkerProfileJob::cancel() {
    ++generation_;
    runner_.cancel();
    if (client_.running())
        client_.cancel();
    else if (std::exchange(preparing_, false))
        emit failed({{"cancelled", "the measurement was cancelled", {}, ""}, -1, {}});
}

/// The core reads profiles from stores only, so the one that is tried gets a store for itself.
void WorkerProfileJob::preview(const Profile& profile, bool contention) {
    const uint64_t generation = ++generation_;
    const std::string path = scratch_.filePath(QStringLiteral("profile.db")).toStdString();
    inBackground(
        this, [profile, path] { return storeProfile(path, profile); },
        [this, generation, path, contention](const Result<int64_t>& id) {
            if (generation != generation_)
                return;
            const Result<AnalysisRequest> request =
                id ? withProfile(snapshot_->request, path, id.value(), contention)
                   : Result<AnalysisRequest>(id.error());
            if (request)
                runner_.start(request.value());
            else
                emit previewFailed(request.error());
        });
}

void WorkerProfileJob::store(const Profile& profile, const std::string& path) {
    inBackground(
        this,
        [profile, path]() -> Result<int64_t> {
            const QString folder = QFileInfo(QString::fromStdString(path)).absolutePath();
            if (!QDir().mkpath(folder))
                return Error{"store-failed",
                             "the folder " + folder.toStdString() + " cannot be made",
                             {},
                             "choose another file"};
            return storeProfile(path, profile);
        },
        [this](const Result<int64_t>& id) {
            if (id)
                emit stored(id.value());
            else
                emit storeFailed(id.error());
        });
}

} // namespace gs

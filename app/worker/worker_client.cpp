#include "app/worker/worker_client.h"

#include "base/hash.h"

#include <QRegularExpression>
#include <algorithm>
#include <csignal>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace gs {

namespace {

constexpr int kTickMs = 200;
/// Between asking mpirun to end the ranks and ending it by force.
constexpr int kGraceMs = 2000;
/// Programs may be slow to start: from a network, or with a device to wake.
constexpr int kStartMs = 30'000;
constexpr int kMostErrorBytes = 16 * 1024;

/// The rank that an error of the ranks names (profile/protocol.h); -1 = it blames nobody.
int32_t culpritOf(const Error& error) {
    static const QRegularExpression kRank("^rank (\\d+) ");
    if (error.code == "rank-lost" ||
        error.code == "rank-abort") // who is lost is not known, who differs a matter of taste
        return -1;
    const QRegularExpressionMatch match = kRank.match(QString::fromStdString(error.message));
    return match.hasMatch() ? match.captured(1).toInt() : -1;
}

void beginChild() {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM); // mpirun passes it on to all ranks, on all machines
}

} // namespace

WorkerClient::WorkerClient(QObject* parent) : QObject(parent) {
    process_.setChildProcessModifier(beginChild);
    timer_.setInterval(kTickMs);
    connect(&process_, &QProcess::readyReadStandardOutput, this, &WorkerClient::readOutput);
    connect(&process_, &QProcess::readyReadStandardError, this, &WorkerClient::readErrors);
    connect(&process_, &QProcess::finished, this, &WorkerClient::processEnded);
    connect(&process_, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart)
            finish(WorkerFailure{{"no-launcher", process_.errorString().toStdString(), {}, ""}, -1, {}});
    });
    connect(&timer_, &QTimer::timeout, this, &WorkerClient::tick);
}

WorkerClient::~WorkerClient() {
    process_.disconnect(this);
    if (process_.state() == QProcess::NotRunning)
        return;
    signalGroup(SIGTERM);
    if (!process_.waitForFinished(kGraceMs)) {
        signalGroup(SIGKILL);
        process_.waitForFinished(kGraceMs);
    }
}

void WorkerClient::start(const WorkerRequest& request) {
    if (running())
        return;
    request_ = request;
    failure_.reset();
    stopped_ms_ = -1;
    lines_ = {};
    errors_.clear();
    profile_ = {};
    ranks_.assign(static_cast<size_t>(std::max(request.ranks, 0)), {});
    const Result<WorkerCommand> command = workerCommand(request);
    if (!command) {
        QMetaObject::invokeMethod(
            this,
            [this, error = command.error()] {
                finish(WorkerFailure{error, -1, {}});
            },
            Qt::QueuedConnection);
        return;
    }
    clock_.start();
    last_tick_ms_ = 0;
    timer_.start();
    process_.start(command->program, command->arguments);
}

void WorkerClient::cancel() {
    if (running())
        stop({{"cancelled", "the measurement was cancelled", {}, ""}, -1, {}});
}

void WorkerClient::stop(WorkerFailure failure) {
    if (stopped_ms_ >= 0)
        return;
    failure_ = std::move(failure);
    stopped_ms_ = clock_.elapsed();
    signalGroup(SIGTERM);
}

void WorkerClient::signalGroup(int number) const {
    if (process_.processId() > 0)
        kill(static_cast<pid_t>(-process_.processId()), number);
}

void WorkerClient::readErrors() {
    errors_ = (errors_ + process_.readAllStandardError()).right(kMostErrorBytes);
}

void WorkerClient::readOutput() {
    for (const RankMessage& message : lines_.take(process_.readAllStandardOutput()))
        take(message);
}

void WorkerClient::take(const RankMessage& message) {
    if (message.rank < 0 || static_cast<size_t>(message.rank) >= ranks_.size()) {
        emit warning(message.rank, {"bad-message", fmt::format("there is no rank {}", message.rank), ""});
        return;
    }
    RankState& state = ranks_[static_cast<size_t>(message.rank)];
    state.heard = true;
    state.heard_ms = clock_.elapsed();
    if (const auto* m = std::get_if<HelloMessage>(&message.body)) {
        emit hello(message.rank, *m);
        if (message.rank == 0 && request_ && stopped_ms_ < 0)
            sayStart(m->device);
    } else if (const auto* m = std::get_if<ProgressMessage>(&message.body)) {
        state.key = m->key;
        emit progress(message.rank, *m);
    } else if (const auto* m = std::get_if<EntryMessage>(&message.body)) {
        profile_.entries.push_back(m->entry);
        emit entry(m->entry);
    } else if (const auto* m = std::get_if<ContentionMessage>(&message.body)) {
        (m->point.reason.empty() ? profile_.contention : profile_.no_contention).push_back(m->point);
        emit contention(m->point);
    } else if (const auto* m = std::get_if<WarningMessage>(&message.body)) {
        emit warning(message.rank, *m);
    } else if (const auto* m = std::get_if<ResultMessage>(&message.body)) {
        state.result = *m;
    } else if (std::holds_alternative<ByeMessage>(message.body)) {
        state.said_bye = true;
    } else if (const auto* m = std::get_if<UnknownMessage>(&message.body)) {
        emit warning(message.rank, {"unknown-message",
                                    fmt::format("a rank says \"{}\", which this version "
                                                "does not know",
                                                m->type),
                                    ""});
    }
}

void WorkerClient::sayStart(const std::string& device) {
    // stdin stays open until the ranks have ended: its end tells them that nobody listens any more.
    const auto reuse = request_->reuse ? request_->reuse(device) : std::vector<std::string>();
    process_.write(QByteArray::fromStdString(encodeStart(reuse)));
}

void WorkerClient::tick() {
    const qint64 now = clock_.elapsed();
    const qint64 limit = request_->watchdog_ms;
    // This process itself stood still: its ranks may have spoken, but nobody has listened.
    if (now - last_tick_ms_ > limit / 2) {
        for (RankState& state : ranks_)
            state.heard_ms = now;
    }
    last_tick_ms_ = now;
    if (stopped_ms_ >= 0) {
        if (now - stopped_ms_ > kGraceMs)
            signalGroup(SIGKILL);
        return;
    }
    for (size_t r = 0; r < ranks_.size(); ++r) {
        const qint64 patience = ranks_[r].heard ? limit : std::max<qint64>(limit, kStartMs);
        if (ranks_[r].said_bye || now - ranks_[r].heard_ms <= patience)
            continue;
        stop(blame(static_cast<int32_t>(r), "no-heartbeat",
                   fmt::format("has not been heard for {} s", (now - ranks_[r].heard_ms) / 1000)));
        return;
    }
}

WorkerFailure WorkerClient::blame(int32_t rank, std::string code, const std::string& what) const {
    const std::string& key = ranks_[static_cast<size_t>(rank)].key;
    return {{std::move(code),
             fmt::format("rank {} {}{}{}", rank, what, key.empty() ? ", before the first key" : ", at ", key),
             {},
             "costs and schedule are as they were"},
            rank,
            key};
}

void WorkerClient::processEnded(int code) {
    readOutput();
    readErrors();
    completeProfile();
    finish(failure_ ? failure_ : findFailure(code));
}

void WorkerClient::completeProfile() {
    if (ranks_.empty() || !ranks_[0].result || !ranks_[0].result->profile)
        return;
    Profile whole = *ranks_[0].result->profile;
    whole.entries = std::move(profile_.entries);
    whole.contention = std::move(profile_.contention);
    whole.no_contention = std::move(profile_.no_contention);
    std::sort(whole.entries.begin(), whole.entries.end(),
              [](const ProfileEntry& a, const ProfileEntry& b) { return a.key < b.key; });
    profile_ = std::move(whole);
}

std::optional<WorkerFailure> WorkerClient::checkTable() const {
    const std::string hash = hexDigits(tableHash(profile_));
    const ResultMessage& first = *ranks_[0].result;
    for (size_t r = 0; r < ranks_.size(); ++r) {
        const ResultMessage& other = *ranks_[r].result;
        const bool same_runs = profile_.mode != "identical" || other.runs == first.runs;
        if (other.hash != hash || other.entries != first.entries || !same_runs)
            return blame(static_cast<int32_t>(r), "tables-differ", "ended with another table");
    }
    return std::nullopt;
}

void WorkerClient::finish(std::optional<WorkerFailure> failure) {
    timer_.stop();
    if (!running())
        return;
    request_.reset();
    if (failure)
        emit failed(*failure);
    else
        emit finished(profile_);
}

std::optional<WorkerFailure> WorkerClient::launcherWitness() const {
    // Debian's OpenMPI 4.1: "mpirun noticed that process rank 1 with PID 7 on node n exited on signal 9
    // (Killed)."; srun: "error: node: task 1: Killed".
    static const QRegularExpression kSignal(
        R"(process rank (\d+) with PID \d+ on node \S+ exited on\s+signal (\d+))");
    static const QRegularExpression kTask(R"(task (\d+): (Killed|Terminated|Aborted|Segmentation fault))");
    const QString text = QString::fromLocal8Bit(errors_);
    QRegularExpressionMatch match = kSignal.match(text);
    const QString by = match.hasMatch() ? "was ended by signal " : "ended: ";
    if (!match.hasMatch())
        match = kTask.match(text);
    const int rank = match.hasMatch() ? match.captured(1).toInt() : -1;
    if (rank < 0 || static_cast<size_t>(rank) >= ranks_.size())
        return std::nullopt;
    return blame(rank, "rank-died", (by + match.captured(2)).toStdString());
}

std::optional<WorkerFailure> WorkerClient::exitWitness() const {
    // "mpirun has exited due to process rank 1 with PID 0 on node n exiting improperly."
    static const QRegularExpression kExit(R"(has exited due to\s+process rank (\d+))");
    const QRegularExpressionMatch match = kExit.match(QString::fromLocal8Bit(errors_));
    const int rank = match.hasMatch() ? match.captured(1).toInt() : -1;
    if (rank < 0 || static_cast<size_t>(rank) >= ranks_.size())
        return std::nullopt;
    return blame(rank, "rank-died", "ended without a word");
}

std::optional<WorkerFailure> WorkerClient::rankWitness(bool culprits_only) const {
    for (size_t r = 0; r < ranks_.size(); ++r) {
        const auto& result = ranks_[r].result;
        if (!result || !result->error)
            continue;
        // Those who only saw that another is gone, or were told to stop, are not to blame.
        if (culprits_only && (result->error->code == "rank-lost" || result->error->code == "stopped"))
            continue;
        Error error = *result->error;
        if (!result->key.empty())
            error.message += ", at " + result->key;
        return WorkerFailure{error, culpritOf(*result->error), result->key};
    }
    return std::nullopt;
}

std::optional<WorkerFailure> WorkerClient::findFailure(int code) const {
    const bool all_well = std::all_of(ranks_.begin(), ranks_.end(), [](const RankState& rank) {
        return rank.said_bye && rank.result && !rank.result->error;
    });
    if (all_well) // whatever the launcher had to say of how they left
        return checkTable();
    if (auto failure = rankWitness(true))
        return failure;
    if (auto failure = launcherWitness())
        return failure;
    if (auto failure = exitWitness())
        return failure;
    const bool any_heard =
        std::any_of(ranks_.begin(), ranks_.end(), [](const RankState& rank) { return rank.heard; });
    if (!any_heard) {
        const QString last = QString::fromLocal8Bit(errors_).trimmed().right(600);
        return WorkerFailure{{"launcher-failed",
                              fmt::format("the ranks did not start (exit code {})", code),
                              {},
                              last.toStdString()},
                             -1,
                             {}};
    }
    for (size_t r = 0; r < ranks_.size(); ++r) {
        if (!ranks_[r].said_bye)
            return blame(static_cast<int32_t>(r), "rank-died", "ended without a word");
    }
    if (auto failure = rankWitness(false))
        return failure;
    return WorkerFailure{
        {"launcher-failed", fmt::format("the ranks ended without a result (exit code {})", code), {}, ""},
        -1,
        {}};
}

} // namespace gs

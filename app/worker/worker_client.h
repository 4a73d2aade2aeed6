// Starts the ranks, hears what they say, and sees to it that they end.
#pragma once

#include "app/worker/worker_command.h"
#include "app/worker/worker_lines.h"

#include <QElapsedTimer>
#include <QObject>
#include <QProcess>
#include <QTimer>
#include <optional>

namespace gs {

/// Why there is no profile.
struct WorkerFailure {
    Error error;       ///< its message names the rank and the key, where they are known
    int32_t rank = -1; ///< the culprit; -1 = not known
    std::string key;   ///< at which it happened; empty = not known
};

/// One measurement at a time. Writes nothing: the profile is given to the caller once all ranks have ended
/// with equal tables, else failed() is emitted; exactly one of the two for each start(). Children never
/// outlive this process, however it ends: mpirun is told by the kernel, the ranks by mpirun and by the end of
/// rank 0's stdin. Not thread-safe.
class WorkerClient : public QObject {
    Q_OBJECT

public:
    explicit WorkerClient(QObject* parent = nullptr);
    /// Kills what still runs.
    ~WorkerClient() override;

    /// An error that keeps it from starting comes as failed(), from the event loop.
    void start(const WorkerRequest& request);
    /// Ends the ranks; failed() follows with the code "cancelled".
    void cancel();
    bool running() const { return request_.has_value(); }
    /// Process of mpirun or srun; 0 = none.
    qint64 processId() const { return process_.processId(); }

signals:
    void hello(int rank, const gs::HelloMessage& message);
    void progress(int rank, const gs::ProgressMessage& message);
    void entry(const gs::ProfileEntry& entry);
    void contention(const gs::ContentionPoint& point);
    void warning(int rank, const gs::WarningMessage& message);
    void finished(const gs::Profile& profile);
    void failed(const gs::WorkerFailure& failure);

private:
    struct RankState {
        bool heard = false;
        qint64 heard_ms = 0; ///< last time; until then when it was started
        std::string key;     ///< at work
        std::optional<ResultMessage> result;
        bool said_bye = false;
    };

    void readOutput();
    void readErrors();
    void take(const RankMessage& message);
    void sayStart(const std::string& device);
    void tick();
    void processEnded(int code);
    /// Ends the process; `failure` is what failed() will say.
    void stop(WorkerFailure failure);
    void signalGroup(int number) const;
    /// What went wrong, by the best witness; nothing if all is well.
    std::optional<WorkerFailure> findFailure(int code) const;
    std::optional<WorkerFailure> launcherWitness() const;
    std::optional<WorkerFailure> exitWitness() const;
    std::optional<WorkerFailure> rankWitness(bool culprits_only) const;
    /// All ranks ended with the table that was received here, and ran as often.
    std::optional<WorkerFailure> checkTable() const;
    void completeProfile();
    WorkerFailure blame(int32_t rank, std::string code, const std::string& what) const;
    void finish(std::optional<WorkerFailure> failure);

    std::optional<WorkerRequest> request_; ///< set while it runs
    QProcess process_;
    QTimer timer_;
    QElapsedTimer clock_;
    qint64 last_tick_ms_ = 0;
    qint64 stopped_ms_ = -1; ///< when the ranks were told to end
    WorkerLines lines_;
    QByteArray errors_; ///< last of stderr
    std::vector<RankState> ranks_;
    Profile profile_;
    std::optional<WorkerFailure> failure_; ///< decided here
};

} // namespace gs

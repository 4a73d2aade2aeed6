// What the Re-profile dialog has done for it: look for devices, measure, try the costs, store them. Nothing
// of it blocks; answers are signals.
#pragma once

#include "app/worker/measure_plan.h"
#include "app/worker/worker_client.h"
#include "views/view.h"

namespace gs {

/// What this machine has for measuring.
struct ProbeReport {
    std::optional<Error> program; ///< gatherscope-rank is not there, or does not answer
    QString mpirun;               ///< path; empty = not installed
    QString srun;
    std::vector<ProbedBackend> backends;

    bool canMeasure() const;
};

/// Errors of the ranks are failed(), all others have signals of their own.
class ProfileJob : public QObject {
    Q_OBJECT
public:
    using QObject::QObject;

    virtual void probe() = 0;
    /// Answers to an earlier request are dropped.
    virtual void plan(const MeasureRequest& request) = 0;
    virtual void start(const MeasureRequest& request) = 0;
    /// Ends ranks and analyses; failed() with the code "cancelled" follows where ranks were at work.
    virtual void cancel() = 0;
    /// The open graph with the costs of `profile`, which need not be stored.
    virtual void preview(const Profile& profile, bool contention) = 0;
    virtual void store(const Profile& profile, const std::string& path) = 0;

signals:
    void probed(const gs::ProbeReport& report);
    void planned(qlonglong keys); ///< to measure, if the store knows none
    /// Nothing can be measured so; also where the store could not take the profile in.
    void planFailed(const gs::Error& error);
    /// Before planned(): another process writes into the store now.
    void storeBusy(const gs::Error& error);
    void hello(int rank, const gs::HelloMessage& message);
    void progress(int rank, const gs::ProgressMessage& message);
    void entry(const gs::ProfileEntry& entry);
    void warning(int rank, const gs::WarningMessage& message);
    /// Whole: with what was known before. Its id is 0 unless the store has it already.
    void measured(const gs::Profile& profile);
    void failed(const gs::WorkerFailure& failure);
    void previewed(const gs::AnalysisPtr& analysis);
    void previewFailed(const gs::Error& error);
    void stored(qlonglong id);
    void storeFailed(const gs::Error& error);
};

/// `request` as it is with the costs of a stored profile.
Result<AnalysisRequest> withProfile(AnalysisRequest request, const std::string& store, int64_t id,
                                    bool contention);

} // namespace gs

// The real ProfileJob: gatherscope-rank, an analyser of its own, the profile store.
#pragma once

#include "app/job_runner.h"
#include "app/profile/profile_job.h"

#include <QTemporaryDir>

namespace gs {

class WorkerProfileJob : public ProfileJob {
    Q_OBJECT
public:
    /// `program`: gatherscope-rank; empty = findRankProgram(). `analyse`: empty = an analyser that has the
    /// snapshot's graph.
    explicit WorkerProfileJob(SnapshotPtr snapshot, QString program = {}, AnalyseFunction analyse = {},
                              QObject* parent = nullptr);

    void probe() override;
    void plan(const MeasureRequest& request) override;
    void start(const MeasureRequest& request) override;
    void cancel() override;
    void preview(const Profile& profile, bool contention) override;
    void store(const Profile& profile, const std::string& path) override;

private:
    void begin(const Result<MeasurePlan>& plan);
    void took(const Profile& profile);

    SnapshotPtr snapshot_;
    QString program_;
    WorkerClient client_;
    JobRunner runner_;
    std::optional<MeasurePlan> plan_; ///< of the measurement that runs
    QTemporaryDir scratch_;           ///< store of the profile that is only tried
    uint64_t generation_ = 0;         ///< of plans and starts
    bool preparing_ = false;          ///< between start() and the start of the ranks
};

} // namespace gs

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
    void plan(const MeasureRequest& request, const std::string& device) override;
    void start(const MeasureRequest& request, const std::string& device) override;
    void cancel() override;
    void preview(const Profile& profile, bool contention) override;
    void store(const Profile& profile, const std::string& path) override;

private:
    void begin(MeasureRequest request, const Result<MeasurePlan>& plan);

    SnapshotPtr snapshot_;
    QString program_;
    WorkerClient client_;
    JobRunner runner_;
    KnownCosts known_;        ///< of the measurement that runs
    QTemporaryDir scratch_;   ///< store of the profile that is only tried
    uint64_t generation_ = 0; ///< of plans and starts
    bool preparing_ = false;  ///< between start() and the start of the ranks
};

} // namespace gs

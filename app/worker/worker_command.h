// How gatherscope-rank is started.
#pragma once

#include "analysis/analysis.h"
#include "profile/backend.h"

#include <QString>
#include <QStringList>
#include <functional>

namespace gs {

/// What to measure and how.
struct WorkerRequest {
    AnalysisRequest analysis;       ///< choice of the graph, settings and edits; its graph_file is not used
    std::vector<std::string> files; ///< one graph for all ranks, or one a rank
    std::string backend;
    /// Files with rows for the benchmark-input registry of the ranks. The same must be in this process' own,
    /// or it expects other keys to be measured.
    std::vector<std::string> benchmark_inputs;
    int32_t ranks = 1;
    TimingPlan plan;
    bool compute = true;
    bool collectives = true;
    bool contention = true;
    /// Keys that need not be measured on this device. Asked once, when rank 0 has said what it measures on:
    /// that may hang on the number of ranks ("…, 1 core"). May be empty.
    std::function<std::vector<std::string>(const std::string& device)> reuse;
    bool slurm = false;       ///< srun instead of mpirun
    QString hostfile;         ///< of mpirun, for several machines; empty = this one
    QString program;          ///< gatherscope-rank; empty = findRankProgram()
    int time_limit_s = 600;   ///< of one operator or collective on a rank
    int watchdog_ms = 30'000; ///< a rank that is not heard for so long is taken for dead
};

struct WorkerCommand {
    QString program;
    QStringList arguments;
};

/// GATHERSCOPE_RANK if it is set, else gatherscope-rank beside this program, else in PATH; empty = nowhere.
QString findRankProgram();

/// Errors: "no-rank-program", "no-launcher" (says what to install), "usage" (ranks, files).
Result<WorkerCommand> workerCommand(const WorkerRequest& request);

/// A backend as gatherscope-rank --probe tells it.
struct ProbedBackend {
    std::string name;
    std::string meaning;
    std::vector<DeviceFacts> devices; ///< empty: it cannot measure here
    std::string why_not;              ///< then
};
/// Asks the program, up to 10 s. Errors: "no-rank-program", "probe-failed".
Result<std::vector<ProbedBackend>> probeBackends(const QString& program = {});

} // namespace gs

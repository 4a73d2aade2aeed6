#include "app/worker/worker_command.h"

#include <QCoreApplication>
#include <QFileInfo>
#include <QProcess>
#include <QStandardPaths>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace gs {

namespace {

Error noRankProgram() {
    return {"no-rank-program",
            "gatherscope-rank, the program that measures, is not there",
            {},
            "it is built where OpenMPI is found (Debian: apt install libopenmpi-dev openmpi-bin)"};
}

/// How srun tells OpenMPI's processes of each other. Slurm's default is often "none", with which each would
/// be alone. Empty: as the user's environment says, or Slurm knows neither.
QString slurmStartUp(const QString& srun) {
    if (qEnvironmentVariableIsSet("SLURM_MPI_TYPE"))
        return {};
    QProcess process;
    process.setProcessChannelMode(QProcess::MergedChannels); // versions differ in where they say it
    process.setStandardInputFile(QProcess::nullDevice());
    process.start(srun, {"--mpi=list"});
    if (!process.waitForFinished(5000))
        process.kill();
    const QStringList words = QString::fromLocal8Bit(process.readAll()).simplified().split(' ');
    for (const char* name : {"pmix", "pmi2"}) {
        if (words.contains(QLatin1String(name)))
            return QLatin1String(name);
    }
    return {};
}

Result<WorkerCommand> launcherOf(const WorkerRequest& request) {
    const QString name = request.slurm ? "srun" : "mpirun";
    WorkerCommand command{QStandardPaths::findExecutable(name), {}};
    if (command.program.isEmpty())
        return Error{"no-launcher",
                     fmt::format("{} was not found: it starts the ranks", name.toStdString()),
                     {},
                     request.slurm ? "run inside a Slurm allocation, or without --srun"
                                   : "install OpenMPI (Debian: apt install openmpi-bin)"};
    const QString ranks = QString::number(request.ranks);
    if (request.slurm) {
        command.arguments = {"--label", "--kill-on-bad-exit=1", "-n", ranks};
        if (const QString start_up = slurmStartUp(command.program); !start_up.isEmpty())
            command.arguments << "--mpi=" + start_up;
        return command;
    }
    // Not bound to single cores: beside a transfer, a rank of the host backend computes in a second thread.
    command.arguments = {"--tag-output", "--bind-to", "none", "-n", ranks};
    if (geteuid() == 0)
        command.arguments << "--allow-run-as-root";
    if (!request.hostfile.isEmpty())
        command.arguments << "--hostfile" << request.hostfile;
    else // counts only where there are more ranks than cores, which OpenMPI refuses otherwise
        command.arguments << "--oversubscribe";
    return command;
}

/// What the ranks have to know of the request: what makes the graph and prices what cannot be measured.
QStringList analysisArguments(const AnalysisRequest& request) {
    QStringList out;
    for (const SettingSpec& spec : settingSpecs()) {
        const bool matters = spec.stage <= Stage::Passes || spec.key == Setting::Device;
        if (matters && !request.settings.isDefault(spec.key))
            out << "--set"
                << QString::fromStdString(fmt::format("{}={}", spec.name, request.settings.text(spec.key)));
    }
    for (const Edit& edit : request.edits)
        out << "--edit" << QString::fromStdString(editText(edit));
    if (request.graph_index >= 0)
        out << "--graph" << QString::number(request.graph_index);
    if (request.rank >= 0)
        out << "--rank" << QString::number(request.rank);
    if (!request.stage.empty())
        out << "--stage" << QString::fromStdString(request.stage);
    if (!request.shapes_file.empty())
        out << "--shapes" << QFileInfo(QString::fromStdString(request.shapes_file)).absoluteFilePath();
    return out;
}

ProbedBackend readBackend(const nlohmann::json& json) {
    ProbedBackend backend;
    backend.name = json.value("name", "");
    backend.meaning = json.value("meaning", "");
    backend.why_not = json.value("built", false) ? json.value("error", "") : json.value("why_not", "");
    for (const auto& device : json.value("devices", nlohmann::json::array())) {
        DeviceFacts facts;
        facts.name = device.value("name", "");
        facts.driver = device.value("driver", "");
        facts.clocks = device.value("clocks", "");
        facts.versions = device.value("versions", std::map<std::string, std::string>());
        facts.memory_bytes = device.value("memory_bytes", int64_t{0});
        facts.free_bytes = device.value("free_bytes", int64_t{0});
        backend.devices.push_back(std::move(facts));
    }
    if (backend.devices.empty() && backend.why_not.empty())
        backend.why_not = "it found no device";
    return backend;
}

} // namespace

QString findRankProgram() {
    if (const QString named = qEnvironmentVariable("GATHERSCOPE_RANK"); !named.isEmpty())
        return QFileInfo(named).isExecutable() ? named : QString();
    const QFileInfo beside(QCoreApplication::applicationDirPath() + "/gatherscope-rank");
    return beside.isExecutable() ? beside.filePath() : QStandardPaths::findExecutable("gatherscope-rank");
}

Result<WorkerCommand> workerCommand(const WorkerRequest& request) {
    const QString program = request.program.isEmpty() ? findRankProgram() : request.program;
    if (program.isEmpty())
        return noRankProgram();
    if (request.ranks < 1)
        return Error{"usage", "at least one rank has to measure", {}, ""};
    if (request.files.size() != 1 && request.files.size() != static_cast<size_t>(request.ranks))
        return Error{"usage",
                     fmt::format("{} graph files for {} ranks", request.files.size(), request.ranks),
                     {},
                     "give one graph for all ranks, or one a rank"};
    Result<WorkerCommand> command = launcherOf(request);
    if (!command)
        return command;
    QStringList what;
    for (const auto& [wanted, word] :
         {std::pair(request.compute, "compute"), std::pair(request.collectives, "collectives"),
          std::pair(request.contention, "contention")}) {
        if (wanted)
            what << word;
    }
    command->arguments << program << "--launched"
                       << "--backend" << QString::fromStdString(request.backend) << "--iterations"
                       << QString::number(request.plan.iterations) << "--warmups"
                       << QString::number(request.plan.warmups) << "--time-limit"
                       << QString::number(request.time_limit_s) << "--what" << what.join(',');
    if (request.plan.cache_cold)
        command->arguments << "--cache-cold";
    for (const std::string& file : request.benchmark_inputs)
        command->arguments << "--benchmark-inputs"
                           << QFileInfo(QString::fromStdString(file)).absoluteFilePath();
    command->arguments << analysisArguments(request.analysis);
    for (const std::string& file : request.files)
        command->arguments << QFileInfo(QString::fromStdString(file)).absoluteFilePath();
    return command;
}

Result<std::vector<ProbedBackend>> probeBackends(const QString& program) {
    const QString path = program.isEmpty() ? findRankProgram() : program;
    if (path.isEmpty())
        return noRankProgram();
    QProcess process;
    process.setStandardInputFile(QProcess::nullDevice());
    process.start(path, {"--probe"});
    const bool ended = process.waitForFinished(10'000);
    if (!ended) {
        process.kill();
        process.waitForFinished(1000);
    }
    const nlohmann::json json =
        nlohmann::json::parse(process.readAllStandardOutput().toStdString(), nullptr, false);
    std::vector<ProbedBackend> backends;
    try {
        for (const auto& item : json.at("backends"))
            backends.push_back(readBackend(item));
    } catch (const nlohmann::json::exception&) {
        return Error{"probe-failed",
                     fmt::format("{} --probe {}", path.toStdString(),
                                 ended ? "said nothing that can be read" : "did not answer within 10 s"),
                     {},
                     process.readAllStandardError().left(500).trimmed().toStdString()};
    }
    return backends;
}

} // namespace gs

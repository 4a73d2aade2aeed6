// `gatherscope-cli profile FILE… --backend B --ranks N`
#include "analysis/cost_changes.h"
#include "app/cli/commands.h"
#include "app/cli/exit_codes.h"
#include "app/cli/options.h"
#include "app/cli/profile_run.h"
#include "base/units.h"
#include "cost/profile_compare.h"
#include "cost/profile_store_path.h"
#include "profile/benchmark_inputs.h"
#include "profile/profile_text.h"

#include <fmt/format.h>

namespace gs {

namespace {

void addProfileOptions(QCommandLineParser& parser) {
    addCommonOptions(parser);
    parser.addOptions({
        {"backend", "What measures (`list backends` names them with their devices).", "NAME", "host"},
        {"ranks", "Number of ranks; collectives need at least 2.", "N", "2"},
        {"store", "Profile store to keep the costs in; made if it is not there.", "FILE"},
        {"iterations", "Timed runs of each operator.", "N", "10"},
        {"warmups", "Runs before them.", "N", "3"},
        {"cache-cold", "Flush the caches before each timed run."},
        {"what", "Of compute, collectives, contention.", "LIST", "compute,collectives,contention"},
        {"again", "Measure what the store knows already, too."},
        {"benchmark-inputs",
         "Rows for operators of your own: how their inputs are made, and which of them communicate. As "
         "resources/benchmark_inputs.json; may be given several times.",
         "FILE"},
        {"hostfile", "Machines for mpirun.", "FILE"},
        {"srun", "Start the ranks with Slurm's srun."},
        {"time-limit", "Longest time of one operator or collective, in seconds.", "S", "600"},
        {"watchdog", "Seconds without a sign of life after which a rank counts as dead.", "S", "30"},
    });
    parser.addPositionalArgument("FILE", "A graph for all ranks, or one for each rank.", "FILE…");
}

/// More ranks are a slip: mpirun starts a process for each.
constexpr int kMostRanks = 1024;
constexpr int kMostOther = 1'000'000;

Result<int> positive(const QCommandLineParser& parser, const char* name, int least, int most) {
    bool ok = false;
    const int value = parser.value(name).toInt(&ok);
    if (!ok || value < least || value > most)
        return Error{"usage",
                     fmt::format("--{} takes a whole number from {} to {}, not \"{}\"", name, least, most,
                                 parser.value(name).toStdString()),
                     {},
                     ""};
    return value;
}

Status readWhat(const QCommandLineParser& parser, WorkerRequest& worker) {
    worker.compute = worker.collectives = worker.contention = false;
    for (const QString& word : parser.value("what").split(',')) {
        if (word == "compute")
            worker.compute = true;
        else if (word == "collectives")
            worker.collectives = true;
        else if (word == "contention")
            worker.contention = true;
        else
            return Error{"usage", "--what takes compute, collectives, contention", {}, ""};
    }
    return Unit{};
}

Result<ProfileRequest> readRequest(const QCommandLineParser& parser, const CommonOptions& options) {
    ProfileRequest request;
    WorkerRequest& worker = request.worker;
    worker.analysis = options.request;
    for (const QString& file : parser.positionalArguments())
        worker.files.push_back(file.toStdString());
    worker.backend = parser.value("backend").toStdString();
    for (const auto& [name, least, most, slot] :
         {std::tuple("ranks", 1, kMostRanks, &worker.ranks),
          std::tuple("iterations", 1, kMostOther, &worker.plan.iterations),
          std::tuple("warmups", 0, kMostOther, &worker.plan.warmups),
          std::tuple("time-limit", 1, kMostOther, &worker.time_limit_s),
          std::tuple("watchdog", 1, kMostOther, &worker.watchdog_ms)}) {
        const Result<int> value = positive(parser, name, least, most);
        if (!value)
            return value.error();
        *slot = value.value();
    }
    worker.watchdog_ms = std::min(worker.watchdog_ms, 1'000'000) * 1000;
    worker.plan.cache_cold = parser.isSet("cache-cold");
    if (const Status what = readWhat(parser, worker); !what)
        return what.error();
    for (const QString& file : parser.values("benchmark-inputs"))
        worker.benchmark_inputs.push_back(file.toStdString());
    worker.hostfile = parser.value("hostfile");
    worker.slurm = parser.isSet("srun");
    request.store = parser.value("store").toStdString();
    request.again = parser.isSet("again");
    request.show_progress = stderrIsTerminal() && !options.quiet;
    request.quiet = options.quiet;
    if (worker.files.size() != 1 && worker.files.size() != static_cast<size_t>(worker.ranks))
        return Error{"usage",
                     fmt::format("{} graph files for {} ranks", worker.files.size(), worker.ranks),
                     {},
                     "give one graph for all ranks, or one a rank"};
    return request;
}

int profilingExitCode(const Error& error) {
    for (const char* code : {"no-launcher", "no-rank-program", "no-backend", "probe-failed"}) {
        if (error.code == code)
            return kExitPartMissing;
    }
    return error.code == "usage" ? kExitUsage : kExitProfilingAborted;
}

void printContention(const Profile& profile) {
    if (!profile.contention.empty()) {
        const MeasuredContention contention = overallContention(profile);
        fmt::print("contention factor {:.3f}, compute slow-down {:.3f} (by time, over {} sizes)\n",
                   contention.factor, contention.compute_slowdown, profile.contention.size());
    }
    for (const ContentionPoint& point : profile.contention)
        fmt::print("  {:>10}: {} alone, {} beside compute: {:.3f}\n", formatBytes(point.bytes),
                   formatTime(point.alone_ns), formatTime(point.together_ns), point.factor());
    if (const MeasuredContention all = overallContention(profile); all.factor < 1 || all.compute_slowdown < 1)
        fmt::print("  below 1 is the noise of a busy machine: measured_contention=true takes it as 1\n");
    for (const ContentionPoint& point : profile.no_contention)
        fmt::print("  {:>10}: could not be measured beside compute: {}\n", formatBytes(point.bytes),
                   point.reason);
    if (!profile.no_contention.empty())
        fmt::print("  --again tries it anew\n");
}

void printDiff(const Analysis& before, const Analysis& after, const Profile& profile) {
    const Summary a = summarise(before), b = summarise(after);
    fmt::print("\n{:20} {:>16} {:>16}\n", "", "costs before", "measured");
    const auto row = [](const char* name, const std::string& x, const std::string& y) {
        fmt::print("{:20} {:>16} {:>16}\n", name, x, y);
    };
    row("gathers hidden", fmt::format("{} of {}", a.hidden, a.gathers),
        fmt::format("{} of {}", b.hidden, b.gathers));
    row("moved", std::to_string(a.moved), std::to_string(b.moved));
    row("exposed", formatTime(before.after.timeline->exposed_ns),
        formatTime(after.after.timeline->exposed_ns));
    row("step", formatTime(before.after.timeline->step_ns), formatTime(after.after.timeline->step_ns));
    row("step unscheduled", formatTime(before.before.timeline->step_ns),
        formatTime(after.before.timeline->step_ns));
    row("costs missing", std::to_string(a.missing_costs), std::to_string(b.missing_costs));
    const size_t moved = movedLaunches(before, after);
    fmt::print("{} of {} launches are elsewhere with the measured costs\n", moved, b.gathers);
    printContention(profile);
}

/// The figures are those of the first rank; what they have to do with the others.
void printRanks(const Analysis& after) {
    const Schedule& schedule = *after.after.schedule;
    if (schedule.rank_mode.empty() || schedule.rank_mode == rankModeName(RankMode::Identical))
        return;
    fmt::print("ranks: {}; {} of {} launches are held back so that all ranks launch alike. These are the "
               "figures of {}.\n",
               schedule.rank_mode, schedule.rank_holds, schedule.candidates, after.request.graph_file);
    for (const Diagnostic& item : after.diagnostics.all()) {
        if (item.code == "rank-no-slots" || item.code == "rank-no-buckets")
            fmt::print("{}\n", item.message);
    }
}

/// What was measured is not lost with the store.
int report(const Analysis& before, const ProfileOutcome& outcome, const CommonOptions& options) {
    if (!options.quiet && options.json != "-") {
        fmt::print("{}", profileLog(outcome.profile));
        if (outcome.after) {
            printDiff(before, *outcome.after, outcome.profile);
            printRanks(*outcome.after);
        }
    }
    if (!options.json.isEmpty()) {
        const Status status = writeOutput(options.json, profileJson(outcome.profile));
        if (!status) {
            printError(status.error());
            return kExitUnreadable;
        }
    }
    if (!outcome.not_stored)
        return kExitDone;
    printError(*outcome.not_stored);
    return kExitProfilingAborted;
}

/// Better now than after an hour. Adds the benchmark inputs to the registry of this process.
Status checkFiles(const ProfileRequest& request) {
    for (const std::string& file : request.worker.benchmark_inputs) {
        if (const Status added = BenchmarkInputRegistry::global().addFile(file); !added)
            return added;
    }
    return checkStorePath(request.store);
}

} // namespace

int runProfile(const QStringList& arguments) {
    QCommandLineParser parser;
    parser.setApplicationDescription(
        "Measures the operators and collectives of a graph on N ranks in lockstep, "
        "and schedules it anew with what was measured.");
    addProfileOptions(parser);
    if (const int code = parseArguments(parser, arguments, 1); code >= 0)
        return code;
    const Result<CommonOptions> options = readCommonOptions(parser);
    if (!options) {
        printError(options.error());
        return exitCodeFor(options.error());
    }
    const Result<ProfileRequest> request = readRequest(parser, options.value());
    if (!request) {
        printError(request.error());
        return kExitUsage;
    }
    if (const Status usable = checkFiles(request.value()); !usable) {
        printError(usable.error());
        return exitCodeFor(usable.error());
    }
    Analyser analyser;
    const Result<AnalysisPtr> before = analyseToProfile(analyser, request.value());
    if (!before) { // nothing was measured yet: as with any other command
        printError(before.error());
        return exitCodeFor(before.error());
    }
    if (const auto& unread = before.value()->ranks_error) {
        printError(*unread);
        return exitCodeFor(*unread);
    }
    const Result<ProfileOutcome> outcome = profileGraph(analyser, request.value(), before.value());
    if (!outcome) {
        printError(outcome.error());
        return profilingExitCode(outcome.error());
    }
    return report(*before.value(), outcome.value(), options.value());
}

} // namespace gs

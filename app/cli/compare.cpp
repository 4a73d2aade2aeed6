// `gatherscope-cli compare FILE`: schedulers and settings side by side, the search for the best, and two
// variants gather by gather.
#include "analysis/search.h"
#include "app/cli/commands.h"
#include "app/cli/compare_bundles.h"
#include "app/cli/compare_ranks.h"
#include "app/cli/compare_text.h"
#include "app/cli/compare_trace.h"
#include "app/cli/exit_codes.h"
#include "app/cli/options.h"
#include "app/cli/profiles.h"
#include "app/cli/progress.h"
#include "app/cli/summary.h"
#include "base/units.h"
#include "schedule/scheduler.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>

namespace gs {

namespace {

constexpr size_t kDiffLines = 40;

struct CompareOptions {
    CommonOptions common;
    std::vector<std::string> schedulers; ///< empty = all
    bool search = false;
    bool table = true; ///< false: only the two variants of the difference
    SearchLimits limits;
    QString csv;
    std::optional<std::pair<AnalysisRequest, AnalysisRequest>> diff;
};

/// What was compared, for all outputs.
struct Outcome {
    std::vector<CompareRow> rows;
    int best = -1;
    std::optional<GatherDiff> diff;
    std::string labels[2];
    nlohmann::ordered_json search; ///< null without a search
};

Error usageError(std::string message, std::string hint = {}) {
    return {"usage", std::move(message), {}, std::move(hint)};
}

Status checkScheduler(const std::string& name) {
    if (findScheduler(name))
        return Unit{};
    return Error{"unknown-scheduler",
                 fmt::format("there is no scheduler \"{}\"", name),
                 {},
                 "`gatherscope-cli list schedulers` names them all"};
}

/// `--diff A B` as one value, which is all the parser knows.
QStringList withJoinedDiff(QStringList arguments) {
    const auto at = arguments.indexOf("--diff");
    if (at >= 0 && at + 2 < arguments.size()) {
        arguments[at] = "--diff=" + arguments[at + 1] + "\n" + arguments[at + 2];
        arguments.remove(at + 1, 2);
    }
    return arguments;
}

/// "overlap-scheduler:max_in_flight_gb=0.1,contention=2"
Result<AnalysisRequest> readVariant(const QString& text, AnalysisRequest request) {
    const QString name = text.section(':', 0, 0);
    if (const Status status = checkScheduler(name.toStdString()); !status)
        return status.error();
    static_cast<void>(request.settings.set(Setting::Scheduler, name.toStdString()));
    for (const QString& part : text.section(':', 1).split(',', Qt::SkipEmptyParts)) {
        if (const Status status = request.settings.set(part.section('=', 0, 0).toStdString(),
                                                       part.section('=', 1).toStdString());
            !status)
            return status.error();
    }
    return request;
}

Result<double> readNumber(const QCommandLineParser& parser, const char* name, double fallback) {
    if (!parser.isSet(name))
        return fallback;
    bool ok = false;
    const double value = parser.value(name).toDouble(&ok);
    if (!ok || !(value > 0) || value > 1e9)
        return usageError(
            fmt::format("--{} takes a positive number, not \"{}\"", name, parser.value(name).toStdString()));
    return value;
}

Status readLimits(const QCommandLineParser& parser, CompareOptions& options) {
    const Result<double> seconds = readNumber(parser, "time-limit", options.limits.seconds);
    const Result<double> mib = readNumber(parser, "memory-limit", -1);
    if (!seconds)
        return seconds.error();
    if (!mib)
        return mib.error();
    options.limits.seconds = seconds.value();
    if (mib.value() > 0)
        options.limits.peak_bytes = static_cast<int64_t>(mib.value() * 1024 * 1024);
    return Unit{};
}

Status readDiff(const QString& text, CompareOptions& options) {
    const QStringList sides = text.split('\n');
    if (sides.size() != 2)
        return usageError("--diff takes two variants, as --diff program-order two-sided",
                          "a variant is NAME or NAME:KEY=VALUE,KEY=VALUE");
    const Result<AnalysisRequest> a = readVariant(sides[0], options.common.request);
    const Result<AnalysisRequest> b = readVariant(sides[1], options.common.request);
    if (!a)
        return a.error();
    if (!b)
        return b.error();
    options.diff.emplace(a.value(), b.value());
    return Unit{};
}

Result<CompareOptions> readOptions(const QCommandLineParser& parser) {
    const Result<CommonOptions> common = readCommonOptions(parser);
    if (!common)
        return common.error();
    CompareOptions options;
    options.common = common.value();
    options.csv = parser.value("csv");
    options.search = parser.isSet("search");
    if (parser.positionalArguments().size() != 1)
        return usageError("compare takes one graph file");
    options.common.request.graph_file = parser.positionalArguments().first().toStdString();
    const QString names = parser.value("schedulers");
    if (options.search && !names.isEmpty())
        return usageError("--search tries all schedulers: leave out --schedulers");
    for (const QString& name : names == "all" ? QStringList() : names.split(',', Qt::SkipEmptyParts)) {
        options.schedulers.push_back(name.trimmed().toStdString());
        if (const Status status = checkScheduler(options.schedulers.back()); !status)
            return status.error();
    }
    if (const Status status = readLimits(parser, options); !status)
        return status.error();
    if (parser.isSet("diff")) {
        options.table = options.search || !names.isEmpty();
        if (const Status status = readDiff(parser.value("diff"), options); !status)
            return status.error();
    }
    if (options.csv == "-" && options.common.json == "-")
        return usageError("only one of --json and --csv can go to stdout");
    return options;
}

const char* endName(SearchEnd end) {
    switch (end) {
    case SearchEnd::Finished:
        return "finished";
    case SearchEnd::OutOfTime:
        return "out of time";
    case SearchEnd::Cancelled:
        return "cancelled";
    case SearchEnd::Failed:
        return "failed";
    }
    return "";
}

/// The options that make the best row, for analyze and export.
std::string asOptions(const CompareRow& row) {
    std::string text = "--scheduler " + row.scheduler;
    for (const Setting key : changedSettings(row.request.settings, Settings()))
        text += fmt::format(" --set {}={}", settingSpec(key).name, row.request.settings.text(key));
    return text;
}

/// Of a search only what tells something: the request itself and the best of every scheduler.
std::vector<CompareRow> shortList(const std::vector<CompareRow>& rows, int64_t limit, int& best) {
    std::map<std::string, size_t> chosen;
    for (size_t i = 0; i < rows.size(); ++i) {
        const auto [it, is_new] = chosen.try_emplace(rows[i].scheduler, i);
        if (!is_new && betterRow(rows[i], rows[it->second], limit))
            it->second = i;
    }
    std::vector<size_t> order{0};
    for (const auto& [name, row] : chosen) {
        if (row != 0)
            order.push_back(row);
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return betterRow(rows[a], rows[b], limit); });
    std::vector<CompareRow> out;
    const int best_row = best;
    best = -1;
    for (const size_t row : order) {
        if (static_cast<int>(row) == best_row)
            best = static_cast<int>(out.size());
        out.push_back(rows[row]);
    }
    return out;
}

std::string summaryOf(const CompareOptions& options, const Outcome& outcome) {
    if (outcome.best < 0)
        return "no variant could be analysed\n";
    const CompareRow& best = outcome.rows[static_cast<size_t>(outcome.best)];
    const int64_t limit = options.limits.peak_bytes;
    std::string text;
    if (!outcome.search.is_null())
        text = fmt::format("{} variants tried, {}\n", outcome.rows.size(),
                           outcome.search["end"].get<std::string>());
    if (limit >= 0 && best.peak_held_bytes > limit)
        text += fmt::format("nothing keeps the memory limit of {}; the least is {}\n", formatBytes(limit),
                            formatBytes(best.peak_held_bytes));
    return text + fmt::format("best  {}\n", asOptions(best));
}

int writeOutputs(const CompareOptions& options, const Outcome& outcome) {
    const Settings& base = options.common.request.settings;
    const bool text = !options.common.quiet && options.common.json != "-" && options.csv != "-";
    if (text && options.table) {
        int best = outcome.best;
        const auto rows = outcome.search.is_null() || outcome.rows.empty()
                              ? outcome.rows
                              : shortList(outcome.rows, options.limits.peak_bytes, best);
        fmt::print("{}{}", compareTable(rows, base, best), summaryOf(options, outcome));
    }
    if (text && outcome.diff)
        printLines((options.table ? "\n" : "") +
                   gatherDiffText(*outcome.diff, outcome.labels[0], outcome.labels[1], kDiffLines));
    if (!options.csv.isEmpty()) {
        if (const Status status = writeOutput(options.csv, compareCsv(outcome.rows, base, outcome.best));
            !status) {
            printError(status.error());
            return kExitUnreadable;
        }
    }
    if (options.common.json.isEmpty())
        return kExitDone;
    nlohmann::ordered_json json = {
        {"format", "gatherscope.compare"},
        {"version", 1},
        {"graph", options.common.request.graph_file},
        {"memory_limit_bytes", options.limits.peak_bytes < 0
                                   ? nlohmann::ordered_json(nullptr)
                                   : nlohmann::ordered_json(options.limits.peak_bytes)},
        {"rows", compareJson(outcome.rows, base, outcome.best)},
        {"search", outcome.search}};
    json["diff"] = outcome.diff ? gatherDiffJson(*outcome.diff) : nlohmann::ordered_json(nullptr);
    const std::string out = json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
    const Status status = writeOutput(options.common.json, out);
    if (!status)
        printError(status.error());
    return status ? kExitDone : kExitUnreadable;
}

void compareRows(const CompareOptions& options, const AnalyseFunction& analyse, const JobContext& job,
                 Outcome& outcome) {
    if (options.search) {
        SearchResult result = searchSettings(analyse, options.common.request, options.limits, job);
        outcome.rows = std::move(result.rows);
        outcome.best = result.best;
        outcome.search = {{"end", endName(result.end)}, {"within_limit", result.within_limit}};
        return;
    }
    const auto variants = options.table
                              ? variantsOfAllSchedulers(options.common.request, options.schedulers)
                              : std::vector<AnalysisRequest>{options.diff->first, options.diff->second};
    outcome.rows = compareVariants(analyse, variants, job);
    for (size_t i = 0; i < outcome.rows.size(); ++i) {
        const CompareRow& row = outcome.rows[i];
        if (!row.error && (outcome.best < 0 || betterRow(row, outcome.rows[static_cast<size_t>(outcome.best)],
                                                         options.limits.peak_bytes)))
            outcome.best = static_cast<int>(i);
    }
}

Status compareTwo(const CompareOptions& options, const AnalyseFunction& analyse, Outcome& outcome) {
    AnalysisPtr sides[2];
    int side = 0;
    for (const AnalysisRequest* request : {&options.diff->first, &options.diff->second}) {
        const Result<AnalysisPtr> result = analyse(*request, {});
        if (!result)
            return result.error();
        outcome.labels[side] = rowLabel(makeCompareRow(*result.value()), options.common.request.settings);
        sides[side++] = result.value();
    }
    outcome.diff = compareGathers(*sides[0], *sides[1]);
    return Unit{};
}

int compareFile(const CompareOptions& options) {
    Analyser analyser;
    AnalysisPtr first;
    const AnalyseFunction analyse = [&](const AnalysisRequest& request, const JobContext& job) {
        Result<AnalysisPtr> result = analyser.analyse(request, job);
        if (result && !first)
            first = result.value();
        return result;
    };
    StderrProgress progress;
    const bool show_progress = stderrIsTerminal() && !options.common.quiet;
    Outcome outcome;
    compareRows(options, analyse, {{}, show_progress ? &progress : nullptr}, outcome);
    if (!first) {
        const Error& error = *outcome.rows.front().error;
        printError(error);
        return exitCodeFor(error);
    }
    printDiagnostics(first->diagnostics, options.common.verbose ? Severity::Info : Severity::Warning);
    for (const CompareRow& row : outcome.rows) {
        if (row.error)
            printError(*row.error);
    }
    if (options.diff) {
        if (const Status status = compareTwo(options, analyse, outcome); !status) {
            printError(status.error());
            return exitCodeFor(status.error());
        }
    }
    if (const int code = writeOutputs(options, outcome); code != kExitDone)
        return code;
    if (first->diagnostics.hasErrors())
        return kExitUnreadable;
    const bool over =
        options.limits.peak_bytes >= 0 &&
        outcome.rows[static_cast<size_t>(outcome.best)].peak_held_bytes > options.limits.peak_bytes;
    return over ? kExitFindings : kExitDone;
}

/// Against a trace of a run, or two bundles: nothing is scheduled anew.
int compareRecorded(const QCommandLineParser& parser) {
    const QStringList files = parser.positionalArguments();
    if (parser.isSet("trace") && files.size() > 1) {
        printError({"usage", "--trace is held against one graph", {}, "give one file"});
        return kExitUsage;
    }
    const Result<CommonOptions> common = readCommonOptions(parser);
    if (!common) {
        printError(common.error());
        return exitCodeFor(common.error());
    }
    if (parser.isSet("trace"))
        return compareTrace(files.first(), parser.values("trace"), parser.value("csv"), common.value());
    return compareBundleFiles(files, common.value());
}

} // namespace

int runCompare(const QStringList& arguments) {
    if (arguments.contains("--profiles"))
        return compareStoredProfiles(arguments);
    QCommandLineParser parser;
    parser.setApplicationDescription("Runs every scheduler on a graph and shows what each hides, how long "
                                     "the step is and what memory it takes; "
                                     "or searches the settings for the shortest step.");
    addCommonOptions(parser);
    parser.addOptions({
        {"schedulers", "Which schedulers: all (the default) or names with commas between.", "NAMES"},
        {"search", "Search schedulers and settings for the shortest step."},
        {"memory-limit",
         "Bytes that communication may hold at once (gathered weights, gradients to scatter).", "MIB"},
        {"time-limit", "When the search ends with the best so far (60).", "SECONDS"},
        {"csv", "Write all rows as CSV to FILE, or to stdout for -.", "FILE"},
        {"ranks", "The files are of the ranks of one job: do they fit together? (default for several files)"},
        {"trace",
         "A trace of a run with the schedule applied (Kineto, nsys), held against the simulation; several: "
         "ranks of one run.",
         "FILE"},
        {"profiles", "Two profiles of --store FILE side by side, in place of a graph: --profiles A B.",
         "A B"},
        {"diff", "Two variants gather by gather: --diff A B, each NAME or NAME:KEY=VALUE,….", "A B"},
    });
    parser.addPositionalArgument(
        "FILE",
        "Graph file; several, or a log of several ranks: a comparison of ranks; two bundles: what differs.",
        "FILE…");
    if (const int code = parseArguments(parser, withJoinedDiff(arguments), 1); code >= 0)
        return code;
    if (parser.isSet("trace") || (!parser.isSet("ranks") && namesTwoBundles(parser.positionalArguments())))
        return compareRecorded(parser);
    const bool of_schedulers = parser.isSet("schedulers") || parser.isSet("search") || parser.isSet("diff");
    if (parser.isSet("ranks") || (!of_schedulers && !parser.isSet("rank") && !parser.isSet("graph") &&
                                  namesSeveralRanks(parser.positionalArguments()))) {
        const Result<CommonOptions> common = readCommonOptions(parser);
        if (!common) {
            printError(common.error());
            return exitCodeFor(common.error());
        }
        return compareRanks(parser.positionalArguments(), common.value());
    }
    const Result<CompareOptions> options = readOptions(parser);
    if (!options) {
        printError(options.error());
        return exitCodeFor(options.error());
    }
    return compareFile(options.value());
}

} // namespace gs

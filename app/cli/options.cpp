#include "app/cli/options.h"

#include "analysis/bundle_request.h"
#include "app/cli/exit_codes.h"
#include "export/file_writer.h"
#include "export/html/markup.h"

#include <cstdio>
#include <fmt/format.h>

namespace gs {

void addCommonOptions(QCommandLineParser& parser) {
    parser.addOptions({
        {"costs", "Cost file; may be given several times, first one wins.", "FILE"},
        {"device", "Device preset of the analytical model.", "NAME"},
        {"scheduler", "Scheduler that places the launches.", "NAME"},
        {"set", "Setting; may be given several times (`list settings` names them).", "KEY=VALUE"},
        {"edit",
         "Change by hand; may be given several times: move:NODE:ANCHOR (NODE right before ANCHOR), "
         "pin:NODE:ANCHOR, forbid:NODE, bucket:A,B,C (one alone: out of its bucket).",
         "EDIT"},
        {"override-cost",
         "Time in ns of all ops with this key (`export costs-csv` writes the keys); several times.",
         "KEY=NS"},
        {"pin-cost", "Source that is asked first for this key: measured, file, …; several times.",
         "KEY=SOURCE"},
        {"graph", "Which graph of the file (`list FILE` numbers them).", "N"},
        {"rank", "Which rank's graph, where a file or folder holds several.", "R"},
        {"stage", "Which stage's graph, by its name or a part of it (after_post_grad_graph).", "NAME"},
        {"shapes", "A second file of the same graph that has shapes or modules the first one lacks.", "FILE"},
        {"rank-file",
         "Graph of another rank of the job; may be given several times. The schedule is made to fit the "
         "other "
         "ranks' (setting rank_mode).",
         "FILE"},
        {"json", "Write the analysis as JSON to FILE, or to stdout for -.", "FILE"},
        {"quiet", "No summary and no progress."},
        {{"v", "verbose"}, "The placement of every gather, as document 000's DEBUG lines."},
    });
}

namespace {

/// "KEY=VALUE", where the key of a cost may have "=" in it.
Result<std::pair<std::string, QString>> readCostOption(const char* name, const QString& text) {
    const auto equals = text.lastIndexOf('=');
    if (equals < 1)
        return Error{
            "usage", fmt::format("--{} takes KEY=VALUE, not \"{}\"", name, text.toStdString()), {}, ""};
    return std::pair(text.left(equals).toStdString(), text.mid(equals + 1));
}

Status readCostOptions(const QCommandLineParser& parser, AnalysisRequest& request) {
    for (const QString& text : parser.values("override-cost")) {
        const auto option = readCostOption("override-cost", text);
        if (!option)
            return option.error();
        bool ok = false;
        const qlonglong ns = option->second.toLongLong(&ok);
        if (!ok || ns < 0)
            return Error{"usage",
                         fmt::format("--override-cost takes whole nanoseconds, not \"{}\"",
                                     option->second.toStdString()),
                         {},
                         ""};
        request.cost_overrides[option->first] = ns;
    }
    for (const QString& text : parser.values("pin-cost")) {
        const auto option = readCostOption("pin-cost", text);
        if (!option)
            return option.error();
        request.cost_pins[option->first] = option->second.toStdString();
    }
    return Unit{};
}

} // namespace

Result<CommonOptions> readCommonOptions(const QCommandLineParser& parser) {
    CommonOptions options;
    AnalysisRequest& request = options.request;
    // A bundle brings its own settings; the options change them.
    const QStringList files = parser.positionalArguments();
    if (files.size() == 1 && isBundle(files.first().toStdString())) {
        Result<AnalysisRequest> stated = bundleRequest(files.first().toStdString());
        if (!stated)
            return stated.error();
        request = std::move(stated).value();
    }
    if (parser.isSet("costs"))
        request.cost_files.clear();
    for (const QString& file : parser.values("costs"))
        request.cost_files.push_back(file.toStdString());
    for (const char* name : {"device", "scheduler"}) { // named as their settings
        if (!parser.isSet(name))
            continue;
        if (const Status status = request.settings.set(name, parser.value(name).toStdString()); !status)
            return status.error();
    }
    for (const QString& assignment : parser.values("set")) {
        const auto equals = assignment.indexOf('=');
        if (equals < 1)
            return Error{"usage", "--set takes KEY=VALUE, not \"" + assignment.toStdString() + "\"", {}, ""};
        const Status status = request.settings.set(assignment.left(equals).toStdString(),
                                                   assignment.mid(equals + 1).toStdString());
        if (!status)
            return status.error();
    }
    if (const Status status = readCostOptions(parser, request); !status)
        return status.error();
    for (const QString& text : parser.values("edit")) {
        const Result<Edit> edit = parseEdit(text.toStdString());
        if (!edit)
            return edit.error();
        request.edits = withEdit(std::move(request.edits), edit.value());
    }
    for (const auto& [name, slot] : {std::pair<const char*, int*>{"graph", &request.graph_index},
                                     std::pair<const char*, int*>{"rank", &request.rank}}) {
        if (!parser.isSet(name))
            continue;
        bool ok = false;
        *slot = parser.value(name).toInt(&ok);
        if (!ok || *slot < 0)
            return Error{"usage", fmt::format("--{} takes a whole number from 0", name), {}, ""};
    }
    for (const QString& file : parser.values("rank-file"))
        request.rank_files.push_back(file.toStdString());
    request.stage = parser.value("stage").toStdString();
    request.shapes_file = parser.value("shapes").toStdString();
    options.json = parser.value("json");
    options.quiet = parser.isSet("quiet");
    options.verbose = parser.isSet("v");
    return options;
}

namespace {

/// Names come from files: nothing in them may steer the terminal or fill it.
std::string shownText(std::string_view text) {
    constexpr size_t kMost = 4000; // characters; messages may list many names
    return html::cleanText(text, kMost);
}

} // namespace

int exitCodeFor(const Error& error) {
    for (const char* code :
         {"bad-setting", "unknown-setting", "unknown-scheduler", "unknown-device", "usage"}) {
        if (error.code == code)
            return kExitUsage;
    }
    return kExitUnreadable;
}

void printError(const Error& error) {
    fmt::print(stderr, "gatherscope-cli: {}", shownText(error.message));
    if (error.where.line != 0)
        fmt::print(stderr, " (line {}, column {})", error.where.line, error.where.column);
    fmt::print(stderr, "\n");
    if (!error.hint.empty())
        fmt::print(stderr, "  {}\n", shownText(error.hint));
}

void printLines(const std::string& text) {
    for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find('\n', at), text.size());
        fmt::print("{}\n", shownText(std::string_view(text).substr(at, end - at)));
        at = end + 1;
    }
}

void printDiagnostics(const Diagnostics& diagnostics, Severity from) {
    for (const Diagnostic& item : diagnostics.all()) {
        if (item.severity < from)
            continue;
        std::string place = shownText(item.where.file);
        if (item.where.line != 0)
            place += fmt::format(":{}", item.where.line);
        if (item.where.column != 0)
            place += fmt::format(":{}", item.where.column);
        const bool names_node = item.node.empty() || item.message.find(item.node) != std::string::npos;
        fmt::print(stderr, "{}{}{}: {}{}{}", place, place.empty() ? "" : ": ", severityName(item.severity),
                   names_node ? "" : shownText(item.node), names_node ? "" : ": ", shownText(item.message));
        fmt::print(stderr, "{}\n", item.hint.empty() ? "" : fmt::format(" ({})", shownText(item.hint)));
    }
    if (diagnostics.dropped() > 0)
        fmt::print(stderr, "… and {} more of the same kinds\n", diagnostics.dropped());
}

Status writeOutput(const QString& path, const std::string& text) {
    if (path == "-") {
        if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0)
            return Unit{};
        return Error{
            "write-failed", "the standard output could not be written", {}, "is its other end still there?"};
    }
    return writeFile(path.toStdString(), text);
}

} // namespace gs

// `gatherscope-cli list WHAT`
#include "app/cli/commands.h"
#include "app/cli/exit_codes.h"
#include "app/cli/options.h"
#include "app/cli/profiles.h"
#include "app/worker/worker_command.h"
#include "base/units.h"
#include "cost/cost_sources.h"
#include "cost/device_presets.h"
#include "export/exporter.h"
#include "import/importer.h"
#include "passes/lint/lint.h"
#include "schedule/scheduler.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gs {

namespace {

void listSchedulers() {
    for (const SchedulerInfo& info : schedulers()) {
        fmt::print("{:20} {}\n", info.name, info.meaning);
        std::vector<std::string_view> names;
        for (const Setting key : info.settings)
            names.push_back(settingSpec(key).name);
        fmt::print("{:20} settings: {}\n", "", fmt::join(names, ", "));
    }
}

void listSettings() {
    for (const SettingSpec& spec : settingSpecs()) {
        fmt::print("{:18} default {:20} {}{}\n", spec.name, spec.fallback, spec.meaning,
                   spec.unit.empty() ? "" : fmt::format(" [{}]", spec.unit));
        if (!spec.choices.empty())
            fmt::print("{:18} one of {}\n", "", fmt::join(spec.choices, ", "));
        else if (spec.type == SettingType::Number || spec.type == SettingType::Integer)
            fmt::print("{:18} from {} to {}\n", "", spec.minimum, spec.maximum);
    }
}

void listCostSources() {
    for (const CostSourceInfo& info : costSources())
        fmt::print("{:12} {}\n", info.name, info.meaning);
}

void listDevices() {
    for (const DevicePreset& preset : devicePresets())
        fmt::print("{:12} {}\n", preset.id, preset.name);
}

void listReaders() {
    for (const GraphReader& reader : graphReaders())
        fmt::print("{:18} {}\n", reader.name, reader.title);
}

void listChecks() {
    for (const LintCheck& check : lintChecks())
        fmt::print("{:10} {}\n{:10} codes: {}\n", check.name, check.meaning, "", check.codes);
}

void listExports() {
    for (const Exporter& exporter : exporters()) {
        std::string targets;
        for (const std::string& target : exporter.targets ? exporter.targets() : std::vector<std::string>())
            targets += (targets.empty() ? ", for " : " ") + target;
        fmt::print("{:18} {} (.{}){}\n", exporter.name, exporter.title, exporter.extension, targets);
    }
}

/// Asks gatherscope-rank, which alone has device code.
int listBackends() {
    const auto backends = probeBackends();
    if (!backends) {
        printError(backends.error());
        return kExitPartMissing;
    }
    for (const ProbedBackend& backend : backends.value()) {
        fmt::print("{:8} {}\n", backend.name, backend.meaning);
        if (backend.devices.empty())
            fmt::print("{:8} not here: {}\n", "", backend.why_not);
        for (const DeviceFacts& facts : backend.devices)
            fmt::print("{:8} {}{}\n", "", facts.name,
                       facts.memory_bytes > 0 ? fmt::format(", {}", formatBytes(facts.memory_bytes)) : "");
    }
    return kExitDone;
}

std::string orDash(const std::string& text) {
    return text.empty() ? "-" : text;
}

/// The graphs of a file or folder with what one can choose them by, and what lies beside them.
int listFile(const std::string& path) {
    Diagnostics diagnostics;
    const Result<GraphList> list = listGraphs(path, diagnostics);
    if (!list) {
        printError(list.error());
        return exitCodeFor(list.error());
    }
    printLines(fmt::format("{}: {} graph(s)\n", path, list->graphs.size()));
    size_t width = 5;
    for (const GraphEntry& entry : list->graphs)
        width = std::max(width, std::min<size_t>(entry.name.size(), 60));
    fmt::print("{:>5} {:{}} {:>4} {:8} {:>8} {:>11} {:>7}  {:16} {}\n", "graph", "stage", width, "rank",
               "compile", "nodes", "collectives", "gathers", "reader", "where");
    for (size_t i = 0; i < list->graphs.size(); ++i) {
        const GraphEntry& entry = list->graphs[i];
        const std::string file =
            entry.file.empty() ? "" : std::filesystem::path(entry.file).filename().string() + " ";
        printLines(fmt::format("{:4}{} {:{}} {:>4} {:8} {:>8} {:>11} {:>7}  {:16} {}line {}\n", i,
                               i == list->preferred ? "*" : " ", entry.name, width,
                               entry.rank < 0 ? "-" : std::to_string(entry.rank), orDash(entry.compile_id),
                               formatCount(static_cast<int64_t>(entry.nodes)), entry.collectives,
                               entry.gathers, list->readers[i], file, entry.line));
    }
    for (const Companion& item : list->companions)
        printLines(fmt::format("beside: {}{}{}: {}{}\n", item.what,
                               item.compile_id.empty() ? "" : fmt::format(" of [{}]", item.compile_id),
                               item.rank < 0 ? "" : fmt::format(", rank {}", item.rank), item.file,
                               item.line == 0 ? "" : fmt::format(" line {}", item.line)));
    printDiagnostics(diagnostics, Severity::Warning);
    return diagnostics.hasErrors() ? kExitUnreadable : kExitDone;
}

struct Topic {
    const char* name;
    void (*print)();
};
constexpr Topic kTopics[] = {
    {"schedulers", listSchedulers}, {"settings", listSettings}, {"cost-sources", listCostSources},
    {"devices", listDevices},       {"readers", listReaders},   {"exports", listExports},
    {"checks", listChecks}};

} // namespace

int runList(const QStringList& arguments) {
    QCommandLineParser parser;
    parser.setApplicationDescription("Lists the graphs in a file or folder, or one of: schedulers, settings, "
                                     "cost-sources, devices, backends, profiles (of --store FILE), readers, "
                                     "exports, checks.");
    parser.addOption({"store", "Profile store, for `list profiles`.", "FILE"});
    parser.addPositionalArgument("WHAT", "A file, a folder, or one of the words above.");
    if (const int code = parseArguments(parser, arguments, 1); code >= 0)
        return code;
    const QString what = parser.positionalArguments().first();
    if (what == "profiles")
        return listProfiles(parser.value("store"));
    if (what == "backends")
        return listBackends();
    for (const Topic& topic : kTopics) {
        if (what == topic.name) {
            topic.print();
            return kExitDone;
        }
    }
    return listFile(what.toStdString());
}

} // namespace gs

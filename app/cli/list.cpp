// `gatherscope-cli list WHAT`
#include "app/cli/commands.h"
#include "app/cli/exit_codes.h"
#include "app/cli/options.h"
#include "base/units.h"
#include "cost/cost_sources.h"
#include "cost/device_presets.h"
#include "export/exporter.h"
#include "passes/lint/lint.h"
#include "schedule/scheduler.h"

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
    for (const Exporter& exporter : exporters())
        fmt::print("{:18} {} (.{})\n", exporter.name, exporter.title, exporter.extension);
}

/// The graphs of a file with node and collective counts.
int listFile(const std::string& path) {
    Diagnostics diagnostics;
    const Result<ImportedGraph> first = importGraph(path, -1, -1, diagnostics, {});
    if (!first) {
        printError(first.error());
        return exitCodeFor(first.error());
    }
    fmt::print("{}: {} graph(s), read as {}\n", path, first->entries.size(), first->reader);
    for (size_t i = 0; i < first->entries.size(); ++i) {
        const GraphEntry& entry = first->entries[i];
        Diagnostics ignored;
        const Result<ImportedGraph> graph = importGraph(path, static_cast<int>(i), -1, ignored, {});
        const std::string rank = entry.rank < 0 ? std::string() : fmt::format(" rank {}", entry.rank);
        if (!graph) {
            fmt::print("{:4} {}{} line {}: {}\n", i, entry.name, rank, entry.line, graph.error().message);
            continue;
        }
        const CollectiveTable collectives(*graph->graph);
        size_t gathers = 0;
        for (const Collective& item : collectives.all())
            gathers += item.isGather() ? 1 : 0;
        fmt::print("{:4}{} {}{} line {}: {} nodes, {} collectives, {} gathers ({} of weights)\n", i,
                   i == first->chosen ? "*" : " ", entry.name, rank, entry.line,
                   formatCount(static_cast<int64_t>(graph->graph->size())), collectives.size(), gathers,
                   collectives.weightGatherCount());
    }
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
    parser.setApplicationDescription("Lists the graphs in a file, or one of: schedulers, settings, "
                                     "cost-sources, devices, readers, exports, checks.");
    parser.addPositionalArgument("WHAT", "A file, or one of the words above.");
    if (const int code = parseArguments(parser, arguments, 1); code >= 0)
        return code;
    const QString what = parser.positionalArguments().first();
    for (const Topic& topic : kTopics) {
        if (what == topic.name) {
            topic.print();
            return kExitDone;
        }
    }
    return listFile(what.toStdString());
}

} // namespace gs

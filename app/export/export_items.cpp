#include "app/export/export_items.h"

#include "app/text.h"

#include <QCoreApplication>

#include <algorithm>

namespace gs {

namespace {

QString tr(const char* text) {
    return QCoreApplication::translate("ExportItems", text);
}

/// What an exporter is for. One that is not listed here is still offered, under the last group.
struct Purpose {
    const char* exporter;
    const char* group;
    const char* meaning;
    const char* title = nullptr; ///< where the exporter's own is long
};

const char* const kRun = QT_TRANSLATE_NOOP("ExportItems", "Run it in PyTorch");
const char* const kShow = QT_TRANSLATE_NOOP("ExportItems", "Show it to others");
const char* const kTables = QT_TRANSLATE_NOOP("ExportItems", "Tables and logs");
const char* const kKeep = QT_TRANSLATE_NOOP("ExportItems", "Keep and compare");
const char* const kPictures = QT_TRANSLATE_NOOP("ExportItems", "Pictures");
const char* const kOther = QT_TRANSLATE_NOOP("ExportItems", "Other");

const Purpose kPurposes[] = {
    {"schedule", kRun,
     QT_TRANSLATE_NOOP("ExportItems",
                       "The order itself. The bridge applies it as a pass and refuses a graph with another "
                       "hash.")},
    {"inductor", kRun,
     QT_TRANSLATE_NOOP("ExportItems",
                       "torch._inductor.config lines for Inductor's own distributed optimisations.")},
    {"magi-env", kRun,
     QT_TRANSLATE_NOOP("ExportItems", "Environment variables for MagiCompiler, to source in a shell.")},
    {"magi-python", kRun, QT_TRANSLATE_NOOP("ExportItems", "The same options as keyword arguments.")},
    {"magi-yaml", kRun, QT_TRANSLATE_NOOP("ExportItems", "The same options for a configuration file.")},
    {"torchtitan", kRun, QT_TRANSLATE_NOOP("ExportItems", "Flags of torchtitan's command line.")},
    {"pge", kRun,
     QT_TRANSLATE_NOOP("ExportItems",
                       "Measured costs in the form that Inductor's profile-guided estimates load.")},
    {"report", kShow,
     QT_TRANSLATE_NOOP("ExportItems",
                       "One file that opens in any browser without a network: for a bug report or a class.")},
    {"trace", kShow,
     QT_TRANSLATE_NOOP("ExportItems", "Before and after as two processes, for Perfetto or chrome://tracing."),
     QT_TRANSLATE_NOOP("ExportItems", "Simulated timelines (Chrome trace)")},
    {"timeline-svg", kShow, QT_TRANSLATE_NOOP("ExportItems", "Both timelines, before above after.")},
    {"bytes-svg", kShow, QT_TRANSLATE_NOOP("ExportItems", "Gathered bytes over the step, before and after.")},
    {"dot", kShow, QT_TRANSLATE_NOOP("ExportItems", "The graph for Graphviz.")},
    {"gathers-csv", kTables,
     QT_TRANSLATE_NOOP("ExportItems", "A row per gather: place, need, window, verdict.")},
    {"costs-csv", kTables, QT_TRANSLATE_NOOP("ExportItems", "A row per cost, with where it comes from.")},
    {"transfers-csv", kTables, QT_TRANSLATE_NOOP("ExportItems", "A row per transfer of the simulated step.")},
    {"magi-log", kTables, QT_TRANSLATE_NOOP("ExportItems", "Log lines that existing tools grep and compare."),
     QT_TRANSLATE_NOOP("ExportItems", "Placement lines and cost table (log)")},
    {"bundle", kKeep,
     QT_TRANSLATE_NOOP(
         "ExportItems",
         "Everything that makes this analysis, in one file: it opens again here, and two can be "
         "compared in CI."),
     QT_TRANSLATE_NOOP("ExportItems", "Bundle (everything in one file)")},
    {"analysis", kKeep, QT_TRANSLATE_NOOP("ExportItems", "Settings, decisions and simulation for scripts.")},
    {"graph", kKeep,
     QT_TRANSLATE_NOOP("ExportItems", "The graph as it was read, in Gatherscope's own form.")},
};

const Purpose* purposeOf(std::string_view name) {
    const auto found = std::find_if(std::begin(kPurposes), std::end(kPurposes),
                                    [&](const Purpose& purpose) { return name == purpose.exporter; });
    return found == std::end(kPurposes) ? nullptr : found;
}

} // namespace

std::vector<ExportItem> exportItems(std::span<const ViewInfo> views) {
    std::vector<ExportItem> items;
    for (const char* const group : {kRun, kShow, kTables, kKeep, kOther}) {
        for (const Exporter& exporter : exporters()) {
            const Purpose* purpose = purposeOf(exporter.name);
            if ((purpose ? purpose->group : kOther) != group)
                continue;
            items.push_back({toQString(exporter.name),
                             purpose && purpose->title ? tr(purpose->title) : toQString(exporter.title),
                             tr(group), purpose ? tr(purpose->meaning) : QString(), &exporter, nullptr});
        }
    }
    for (const ViewInfo& view : views)
        items.push_back({QStringLiteral("picture-") + QLatin1String(view.id), viewTitle(view), tr(kPictures),
                         tr("A picture of this panel for slides and papers."), nullptr, &view});
    items.push_back({QStringLiteral("picture-window"), tr("Whole window"), tr(kPictures),
                     tr("The window as it stands."), nullptr, nullptr});
    return items;
}

} // namespace gs

#include "app/grab.h"

#include "app/banner.h"
#include "app/command_palette.h"
#include "app/grab_dialogs.h"
#include "app/header_bar.h"
#include "app/help_overlay.h"
#include "app/main_window.h"
#include "app/message_page.h"
#include "app/text.h"
#include "explain/why.h"
#include "views/docks/filter_field.h"
#include "views/shell/graph_picker.h"
#include "views/theme.h"

#include <QApplication>
#include <QCheckBox>
#include <QDir>
#include <QElapsedTimer>
#include <QFileInfo>
#include <QPixmap>
#include <QThread>

#include <cstdio>

namespace gs {

namespace {

constexpr qint64 kOpenTimeoutMs = 120'000;
/// Layouts are given up by the graph view itself after 10 s.
constexpr qint64 kSettleTimeoutMs = 15'000;
constexpr QSize kViewSize(960, 620);

/// Run times differ from run to run; pictures must not.
AnalyseFunction withoutTimes() {
    return [analyse = makeAnalyseFunction()](const AnalysisRequest& request,
                                             const JobContext& job) -> Result<AnalysisPtr> {
        Result<AnalysisPtr> result = analyse(request, job);
        if (!result)
            return result;
        auto copy = std::make_shared<Analysis>(*result.value());
        for (Program* program : {&copy->before, &copy->after}) {
            if (!program->schedule)
                continue;
            auto schedule = std::make_shared<Schedule>(*program->schedule);
            schedule->run_ms = 0;
            program->schedule = schedule;
        }
        for (StageTime& time : copy->times)
            time.ms = 0;
        return AnalysisPtr(std::move(copy));
    };
}

bool waitFor(const std::function<bool()>& done, qint64 timeout_ms) {
    QElapsedTimer timer;
    timer.start();
    while (!done()) {
        if (timer.elapsed() > timeout_ms)
            return false;
        QCoreApplication::processEvents(QEventLoop::AllEvents, 20);
        QThread::msleep(1);
    }
    return true;
}

bool settled(const std::vector<View*>& views) {
    return std::none_of(views.begin(), views.end(), [](const View* view) { return view->busy(); });
}

class Grabber {
public:
    explicit Grabber(const CommandLine& line) : line_(line), folder_(line.grab_folder) {}

    int run();

private:
    bool openGraph(MainWindow& window, const QString& graph);
    CompareStatePtr compareAll(MainWindow& window);
    void grabGraph(MainWindow& window, const QString& name);
    void grabStates(MainWindow& window);
    void grabPicker(MainWindow& window, const QString& name);
    void grabPickerStates();
    void settle(const std::vector<View*>& views);
    void save(QWidget& widget, const QString& name);
    static Selection choose(const Analysis& analysis);

    const CommandLine& line_;
    QDir folder_;
    QString suffix_;
    QString error_;
    bool failed_ = false;
};

int Grabber::run() {
    if (!folder_.mkpath(QStringLiteral("."))) {
        std::fprintf(stderr, "gatherscope: the folder %s cannot be made\n", qPrintable(line_.grab_folder));
        return kExitUsage;
    }
    for (const bool dark : {false, true}) {
        Theme::apply(dark);
        suffix_ = dark ? QStringLiteral("dark") : QStringLiteral("light");
        MainWindow window(withoutTimes());
        window.resize(line_.size);
        window.show();
        QObject::connect(&window.document(), &Document::failed, &window,
                         [this](const Error& error) { error_ = errorText(error); });
        grabStates(window);
        grabPickerStates();
        for (const QString& graph : line_.graphs)
            if (openGraph(window, graph)) {
                grabPicker(window, QFileInfo(graph).baseName());
                grabGraph(window, QFileInfo(graph).baseName());
            }
    }
    return failed_ ? kExitUnreadable : kExitDone;
}

bool Grabber::openGraph(MainWindow& window, const QString& graph) {
    error_.clear();
    window.open(requestOf(line_, graph));
    if (!waitFor([&] { return !window.busy(); }, kOpenTimeoutMs))
        error_ = QStringLiteral("%1: not analysed within two minutes").arg(graph);
    if (error_.isEmpty())
        return true;
    std::fprintf(stderr, "gatherscope: %s\n", qPrintable(error_));
    failed_ = true;
    return false;
}

/// The list of the graphs of an input with several, and its ranks compared for the pictures to come.
void Grabber::grabPicker(MainWindow& window, const QString& name) {
    GraphPicker& picker = window.picker();
    if (!picker.isVisible())
        return;
    settle(window.workspace().views());
    save(window, name + QStringLiteral("-picker"));
    if (picker.compareBox()->isVisible()) {
        picker.compareBox()->click();
        waitFor([&] { return !window.busy(); }, kOpenTimeoutMs);
    }
    emit picker.closed();
}

/// Many graphs, files that cannot be read, and a filter that leaves none.
void Grabber::grabPickerStates() {
    auto listing = std::make_shared<GraphListing>();
    listing->path = "torch_trace";
    const char* const stages[] = {"dynamo_output_graph", "aot_joint_graph", "aot_forward_graph",
                                  "aot_backward_graph", "after_post_grad_graph"};
    for (int rank = 0; rank < 16; ++rank) {
        for (int i = 0; i < 65; ++i) {
            GraphEntry entry;
            entry.stage = entry.name = stages[i % 5];
            entry.compile_id = std::to_string(i / 5) + "/0";
            entry.file = "torch_trace/dedicated_log_torch_trace_rank_" + std::to_string(rank) + "_x.log";
            entry.line = static_cast<uint32_t>(3 + 2731 * i);
            entry.rank = rank;
            entry.nodes = static_cast<size_t>(9443 - 13 * i);
            entry.collectives = static_cast<size_t>(582 - i);
            entry.gathers = static_cast<size_t>(291 - i);
            listing->list.graphs.push_back(entry);
        }
    }
    const auto fault = [&](const char* file, const char* message) {
        listing->diagnostics.add({Severity::Warning, "unreadable-file", {file, 0, 0}, {}, message, {}});
    };
    fault("torch_trace/dedicated_log_torch_trace_rank_0_y.log.gz",
          "the gzip data ends too early; the first 131072 bytes of text were read");
    fault("torch_trace/dedicated_log_torch_trace_rank_16_x.log", "the file is empty");
    fault("torch_trace", "all logs state rank 0: their ranks are taken from their file names");
    GraphPicker picker;
    picker.setListing(listing);
    picker.setShown(static_cast<int>(listing->list.preferred));
    picker.resize(line_.size.width() - 16, picker.sizeHint().height());
    picker.show();
    settle({});
    save(picker, QStringLiteral("state-picker-many"));
    picker.filterField()->setText(QStringLiteral("nothing like this"));
    settle({});
    save(picker, QStringLiteral("state-picker-none"));
}

/// Every scheduler as a row; program order and what is shown are pinned.
CompareStatePtr Grabber::compareAll(MainWindow& window) {
    using Kind = CompareCommand::Kind;
    CompareJobs& compare = window.document().compare();
    compare.setAnalyseFactory(withoutTimes);
    compare.command({Kind::RunAll, 0, {}});
    const auto idle = [&] { return !compare.busy(); };
    waitFor(idle, kOpenTimeoutMs);
    compare.command({Kind::PinA, compare.state()->baseline, {}});
    compare.command({Kind::PinB, compare.state()->current, {}});
    waitFor(idle, kOpenTimeoutMs);
    return compare.state();
}

/// The gather that stalls the step longest after scheduling, else the middle one of those that moved, else
/// the first.
Selection Grabber::choose(const Analysis& analysis) {
    std::vector<const Decision*> moved;
    const std::vector<Decision>& decisions = analysis.after.schedule->decisions;
    const Decision* chosen = decisions.empty() ? nullptr : &decisions.front();
    for (const Decision& decision : decisions)
        if (decision.moved())
            moved.push_back(&decision);
    if (!moved.empty())
        chosen = moved[moved.size() / 2];
    int64_t longest_ns = 0;
    for (const Decision& decision : decisions) {
        const int64_t exposed_ns = exposedAfter(analysis, decision.collective);
        if (decision.verdict == Verdict::NotCandidate || exposed_ns <= longest_ns)
            continue;
        longest_ns = exposed_ns;
        chosen = &decision;
    }
    if (!chosen)
        return {};
    return {Selection::Kind::Gather, toQString(analysis.after.graph->name(chosen->launch))};
}

void Grabber::grabGraph(MainWindow& window, const QString& name) {
    const SnapshotPtr snapshot = window.document().snapshot();
    const Selection selection = choose(*snapshot);
    window.document().select(selection);
    settle(window.workspace().views());
    save(window, name + QStringLiteral("-window"));
    const CompareStatePtr compared = compareAll(window);
    for (const ViewInfo& info : viewRegistry()) {
        const std::unique_ptr<View> view(info.create(nullptr));
        view->resize(info.place == DockPlace::Bottom ? QSize(line_.size.width(), kViewSize.height())
                                                     : kViewSize);
        view->setAutoFillBackground(true);
        QPalette palette = view->palette();
        palette.setColor(QPalette::Window, Theme::current().panel);
        view->setPalette(palette);
        view->setSnapshot(snapshot);
        view->setCompare(compared);
        view->setSelection(selection);
        view->show();
        settle({view.get()});
        save(*view, name + QLatin1Char('-') + QLatin1String(info.id));
    }
    for (const char* chip : {"scheduler", "contention", "slack", "bucket"}) {
        if (QWidget* popup = window.header().openPopup(QString::fromLatin1(chip))) {
            save(*popup, name + QStringLiteral("-popup-") + QLatin1String(chip));
            popup->close();
        }
    }
    GrabTools tools;
    tools.save = [this](QWidget& widget, const QString& title) { save(widget, title); };
    tools.settle = [this] { settle({}); };
    tools.wait = [](const std::function<bool()>& done) { return waitFor(done, kOpenTimeoutMs); };
    grabProfileComparison(snapshot, name, tools);
    grabProfileDialog(snapshot, name, tools);
    grabExportDialog(snapshot, &window, name, tools);
    window.palette().open();
    save(window, name + QStringLiteral("-commands"));
    window.palette().hide();
    window.help().open();
    save(window, name + QStringLiteral("-help"));
    window.help().hide();
    window.showEmpty();
}

void Grabber::grabStates(MainWindow& window) {
    window.showSamples();
    save(window, QStringLiteral("state-samples"));
    window.showEmpty();
    save(window, QStringLiteral("state-empty"));
    window.showLoading(QStringLiteral("Opening llama3_8b_fsdp64_joint.json"), QStringLiteral("read"), 0.4);
    save(window, QStringLiteral("state-loading"));
    window.messagePage().showError(QStringLiteral("graph.txt"),
                                   {"not-a-graph",
                                    "Line 3 should begin a graph, but this is the report of a test run.",
                                    {"graph.txt", 3, 1},
                                    "Capture the graph with TORCH_LOGS=aot_graphs, or open its JSON."});
    window.showMessagePage();
    save(window, QStringLiteral("state-error"));
    window.showEmpty();
    window.banner().ask(
        QStringLiteral("rank0.kineto.json: take costs from it, or lay the run over the simulation?"),
        {QStringLiteral("Use as costs"), [] {}}, {QStringLiteral("Lay over"), [] {}});
    save(window, QStringLiteral("state-banner"));
    window.banner().hide();
}

void Grabber::settle(const std::vector<View*>& views) {
    QCoreApplication::sendPostedEvents();
    QCoreApplication::processEvents();
    // Debounced work starts a little after the change that asks for it.
    QElapsedTimer quiet;
    quiet.start();
    waitFor(
        [&] {
            if (!settled(views))
                quiet.restart();
            return quiet.elapsed() >= 250;
        },
        kSettleTimeoutMs);
}

void Grabber::save(QWidget& widget, const QString& name) {
    QCoreApplication::sendPostedEvents();
    QCoreApplication::processEvents();
    const QString path = folder_.filePath(QStringLiteral("%1-%2.png").arg(name, suffix_));
    if (widget.grab().save(path)) {
        std::printf("%s\n", qPrintable(path));
        return;
    }
    std::fprintf(stderr, "gatherscope: %s cannot be written\n", qPrintable(path));
    failed_ = true;
}

} // namespace

int runGrab(const CommandLine& line) {
    static QtMessageHandler previous;
    // The offscreen platform says of each popup that there is no window manager.
    previous =
        qInstallMessageHandler([](QtMsgType type, const QMessageLogContext& place, const QString& text) {
            if (!text.startsWith(QLatin1String("This plugin does not support")))
                previous(type, place, text);
        });
    QApplication::setCursorFlashTime(0);
    QApplication::setEffectEnabled(Qt::UI_AnimateMenu, false);
    QApplication::setEffectEnabled(Qt::UI_AnimateCombo, false);
    const int code = Grabber(line).run();
    qInstallMessageHandler(previous);
    return code;
}

} // namespace gs

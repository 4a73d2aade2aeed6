#include "app/main_window.h"

#include "app/banner.h"
#include "app/command_palette.h"
#include "app/file_kind.h"
#include "app/header_bar.h"
#include "app/help_overlay.h"
#include "app/message_page.h"
#include "app/preferences.h"
#include "app/profile/profile_job.h"
#include "app/text.h"
#include "views/docks/costs_view.h"
#include "views/shell/graph_picker.h"
#include "views/shell/samples_page.h"
#include "views/theme.h"

#include <QApplication>
#include <QCloseEvent>
#include <QDragEnterEvent>
#include <QFileInfo>
#include <QMimeData>
#include <QStackedWidget>
#include <QVBoxLayout>

namespace gs {

namespace {

/// Jobs shorter than this show no progress: a strip that flashes tells nobody anything.
constexpr int kStripDelayMs = 300;
constexpr QSize kMinimumSize(960, 600);
constexpr QSize kDefaultSize(1440, 900);

} // namespace

MainWindow::MainWindow(AnalyseFunction analyse, std::span<const ViewInfo> views)
    : document_(std::move(analyse)) {
    setObjectName(QStringLiteral("mainWindow"));
    setAcceptDrops(true);
    setMinimumSize(kMinimumSize);
    resize(kDefaultSize);
    workspace_ = new Workspace(views);
    buildPages();
    palette_ = new CommandPalette(this);
    help_ = new HelpOverlay(this);
    buildMenus();
    connectDocument();
    connectPicker();
    strip_delay_.setSingleShot(true);
    strip_delay_.setInterval(kStripDelayMs);
    connect(&strip_delay_, &QTimer::timeout, loading_strip_, &QWidget::show);
    connect(&watcher_, &QFileSystemWatcher::fileChanged, this, &MainWindow::fileChanged);
    snapshotArrived(nullptr);
}

MainWindow::~MainWindow() {
    // Members that report to widgets must fall silent before the widgets go.
    lister_.cancel();
    lister_.disconnect(this);
    document_.disconnect(this);
    document_.undoStack()->disconnect(this);
}

void MainWindow::buildPages() {
    auto* central = new QWidget;
    auto* layout = new QVBoxLayout(central);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    header_ = new HeaderBar;
    status_ = new StatusLine;
    loading_strip_ = new LoadingPanel(LoadingPanel::Shape::Strip);
    loading_strip_->hide();
    banner_ = new Banner;
    picker_ = new GraphPicker;
    picker_->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    picker_->hide();
    stack_ = new QStackedWidget;
    samples_ = new SamplesPage;
    samples_->setSamples(readSamples(samplesFolder()));
    loading_page_ = new LoadingPanel(LoadingPanel::Shape::Page);
    message_ = new MessagePage;
    // In the order of Page.
    stack_->addWidget(workspace_);
    stack_->addWidget(samples_);
    stack_->addWidget(loading_page_);
    stack_->addWidget(message_);
    auto* body = new QVBoxLayout;
    body->setContentsMargins(8, 8, 8, 8);
    body->setSpacing(8);
    body->addWidget(loading_strip_);
    body->addWidget(banner_);
    body->addWidget(picker_);
    body->addWidget(stack_, 1);
    layout->addWidget(header_);
    layout->addLayout(body, 1);
    layout->addWidget(status_);
    setCentralWidget(central);
}

void MainWindow::connectDocument() {
    connect(&document_, &Document::snapshotChanged, this, &MainWindow::snapshotArrived);
    connect(&document_, &Document::selectionChanged, workspace_, &Workspace::setSelection);
    connect(&document_, &Document::busyChanged, this, &MainWindow::showBusy);
    connect(&document_, &Document::failed, this, &MainWindow::failed);
    for (LoadingPanel* panel : {loading_strip_, loading_page_}) {
        connect(&document_, &Document::progressed, panel, &LoadingPanel::setProgress);
        connect(panel, &LoadingPanel::cancelClicked, this, &MainWindow::cancelJobs);
    }
    connect(workspace_, &Workspace::selectionRequested, &document_, &Document::select);
    connect(workspace_, &Workspace::settingRequested, &document_, &Document::setSetting);
    connect(workspace_, &Workspace::costEditRequested, &document_, &Document::editCost);
    connect(workspace_, &Workspace::compareRequested, &document_.compare(), &CompareJobs::command);
    connect(&document_.compare(), &CompareJobs::stateChanged, workspace_, &Workspace::setCompare);
    connect(workspace_, &Workspace::editRequested, &document_, &Document::addEdit);
    connect(workspace_, &Workspace::editRemovalRequested, &document_, &Document::removeEdits);
    connect(workspace_, &Workspace::requestRequested, &document_, &Document::setRequest);
    connect(workspace_, &Workspace::rankFilesRequested, &document_, &Document::addRankFiles);
    if (auto* costs = qobject_cast<CostsView*>(workspace_->view(QStringLiteral("costs"))))
        connect(costs, &CostsView::profileRequested, this, &MainWindow::showProfile);
    connect(header_, &HeaderBar::settingRequested, &document_, &Document::setSetting);
    connect(status_, &StatusLine::partClicked, this, &MainWindow::statusClicked);
    connect(banner_, &Banner::actionClicked, &document_, &Document::reload);
    connect(samples_, &SamplesPage::sampleChosen, this, &MainWindow::openSample);
    const auto open = [this] { action(QStringLiteral("open"))->trigger(); };
    connect(samples_, &SamplesPage::openClicked, this, open);
    connect(message_, &MessagePage::openClicked, this, open);
    connect(message_, &MessagePage::samplesClicked, this, &MainWindow::showSamples);
    connect(message_, &MessagePage::retryClicked, &document_, &Document::reload);
}

void MainWindow::snapshotArrived(const SnapshotPtr& snapshot) {
    const RecentFile shown = snapshot ? recentFileOf(*snapshot) : RecentFile();
    if (snapshot && shown != shown_)
        Preferences::addRecentFile(shown);
    if (snapshot && !shown.sameFiles(shown_))
        banner_->hide();
    shown_ = shown;
    showTraceError(snapshot.get());
    header_->setSnapshot(snapshot);
    status_->setSnapshot(snapshot);
    workspace_->setSnapshot(snapshot);
    if (picker_->listing())
        picker_->setShown(shownGraph(*picker_->listing()));
    const QString name = snapshot ? fileTitle(toQString(snapshot->request.graph_file)) : QString();
    setWindowTitle(name.isEmpty() ? tr("Gatherscope") : tr("%1 – Gatherscope").arg(name));
    watchFiles();
    updateActions();
    updatePage();
}

/// Once, not after each change of a setting.
void MainWindow::showTraceError(const Analysis* analysis) {
    const QString text =
        analysis && analysis->measured_error ? errorText(*analysis->measured_error) : QString();
    if (!text.isEmpty() && text != trace_error_)
        banner_->showMessage(Banner::Look::Warning, text);
    trace_error_ = text;
}

/// After any change of what runs.
void MainWindow::showBusy() {
    const AnalysisRequest* opening = document_.opening();
    const bool running = busy();
    QString title = tr("Analysing");
    if (lister_.busy())
        title = tr("Looking into %1").arg(fileTitle(lister_.path()));
    else if (opening)
        title = tr("Opening %1").arg(fileTitle(toQString(opening->graph_file)));
    if (running && title != busy_title_) {
        loading_strip_->begin(title);
        loading_page_->begin(title);
    }
    busy_title_ = running ? title : QString();
    if (!running) {
        strip_delay_.stop();
        loading_strip_->hide();
    } else if (document_.snapshot() && loading_strip_->isHidden() && !strip_delay_.isActive()) {
        strip_delay_.start();
    }
    header_->setSettingsEnabled(!opening && !to_open_);
    updateActions();
    updatePage();
}

void MainWindow::cancelJobs() {
    if (lister_.busy()) {
        lister_.cancel();
        to_open_.reset();
    } else {
        document_.cancel();
    }
    showBusy();
}

void MainWindow::failed(const Error& error) {
    const AnalysisRequest* opening = document_.failedOpening();
    if (opening && !document_.snapshot())
        message_->showError(toQString(opening->graph_file), error);
    else
        banner_->showMessage(Banner::Look::Warning, errorText(error), opening ? tr("Try again") : QString());
    updatePage();
}

void MainWindow::updatePage() {
    Page page = Page::Message;
    if (want_samples_)
        page = Page::Samples;
    else if (document_.snapshot())
        page = Page::Panels;
    else if (document_.opening() || lister_.busy())
        page = Page::Loading;
    if (stack_->currentIndex() != static_cast<int>(page))
        stack_->setCurrentIndex(static_cast<int>(page));
}

MainWindow::Page MainWindow::page() const {
    return static_cast<Page>(stack_->currentIndex());
}

void MainWindow::openFiles(const QStringList& graphs, const QStringList& costs) {
    if (graphs.isEmpty()) {
        if (!document_.snapshot() && !costs.isEmpty())
            banner_->showMessage(Banner::Look::Info,
                                 tr("Costs need a graph: open the graph first, or drop both."));
        for (auto it = costs.rbegin(); document_.snapshot() && it != costs.rend(); ++it)
            document_.addCostFile(*it);
        return;
    }
    RecentFile file;
    file.graph = graphs.front();
    file.costs = costs;
    AnalysisRequest request = requestOf(file);
    request.settings = document_.request().settings;
    open(std::move(request));
}

void MainWindow::openRecent(const RecentFile& file) {
    open(requestOf(file));
}

void MainWindow::openAny(const QStringList& files) {
    const SortedFiles sorted = sortFiles(files);
    const bool traces = !sorted.costs.isEmpty() && sorted.graphs.isEmpty() && document_.snapshot() &&
                        std::all_of(sorted.costs.begin(), sorted.costs.end(), isTrace);
    if (traces)
        askAboutTraces(sorted.costs);
    else
        openFiles(sorted.graphs, sorted.costs);
}

/// A trace says what ops cost, and what happened in a run.
void MainWindow::askAboutTraces(const QStringList& files) {
    const QString name = files.size() == 1 ? QFileInfo(files.front()).fileName()
                                           : tr("%n traces", nullptr, static_cast<int>(files.size()));
    banner_->ask(tr("%1: take costs from it, or lay the run over the simulation?").arg(name),
                 {tr("Use as costs"), [this, files] { openFiles({}, files); }},
                 {tr("Lay over"), [this, files] { document_.layTracesOver(files); }});
}

void MainWindow::openSample(const Sample& sample) {
    AnalysisRequest request;
    request.graph_file = sample.graph.toStdString();
    for (const QString& file : sample.costs)
        request.cost_files.push_back(file.toStdString());
    for (auto it = sample.settings.begin(); it != sample.settings.end(); ++it) {
        if (const Status status = request.settings.set(it.key().toStdString(), it.value().toStdString());
            !status) {
            failed(status.error());
            return;
        }
    }
    open(std::move(request));
}

void MainWindow::showSamples() {
    want_samples_ = true;
    picker_->hide();
    updatePage();
}

void MainWindow::showEmpty() {
    want_samples_ = false;
    lister_.cancel();
    to_open_.reset();
    forgetListing();
    message_->showEmpty();
    document_.close();
}

void MainWindow::showMessagePage() {
    stack_->setCurrentIndex(static_cast<int>(Page::Message));
}

void MainWindow::showLoading(const QString& title, const QString& stage, double fraction) {
    loading_page_->begin(title);
    loading_page_->setProgress(stage, fraction);
    stack_->setCurrentIndex(static_cast<int>(Page::Loading));
}

void MainWindow::applyTheme(ThemeChoice choice) {
    Theme::apply(isDark(choice));
    for (QWidget* widget : QApplication::allWidgets())
        widget->update();
}

void MainWindow::watchFiles() {
    if (!watcher_.files().isEmpty())
        watcher_.removePaths(watcher_.files());
    const SnapshotPtr snapshot = document_.snapshot();
    if (!snapshot)
        return;
    QStringList files{toQString(snapshot->request.graph_file)};
    if (snapshot->source.chosen < snapshot->source.entries.size()) // of a folder the file that counts
        files.append(toQString(snapshot->source.entries[snapshot->source.chosen].file));
    for (const auto* list : {&snapshot->request.cost_files, &snapshot->request.trace_files}) {
        for (const std::string& file : *list)
            files.append(toQString(file));
    }
    files.removeIf([](const QString& file) { return !QFileInfo(file).isFile(); });
    if (!files.isEmpty())
        watcher_.addPaths(files);
}

void MainWindow::fileChanged(const QString& path) {
    banner_->showMessage(Banner::Look::Info, tr("%1 changed on disk.").arg(QFileInfo(path).fileName()),
                         tr("Reload"));
}

void MainWindow::resetLayout() {
    workspace_->resetLayout();
}

void MainWindow::saveLayout() {
    Preferences::setWindow(saveGeometry(), workspace_->saveState());
}

void MainWindow::restoreLayout() {
    const QByteArray geometry = Preferences::geometry();
    if (!geometry.isEmpty())
        restoreGeometry(geometry);
    workspace_->restore(Preferences::dockState());
}

void MainWindow::closeEvent(QCloseEvent* event) {
    saveLayout();
    lister_.cancel();
    document_.cancel();
    QMainWindow::closeEvent(event);
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
    const QList<QUrl> urls = event->mimeData()->urls();
    if (std::any_of(urls.begin(), urls.end(), [](const QUrl& url) { return url.isLocalFile(); }))
        event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
    QStringList files;
    for (const QUrl& url : event->mimeData()->urls())
        if (url.isLocalFile())
            files.append(url.toLocalFile());
    if (files.isEmpty())
        return;
    event->acceptProposedAction();
    openAny(files);
}

void MainWindow::keyPressEvent(QKeyEvent* event) {
    const auto letter = letter_actions_.find(event->key());
    if (letter != letter_actions_.end() && event->modifiers() == Qt::NoModifier) {
        letter->second->trigger();
        return;
    }
    // Escape closes what lies on top, one thing at a time.
    if (event->key() != Qt::Key_Escape)
        return QMainWindow::keyPressEvent(event);
    if (page() == Page::Samples && document_.snapshot()) {
        want_samples_ = false;
        updatePage();
    } else if (!banner_->isHidden()) {
        banner_->hide();
    } else if (picker_->isVisible()) {
        closePicker();
    } else if (busy()) {
        cancelJobs();
    }
}

void MainWindow::resizeEvent(QResizeEvent* event) {
    QMainWindow::resizeEvent(event);
    help_->setGeometry(rect());
    picker_->updateGeometry();
    palette_->hide();
}

} // namespace gs

// Actions and menus of the window. Every action has an object name, so that the palette, the help sheet and
// tests find it.
#include "app/banner.h"
#include "app/command_palette.h"
#include "app/header_bar.h"
#include "app/help_overlay.h"
#include "app/main_window.h"
#include "app/text.h"

#include <QActionGroup>
#include <QApplication>
#include <QClipboard>
#include <QDockWidget>
#include <QFileDialog>
#include <QFileInfo>
#include <QMenu>
#include <QMessageBox>

namespace gs {

QAction* MainWindow::addCommand(QMenu* menu, const QString& id, const QString& text, const QKeySequence& keys,
                                Slot slot) {
    auto* action = new QAction(text, this);
    action->setObjectName(id);
    action->setShortcut(keys);
    connect(action, &QAction::triggered, this, std::move(slot));
    addAction(action);
    menu->addAction(action);
    return action;
}

/// For single letters: the view in focus may want the key for itself, so it is not a shortcut of the window
/// but what is left over (keyPressEvent). The action shows it all the same.
void MainWindow::addLetterCommand(QMenu* menu, const QString& id, const QString& text, Qt::Key key,
                                  Slot slot) {
    QAction* action = addCommand(menu, id, text, key, std::move(slot));
    removeAction(action);
    letter_actions_[key] = action;
}

QAction* MainWindow::action(const QString& id) const {
    return findChild<QAction*>(id);
}

void MainWindow::buildMenus() {
    auto* main = new QMenu(this);
    buildFileMenu(main->addMenu(tr("&File")));
    buildEditMenu(main->addMenu(tr("&Edit")));
    buildViewMenu(main->addMenu(tr("&View")));
    buildGoMenu(main->addMenu(tr("&Go")));
    buildSettingMenu(main->addMenu(tr("&Settings")));
    buildHelpMenu(main->addMenu(tr("&Help")));
    header_->setMainMenu(main);
    auto* open_menu = new QAction(tr("Open the menu"), this);
    open_menu->setObjectName(QStringLiteral("menu"));
    open_menu->setShortcut(Qt::Key_F10);
    addAction(open_menu);
    connect(open_menu, &QAction::triggered, main,
            [this, main] { main->popup(header_->mapToGlobal(QPoint(8, header_->height()))); });
    auto* export_menu = new QMenu(this);
    buildExportMenu(export_menu);
    header_->setExportMenu(export_menu);
    costs_menu_ = new QMenu(this);
    connect(costs_menu_, &QMenu::aboutToShow, this, &MainWindow::fillCostsMenu);
    header_->setCostsMenu(costs_menu_);
}

void MainWindow::buildFileMenu(QMenu* menu) {
    addCommand(menu, QStringLiteral("open"), tr("&Open…"), QKeySequence::Open,
               [this] { chooseFiles(tr("Open a graph"), Choose::Any); });
    addCommand(menu, QStringLiteral("openFolder"), tr("Open a &folder…"), {}, [this] { chooseFolder(); });
    addCommand(menu, QStringLiteral("pickGraph"), tr("Pick &rank and stage…"),
               QKeySequence(QStringLiteral("Ctrl+G")), [this] { showPicker(); });
    addCommand(menu, QStringLiteral("addCosts"), tr("Add &costs…"),
               QKeySequence(QStringLiteral("Ctrl+Shift+O")),
               [this] { chooseFiles(tr("Add a cost file"), Choose::Costs); });
    addCommand(menu, QStringLiteral("layTrace"), tr("Lay a &trace over…"),
               QKeySequence(QStringLiteral("Ctrl+Shift+T")), [this] {
                   chooseFiles(tr("Lay a trace of a run over the simulation; several: its ranks"),
                               Choose::Traces);
               });
    addCommand(menu, QStringLiteral("removeTrace"), tr("Re&move the trace"), {},
               [this] { document_.layTracesOver({}); });
    recent_menu_ = menu->addMenu(tr("Open &recent"));
    connect(recent_menu_, &QMenu::aboutToShow, this, &MainWindow::fillRecentMenu);
    addCommand(menu, QStringLiteral("clearRecent"), tr("Clear the recent files"), {},
               [] { Preferences::clearRecentFiles(); });
    addCommand(menu, QStringLiteral("samples"), tr("&Samples"), {}, [this] { showSamples(); });
    menu->addSeparator();
    addCommand(menu, QStringLiteral("reload"), tr("Re&load"), Qt::Key_F5, [this] { document_.reload(); });
    addCommand(menu, QStringLiteral("cancel"), tr("Stop the running job"), {}, [this] { cancelJobs(); });
    addCommand(menu, QStringLiteral("close"), tr("&Close"), QKeySequence(QStringLiteral("Ctrl+W")),
               [this] { showEmpty(); });
    menu->addSeparator();
    addCommand(menu, QStringLiteral("quit"), tr("&Quit"), QKeySequence(QStringLiteral("Ctrl+Q")),
               [this] { QWidget::close(); });
}

void MainWindow::buildEditMenu(QMenu* menu) {
    QAction* undo = document_.undoStack()->createUndoAction(this, tr("&Undo"));
    undo->setObjectName(QStringLiteral("undo"));
    undo->setShortcut(QKeySequence(QStringLiteral("Ctrl+Z")));
    QAction* redo = document_.undoStack()->createRedoAction(this, tr("&Redo"));
    redo->setObjectName(QStringLiteral("redo"));
    redo->setShortcuts(
        {QKeySequence(QStringLiteral("Ctrl+Y")), QKeySequence(QStringLiteral("Ctrl+Shift+Z"))});
    for (QAction* action : {undo, redo}) {
        addAction(action);
        menu->addAction(action);
    }
    addCommand(menu, QStringLiteral("takeBackEdits"), tr("&Take back all changes by hand"), {},
               [this] { document_.removeEdits({}); });
    menu->addSeparator();
    addCommand(menu, QStringLiteral("copySummary"), tr("&Copy the status line"),
               QKeySequence(QStringLiteral("Ctrl+Shift+C")),
               [this] { QApplication::clipboard()->setText(status_->text()); });
}

void MainWindow::buildViewMenu(QMenu* menu) {
    int number = 1;
    for (QAction* action : workspace_->toggleActions()) {
        action->setObjectName(QStringLiteral("toggle%1").arg(number));
        if (number <= 9)
            action->setShortcut(QKeySequence(QStringLiteral("Ctrl+%1").arg(number)));
        ++number;
        addAction(action);
        menu->addAction(action);
    }
    menu->addSeparator();
    addCommand(menu, QStringLiteral("resetLayout"), tr("&Reset layout"), {}, [this] { resetLayout(); });
    QMenu* themes = menu->addMenu(tr("&Theme"));
    auto* group = new QActionGroup(this);
    const std::pair<ThemeChoice, QString> choices[] = {{ThemeChoice::System, tr("Theme as the desktop")},
                                                       {ThemeChoice::Light, tr("Light theme")},
                                                       {ThemeChoice::Dark, tr("Dark theme")}};
    for (const auto& [choice, text] : choices) {
        QAction* action = addCommand(themes, QStringLiteral("theme-") + themeChoiceName(choice), text, {},
                                     [this, choice = choice] {
                                         Preferences::setThemeChoice(choice);
                                         applyTheme(choice);
                                     });
        action->setCheckable(true);
        action->setChecked(Preferences::themeChoice() == choice);
        group->addAction(action);
    }
    addCommand(menu, QStringLiteral("fullScreen"), tr("&Full screen"), Qt::Key_F11,
               [this] { setWindowState(windowState() ^ Qt::WindowFullScreen); });
}

void MainWindow::buildGoMenu(QMenu* menu) {
    addLetterCommand(menu, QStringLiteral("nextGather"), tr("&Next gather"), Qt::Key_J,
                     [this] { stepGather(1); });
    addLetterCommand(menu, QStringLiteral("previousGather"), tr("&Previous gather"), Qt::Key_K,
                     [this] { stepGather(-1); });
    addLetterCommand(menu, QStringLiteral("filter"), tr("&Filter the gathers"), Qt::Key_Slash,
                     [this] { focusFilter(); });
    addCommand(menu, QStringLiteral("commands"), tr("&Commands…"), QKeySequence(QStringLiteral("Ctrl+K")),
               [this] { palette_->open(); });
    menu->addSeparator();
    for (const auto* dock : workspace_->findChildren<QDockWidget*>(QString(), Qt::FindDirectChildrenOnly))
        addCommand(menu, QStringLiteral("show-") + dock->objectName(),
                   tr("Go to %1").arg(dock->windowTitle()), {},
                   [this, id = dock->objectName()] { workspace_->show(id); });
}

void MainWindow::buildSettingMenu(QMenu* menu) {
    const std::pair<const char*, QString> popups[] = {{"scheduler", tr("Change the &scheduler…")},
                                                      {"contention", tr("Change the &contention…")},
                                                      {"slack", tr("Change the s&lack…")},
                                                      {"bucket", tr("Change the &buckets…")}};
    for (const auto& [id, text] : popups)
        addCommand(menu, QStringLiteral("set-") + QLatin1String(id), text, {},
                   [this, id = QString::fromLatin1(id)] { header_->openPopup(id); });
    menu->addSeparator();
    addCommand(menu, QStringLiteral("profile"), tr("Re-&profile…"), QKeySequence(QStringLiteral("Ctrl+R")),
               [this] { showProfile(); });
    addCommand(menu, QStringLiteral("run-all"), tr("&Run all schedulers"), {}, [this] {
        workspace_->show(QStringLiteral("compare"));
        document_.compare().command({CompareCommand::Kind::RunAll, 0, {}});
    });
}

void MainWindow::buildHelpMenu(QMenu* menu) {
    addCommand(menu, QStringLiteral("shortcuts"), tr("&Keyboard shortcuts"), QKeySequence::HelpContents,
               [this] { help_->open(); });
    addCommand(menu, QStringLiteral("about"), tr("&About Gatherscope"), {}, [this] { showAbout(); });
}

void MainWindow::fillRecentMenu() {
    recent_menu_->clear();
    for (const RecentFile& file : Preferences::recentFiles()) {
        QString name = fileTitle(file.graph);
        if (file.pick.rank >= 0)
            name += tr(" · rank %1").arg(file.pick.rank);
        if (!file.pick.stage.isEmpty())
            name += QStringLiteral(" · ") + file.pick.stage;
        QStringList with;
        if (!file.costs.isEmpty())
            with << tr("%n cost file(s)", nullptr, static_cast<int>(file.costs.size()));
        if (!file.traces.isEmpty())
            with << (file.traces.size() == 1 ? tr("a trace") : tr("%1 traces").arg(file.traces.size()));
        if (!file.ranks.isEmpty())
            with << tr("other ranks");
        QAction* action = recent_menu_->addAction(
            with.isEmpty() ? name : tr("%1 with %2").arg(name, with.join(QStringLiteral(", "))));
        action->setToolTip(file.graph);
        connect(action, &QAction::triggered, this, [this, file] { openRecent(file); });
    }
    if (recent_menu_->isEmpty())
        recent_menu_->addAction(tr("No recent files"))->setEnabled(false);
    else
        recent_menu_->addAction(action(QStringLiteral("clearRecent")));
}

void MainWindow::fillCostsMenu() {
    costs_menu_->clear();
    costs_menu_->addAction(action(QStringLiteral("addCosts")));
    costs_menu_->addAction(action(QStringLiteral("profile")));
    for (const std::string& file : document_.request().cost_files) {
        const QString path = toQString(file);
        QAction* remove = costs_menu_->addAction(tr("Remove %1").arg(QFileInfo(path).fileName()));
        connect(remove, &QAction::triggered, this, [this, path] { document_.removeCostFile(path); });
    }
    if (QAction* show = action(QStringLiteral("show-costs"))) {
        costs_menu_->addSeparator();
        costs_menu_->addAction(show);
    }
}

void MainWindow::updateActions() {
    const bool open = document_.snapshot() != nullptr;
    const bool opening = document_.opening() != nullptr;
    action(QStringLiteral("addCosts"))->setEnabled(open && !opening);
    action(QStringLiteral("layTrace"))->setEnabled(open && !opening);
    action(QStringLiteral("removeTrace"))
        ->setEnabled(open && !opening && !document_.request().trace_files.empty());
    action(QStringLiteral("profile"))->setEnabled(open && !opening);
    action(QStringLiteral("reload"))->setEnabled(open || document_.failedOpening());
    action(QStringLiteral("cancel"))->setEnabled(busy());
    action(QStringLiteral("pickGraph"))
        ->setEnabled(open && !opening && document_.snapshot()->source.entries.size() > 1);
    for (const char* id : {"close", "copySummary", "nextGather", "previousGather", "filter"})
        action(QString::fromLatin1(id))->setEnabled(open);
    for (QAction* each : actions())
        if (each->objectName().startsWith(QLatin1String("export")))
            each->setEnabled(open);
    for (const char* id : {"set-scheduler", "set-contention", "set-slack", "set-bucket"})
        action(QString::fromLatin1(id))->setEnabled(open && !opening);
}

void MainWindow::chooseFiles(const QString& title, Choose what) {
    auto* dialog = new QFileDialog(this, title, Preferences::lastFolder());
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFiles);
    connect(dialog, &QFileDialog::filesSelected, this, [this, what](const QStringList& files) {
        if (files.isEmpty())
            return;
        Preferences::setLastFolder(QFileInfo(files.front()).absolutePath());
        if (what == Choose::Costs)
            openFiles({}, files);
        else if (what == Choose::Traces)
            document_.layTracesOver(files);
        else
            openAny(files);
    });
    dialog->show();
}

void MainWindow::chooseFolder() {
    auto* dialog = new QFileDialog(this, tr("Open a folder of logs"), Preferences::lastFolder());
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::Directory);
    dialog->setOption(QFileDialog::ShowDirsOnly);
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& folder) {
        Preferences::setLastFolder(QFileInfo(folder).absolutePath());
        openFiles({folder}, {});
    });
    dialog->show();
}

void MainWindow::showAbout() {
    auto* box = new QMessageBox(
        QMessageBox::NoIcon, tr("About Gatherscope"),
        tr("<b>Gatherscope %1</b><p>Shows, explains and improves how the weight all-gathers of "
           "sharded training overlap with compute.</p>")
            .arg(QApplication::applicationVersion()),
        QMessageBox::Close, this);
    box->setIconPixmap(windowIcon().pixmap(64));
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->setWindowModality(Qt::NonModal);
    box->show();
}

} // namespace gs

// The window: header, panels, status line, and the pages that stand in for the panels.
#pragma once

#include "app/document.h"
#include "app/graph_lister.h"
#include "app/preferences.h"
#include "app/status_line.h"
#include "app/workspace.h"
#include "views/shell/samples.h"

#include <QFileSystemWatcher>
#include <QMainWindow>
#include <QTimer>

#include <functional>
#include <map>

class QMenu;
class QStackedWidget;

namespace gs {

class Banner;
class CommandPalette;
class ExportDialog;
class GraphPicker;
class HeaderBar;
class HelpOverlay;
class LoadingPanel;
class MessagePage;
class ProfileDialog;
class ProfileJob;
class SamplesPage;

class MainWindow : public QMainWindow {
    Q_OBJECT
public:
    enum class Page : uint8_t { Panels, Samples, Loading, Message };

    explicit MainWindow(AnalyseFunction analyse, std::span<const ViewInfo> views = viewRegistry());
    ~MainWindow() override;

    Document& document() { return document_; }
    Workspace& workspace() { return *workspace_; }
    HeaderBar& header() { return *header_; }
    StatusLine& statusLine() { return *status_; }
    CommandPalette& palette() { return *palette_; }
    HelpOverlay& help() { return *help_; }
    Banner& banner() { return *banner_; }
    MessagePage& messagePage() { return *message_; }
    LoadingPanel& loadingPage() { return *loading_page_; }
    GraphPicker& picker() { return *picker_; }
    Page page() const;
    /// A file is looked into, opened, or analysed anew.
    bool busy() const;

    /// Looks into inputs that may hold several graphs first, unless the request says which one: then the
    /// likeliest is opened and the list of the others lies above it.
    void open(AnalysisRequest request);
    /// Opens the first graph with the costs and the settings in use, or adds the costs to what is open if
    /// there is no graph.
    void openFiles(const QStringList& graphs, const QStringList& costs);
    /// As openFiles(), after looking at what each file is. Used for drops and the command line.
    void openAny(const QStringList& files);
    void openRecent(const RecentFile& file);
    void openSample(const Sample& sample);
    void showSamples();
    void showEmpty();
    /// Opens the dialog that measures costs; null if nothing is open.
    ProfileDialog* showProfile();
    /// Opens the Export dialog, with one item chosen (ExportItem::id) or the last one; null if nothing is
    /// open.
    ExportDialog* showExport(const QString& item);
    /// Opens the list of the graphs beside the open one, or closes it.
    void showPicker();
    /// The error page or the progress, as they look without a running job; for pictures.
    void showMessagePage();
    void showLoading(const QString& title, const QString& stage, double fraction);
    void applyTheme(ThemeChoice choice);
    /// What the Re-profile dialog works with; for tests. Empty = the real thing.
    using ProfileJobFactory = std::function<std::unique_ptr<ProfileJob>(const SnapshotPtr&)>;
    void setProfileJobFactory(ProfileJobFactory factory) { make_profile_job_ = std::move(factory); }

    void resetLayout();
    void saveLayout();
    void restoreLayout();

    /// The action with this object name; null if there is none.
    QAction* action(const QString& id) const;

protected:
    void closeEvent(QCloseEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    using Slot = std::function<void()>;
    void buildPages();
    void connectDocument();
    void snapshotArrived(const SnapshotPtr& snapshot);
    void showBusy();
    void cancelJobs();
    void failed(const Error& error);
    void updatePage();
    void watchFiles();
    void fileChanged(const QString& path);

    // main_window_actions.cpp
    void buildMenus();
    QAction* addCommand(QMenu* menu, const QString& id, const QString& text, const QKeySequence& keys,
                        Slot slot);
    void addLetterCommand(QMenu* menu, const QString& id, const QString& text, Qt::Key key, Slot slot);
    void buildFileMenu(QMenu* menu);
    void buildEditMenu(QMenu* menu);
    void buildViewMenu(QMenu* menu);
    void buildGoMenu(QMenu* menu);
    void buildSettingMenu(QMenu* menu);
    void buildHelpMenu(QMenu* menu);
    void fillRecentMenu();
    void fillCostsMenu();
    void updateActions();
    void chooseFiles(const QString& title, bool costs);
    void chooseFolder();
    void showAbout();

    // main_window_picker.cpp
    void connectPicker();
    void listed(const GraphListingPtr& listing);
    void listingFailed(const Error& error);
    void revealPicker();
    void closePicker();
    void forgetListing();
    int shownGraph(const GraphListing& listing) const;
    bool isListed(const AnalysisRequest* request) const;
    void pick(int graph);
    void compareRanks(bool on);

    // main_window_export.cpp
    void buildExportMenu(QMenu* menu);

    // main_window_links.cpp
    void showEdits();
    void statusClicked(StatusLine::Part part);
    void stepGather(int by);
    void focusFilter();

    Document document_;
    GraphLister lister_;
    std::optional<AnalysisRequest> to_open_; ///< once its graphs are listed
    AnalysisRequest listed_for_;             ///< what the list was made for: costs and settings of a pick
    HeaderBar* header_ = nullptr;
    LoadingPanel* loading_strip_ = nullptr;
    Banner* banner_ = nullptr;
    GraphPicker* picker_ = nullptr;
    QStackedWidget* stack_ = nullptr;
    Workspace* workspace_ = nullptr;
    SamplesPage* samples_ = nullptr;
    LoadingPanel* loading_page_ = nullptr;
    MessagePage* message_ = nullptr;
    StatusLine* status_ = nullptr;
    CommandPalette* palette_ = nullptr;
    HelpOverlay* help_ = nullptr;
    QMenu* recent_menu_ = nullptr;
    QMenu* costs_menu_ = nullptr;
    std::map<int, QAction*> letter_actions_; ///< by key
    ProfileJobFactory make_profile_job_;
    QTimer strip_delay_; ///< short jobs show no strip
    QFileSystemWatcher watcher_;
    bool want_samples_ = true;
    QString busy_title_; ///< what the progress says; empty while nothing runs
    RecentFile shown_;   ///< files of the snapshot
};

} // namespace gs

#include "app/workspace.h"

#include "app/panel_dock.h"

#include <QAction>
#include <QMouseEvent>
#include <QTabBar>
#include <QTimer>

namespace gs {

namespace {

/// Column widths and row heights of the default layout, as shares of the window.
constexpr double kLeftShare = 0.43;
constexpr double kMiddleShare = 0.285;
constexpr double kTopShare = 0.50;

} // namespace

Workspace::Workspace(std::span<const ViewInfo> views, QWidget* parent) : QMainWindow(parent) {
    setWindowFlags(Qt::Widget);
    setDockNestingEnabled(true);
    setDockOptions(AllowNestedDocks | AllowTabbedDocks);
    setTabPosition(Qt::AllDockWidgetAreas, QTabWidget::North);
    setObjectName(QStringLiteral("workspace"));
    for (const ViewInfo& info : views)
        addView(info);
    placeDocks();
}

void Workspace::addView(const ViewInfo& info) {
    View* view = info.create(nullptr);
    const QString id = QString::fromLatin1(info.id);
    if (view->objectName().isEmpty())
        view->setObjectName(id + QStringLiteral("View"));
    if (view->accessibleName().isEmpty())
        view->setAccessibleName(viewTitle(info));
    connect(view, &View::selectionRequested, this, &Workspace::selectionRequested);
    connect(view, &View::settingRequested, this, &Workspace::settingRequested);
    connect(view, &View::costEditRequested, this, &Workspace::costEditRequested);
    connect(view, &View::compareRequested, this, &Workspace::compareRequested);
    connect(view, &View::editRequested, this, &Workspace::editRequested);
    connect(view, &View::editRemovalRequested, this, &Workspace::editRemovalRequested);
    connect(view, &View::requestRequested, this, &Workspace::requestRequested);
    connect(view, &View::rankFilesRequested, this, &Workspace::rankFilesRequested);
    auto* dock = new PanelDock(id, viewTitle(info), view, this);
    // Deferred: among the docks' own changes of place the tabs are not settled yet.
    const auto later = [this] { QTimer::singleShot(0, this, &Workspace::updateTabs); };
    connect(dock, &QDockWidget::dockLocationChanged, this, later);
    connect(dock, &QDockWidget::topLevelChanged, this, later);
    connect(dock, &QDockWidget::visibilityChanged, this, later);
    views_.push_back(view);
    docks_.push_back(dock);
    places_.push_back(info.place);
}

/// The default arrangement: everything in one dock area, split by hand, so that the bottom row spans it.
void Workspace::placeDocks() {
    PanelDock* first[4] = {};
    const auto at = [&](DockPlace place) -> PanelDock*& { return first[static_cast<size_t>(place)]; };
    for (size_t i = 0; i < docks_.size(); ++i) {
        addDockWidget(Qt::LeftDockWidgetArea, docks_[i]);
        if (!at(places_[i]))
            at(places_[i]) = docks_[i];
    }
    PanelDock* left = nullptr;
    for (const DockPlace place : {DockPlace::Left, DockPlace::Middle, DockPlace::Right})
        if (!left)
            left = at(place);
    if (PanelDock* bottom = at(DockPlace::Bottom); bottom && left)
        splitDockWidget(left, bottom, Qt::Vertical);
    PanelDock* previous = left;
    for (const DockPlace place : {DockPlace::Middle, DockPlace::Right}) {
        if (PanelDock* dock = at(place); dock && dock != previous) {
            splitDockWidget(previous, dock, Qt::Horizontal);
            previous = dock;
        }
    }
    for (size_t i = 0; i < docks_.size(); ++i)
        if (PanelDock* host = at(places_[i]); host != docks_[i])
            tabifyDockWidget(host, docks_[i]);
    for (PanelDock* dock : docks_)
        dock->show();
    for (PanelDock* dock : first)
        if (dock)
            dock->raise();
    updateTabs();
}

void Workspace::resetLayout() {
    // Unfloated while the layout still knows them: a removed dock stays a window of its own.
    for (PanelDock* dock : docks_) {
        dock->setFloating(false);
        removeDockWidget(dock);
    }
    placeDocks();
    default_sizes_ = true;
    sizeDocks();
}

void Workspace::sizeDocks() {
    QList<QDockWidget*> columns;
    QList<int> widths;
    QList<QDockWidget*> rows;
    bool seen[4] = {};
    for (size_t i = 0; i < docks_.size(); ++i) {
        const DockPlace place = places_[i];
        if (std::exchange(seen[static_cast<size_t>(place)], true))
            continue;
        if (place == DockPlace::Bottom || rows.isEmpty())
            rows.append(docks_[i]);
        if (place == DockPlace::Bottom)
            continue;
        columns.append(docks_[i]);
        const double share = place == DockPlace::Left     ? kLeftShare
                             : place == DockPlace::Middle ? kMiddleShare
                                                          : 1 - kLeftShare - kMiddleShare;
        widths.append(static_cast<int>(width() * share));
    }
    resizeDocks(columns, widths, Qt::Horizontal);
    if (rows.size() == 2)
        resizeDocks(rows,
                    {static_cast<int>(height() * kTopShare), static_cast<int>(height() * (1 - kTopShare))},
                    Qt::Vertical);
}

void Workspace::showEvent(QShowEvent* event) {
    QMainWindow::showEvent(event);
    if (default_sizes_)
        sizeDocks();
    updateTabs();
}

/// A press that no child takes is one on a splitter: from then on the sizes are the user's.
void Workspace::mousePressEvent(QMouseEvent* event) {
    if (!childAt(event->pos()))
        default_sizes_ = false;
    QMainWindow::mousePressEvent(event);
}

void Workspace::resizeEvent(QResizeEvent* event) {
    QMainWindow::resizeEvent(event);
    if (default_sizes_)
        sizeDocks();
}

bool Workspace::restore(const QByteArray& state) {
    if (state.isEmpty() || !restoreState(state))
        return false;
    default_sizes_ = false;
    updateTabs();
    return true;
}

void Workspace::updateTabs() {
    for (PanelDock* dock : docks_) {
        const auto others = tabifiedDockWidgets(dock);
        dock->setTabbed(std::any_of(others.begin(), others.end(), [](const QDockWidget* other) {
            return !other->isFloating() && !other->isHidden();
        }));
    }
    for (QTabBar* bar : findChildren<QTabBar*>(QString(), Qt::FindDirectChildrenOnly)) {
        bar->setDrawBase(false);
        bar->setExpanding(false);
        bar->setElideMode(Qt::ElideRight);
        bar->setFocusPolicy(Qt::TabFocus);
    }
}

void Workspace::setSnapshot(const SnapshotPtr& snapshot) {
    for (View* view : views_)
        view->setSnapshot(snapshot);
}

void Workspace::setSelection(const Selection& selection) {
    for (View* view : views_)
        view->setSelection(selection);
}

void Workspace::setCompare(const CompareStatePtr& state) {
    for (View* view : views_)
        view->setCompare(state);
}

View* Workspace::view(const QString& id) const {
    for (size_t i = 0; i < docks_.size(); ++i)
        if (docks_[i]->objectName() == id)
            return views_[i];
    return nullptr;
}

bool Workspace::show(const QString& id) {
    for (size_t i = 0; i < docks_.size(); ++i) {
        if (docks_[i]->objectName() != id)
            continue;
        docks_[i]->show();
        docks_[i]->raise();
        views_[i]->setFocus(Qt::OtherFocusReason);
        return true;
    }
    return false;
}

QList<QAction*> Workspace::toggleActions() const {
    QList<QAction*> actions;
    for (const PanelDock* dock : docks_)
        actions.append(dock->toggleViewAction());
    return actions;
}

} // namespace gs

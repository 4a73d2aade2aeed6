// The docks around the views. Every view gets the same snapshot and selection here.
#pragma once

#include "views/registry.h"

#include <QMainWindow>

#include <vector>

namespace gs {

class PanelDock;

class Workspace : public QMainWindow {
    Q_OBJECT
public:
    explicit Workspace(std::span<const ViewInfo> views, QWidget* parent = nullptr);

    void setSnapshot(const SnapshotPtr& snapshot);
    void setSelection(const Selection& selection);
    void setCompare(const CompareStatePtr& state);

    const std::vector<View*>& views() const { return views_; }
    /// Null if there is no such view.
    View* view(const QString& id) const;
    /// Opens, raises and focuses the dock of a view; false if there is none.
    bool show(const QString& id);
    /// Show/hide action per dock, in the registry's order.
    QList<QAction*> toggleActions() const;

    void resetLayout();
    /// A layout from saveState(); false and unchanged if it does not fit.
    bool restore(const QByteArray& state);

signals:
    void selectionRequested(const gs::Selection& selection);
    void settingRequested(const QString& name, const QString& value);
    void costEditRequested(const QString& key, qint64 ns);
    void compareRequested(const gs::CompareCommand& command);
    void editRequested(const gs::Edit& edit);
    void editRemovalRequested(const QString& node);
    void requestRequested(const gs::AnalysisRequest& request, const QString& text);
    void rankFilesRequested(const QStringList& paths);

protected:
    void showEvent(QShowEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void addView(const ViewInfo& info);
    void placeDocks();
    void sizeDocks();
    void updateTabs();

    std::vector<View*> views_;
    std::vector<PanelDock*> docks_;
    std::vector<DockPlace> places_;
    bool default_sizes_ = true; ///< no layout was restored and no splitter moved
};

} // namespace gs

// What every view is: a widget that shows one immutable snapshot and one selection.
#pragma once

#include "analysis/analysis.h"
#include "views/compare_state.h"

#include <QString>
#include <QWidget>

namespace gs {

using SnapshotPtr = AnalysisPtr;

/// The one selection of all views, by stable names.
struct Selection {
    enum class Kind : uint8_t { None, Node, Gather };
    Kind kind = Kind::None;
    QString name; ///< node name; of a gather its launch

    bool operator==(const Selection&) const = default;
};

/// A view holds the snapshot pointer (so that what it paints stays alive) and never changes it. All views get
/// the same pointer; no view computes anything that the core could.
class View : public QWidget {
    Q_OBJECT
public:
    using QWidget::QWidget;

    SnapshotPtr snapshot() const { return snapshot_; }
    const Selection& selection() const { return selection_; }

    void setSnapshot(SnapshotPtr snapshot) {
        snapshot_ = std::move(snapshot);
        snapshotChanged();
    }
    void setSelection(const Selection& selection) {
        if (selection == selection_)
            return;
        selection_ = selection;
        selectionChanged();
    }

    /// All variants tried on the open graph. Only the comparison shows them.
    virtual void setCompare(const CompareStatePtr& state) { static_cast<void>(state); }

    /// Work for what is to be shown still runs in the background; pictures of the view wait for it.
    virtual bool busy() const { return false; }

signals:
    /// The user chose something; the document answers with setSelection() on every view.
    void selectionRequested(const gs::Selection& selection);
    /// The user asked for another value of a setting (by its name in the settings table).
    void settingRequested(const QString& name, const QString& value);
    /// The user edited a cost: StructuralKey and ns; ns < 0 removes the edit.
    void costEditRequested(const QString& key, qint64 ns);
    /// The user asked for something of the comparison.
    void compareRequested(const gs::CompareCommand& command);
    /// The user moved, pinned, forbade or bucketed something by hand.
    void editRequested(const gs::Edit& edit);
    /// The user took back what was done by hand to a node; an empty name: everything.
    void editRemovalRequested(const QString& node);
    /// The user wants to compare with the files of other ranks; an empty list: with none any more.
    void rankFilesRequested(const QStringList& paths);
    /// The user chose another request as a whole (a counterfactual, a row of Compare). `text` names the undo
    /// step.
    void requestRequested(const gs::AnalysisRequest& request, const QString& text);

protected:
    /// snapshot() is new; may be null (nothing open).
    virtual void snapshotChanged() = 0;
    /// selection() is new.
    virtual void selectionChanged() = 0;

private:
    SnapshotPtr snapshot_;
    Selection selection_;
};

} // namespace gs

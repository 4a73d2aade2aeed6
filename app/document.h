// What is open: the request, the one snapshot made from it, and the selection. Lives on the GUI thread; all
// analysis happens in the job runner.
#pragma once

#include "app/compare_jobs.h"
#include "app/job_runner.h"
#include "views/view.h"

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>
#include <QUndoStack>

#include <optional>

namespace gs {

class Document : public QObject {
    Q_OBJECT
public:
    explicit Document(AnalyseFunction analyse, QObject* parent = nullptr);

    /// Null while nothing is open.
    SnapshotPtr snapshot() const { return snapshot_; }
    /// What the user wants to see; the snapshot follows it.
    const AnalysisRequest& request() const { return request_; }
    const Selection& selection() const { return selection_; }
    QUndoStack* undoStack() { return &undo_; }
    /// Everything tried on the open graph, and its jobs.
    CompareJobs& compare() { return compare_; }
    /// The request of a graph that is being opened; null when none is.
    const AnalysisRequest* opening() const { return opening_ ? &*opening_ : nullptr; }
    /// The request whose opening failed last, until another one is opened; null when none did.
    const AnalysisRequest* failedOpening() const { return failed_opening_ ? &*failed_opening_ : nullptr; }
    bool busy() const { return runner_.busy(); }

    /// Settings for the graphs to come; those of what is open stay.
    void setInitialSettings(const Settings& settings);
    /// Opens a graph. What is open stays until the new graph is there, and for good if it fails.
    void open(AnalysisRequest request);
    /// Reads the files again: of what is open, or of the opening that failed last.
    void reload();
    void close();
    /// Stops opening, or the analysis of a change; the request goes back to what is shown.
    void cancel();

    /// Undoable changes of the request. Ignored while a graph is being opened.
    void setSetting(const QString& name, const QString& value);
    void editCost(const QString& key, qint64 ns); ///< ns < 0 removes the edit
    void addCostFile(const QString& path);
    void removeCostFile(const QString& path);
    void addRankFiles(const QStringList& paths);  ///< of other ranks, to compare with; an empty list: none
    void layTracesOver(const QStringList& paths); ///< of ranks of one run; an empty list: none
    void addEdit(const Edit& edit); ///< moves of one node that follow each other closely are one undo step
    void removeEdits(const QString& node); ///< what was done by hand to a node; an empty name: everything
    /// Another request as a whole; `text` names the undo step.
    void setRequest(const AnalysisRequest& request, const QString& text);

    /// Asked for by a view or an action. Names that the snapshot lacks select nothing, but come back as soon
    /// as a snapshot has them again.
    void select(const Selection& selection);

    /// For the undo commands only: replaces the request and analyses.
    void applyRequest(const AnalysisRequest& request);

signals:
    /// The one signal for results: every view gets this pointer.
    void snapshotChanged(const gs::SnapshotPtr& snapshot);
    void selectionChanged(const gs::Selection& selection);
    void busyChanged(bool busy);
    void progressed(const QString& stage, double fraction);
    /// Opening or a change failed; the old snapshot is still shown.
    void failed(const gs::Error& error);

private:
    void schedule();
    void startNow();
    void take(const AnalysisPtr& analysis);
    void fail(const Error& error);
    void rollBack();
    void announce();
    void push(const QString& text, AnalysisRequest after, const std::string& merge_key);
    void updateSelection();

    JobRunner runner_;
    CompareJobs compare_;
    QUndoStack undo_;
    QTimer timer_;
    QElapsedTimer since_start_;
    AnalysisRequest request_;
    std::optional<AnalysisRequest> opening_;
    std::optional<AnalysisRequest> failed_opening_;
    SnapshotPtr snapshot_;
    Selection wanted_; ///< last chosen by the user; selection_ is what of it this snapshot has
    Selection selection_;
    bool announced_ = false; ///< what busyChanged() said last
    bool again_ = false;     ///< the request changed while a job ran
    int shown_index_ = 0;    ///< of the undo stack, for the snapshot
    int started_index_ = 0;  ///< of the undo stack, for the running job
};

/// What a selection is called in a snapshot: itself, the bucket that took its gather in, or nothing.
Selection resolveSelection(const Selection& wanted, const Analysis* analysis);

} // namespace gs

// "What would hide it" of the Why card: single changes that were seen to work, each with a button that tries
// it. They are looked for in the background.
#pragma once

#include "explain/counterfactuals.h"
#include "views/view.h"

#include <QFutureWatcher>
#include <QWidget>

#include <stop_token>

class QGridLayout;
class QLabel;
class QPushButton;

namespace gs {

class CounterfactualList : public QWidget {
    Q_OBJECT
public:
    explicit CounterfactualList(QWidget* parent = nullptr);
    /// Stops the search and waits for it.
    ~CounterfactualList() override;

    /// Starts the search for a gather; a null snapshot or kNoNode stops it. The list hides itself while the
    /// gather is not exposed.
    void setGather(const SnapshotPtr& snapshot, NodeId launch);
    bool busy() const { return busy_; }
    const std::vector<Counterfactual>& items() const { return items_; }

signals:
    void tryRequested(const gs::AnalysisRequest& request, const QString& text);
    void settled();

private:
    using Found = std::vector<Counterfactual>;
    struct Row {
        QLabel* text;
        QLabel* effect;
        QPushButton* button;
    };
    void start();
    void finished();
    void showItems();
    void addRow();
    QString effectText(const Counterfactual& item) const;

    QGridLayout* grid_;
    QLabel* note_;
    std::vector<Row> rows_;
    Found items_;
    SnapshotPtr snapshot_;
    NodeId launch_ = kNoNode;
    QFutureWatcher<Found> watcher_;
    std::stop_source stop_;
    bool busy_ = false;
    bool stale_ = false; ///< another gather was asked for while a search ran
};

} // namespace gs

// The head of the comparison: run all schedulers, search within limits, progress with cancel, and what came
// of it.
#pragma once

#include "views/compare_state.h"

#include <QWidget>

class QLabel;
class QProgressBar;
class QPushButton;
class QSpinBox;

namespace gs {

class FilterField;

class CompareBar : public QWidget {
    Q_OBJECT
public:
    /// `view` gets the filter's shortcut.
    explicit CompareBar(QWidget* view);

    /// `best` in words, for the result of a search; empty without one.
    void setState(const CompareState& state, const QString& best);
    /// Nothing can be run while no graph is open.
    void setOpen(bool open);

    FilterField* filterField() const { return field_; }
    QPushButton* runAllButton() const { return run_all_; }
    QPushButton* searchButton() const { return search_; }
    QPushButton* startButton() const { return start_; }
    QPushButton* cancelButton() const { return cancel_; }
    QPushButton* useButton() const { return use_; }
    QSpinBox* memoryLimit() const { return memory_; }
    QSpinBox* timeLimit() const { return time_; }
    /// The line about the job or its result, as shown.
    QString message() const;
    /// Opens the line with the limits and puts the keyboard there; closes it if it is open.
    void toggleSearch(bool open);

signals:
    void runAllClicked();
    void searchClicked(const gs::SearchLimits& limits);
    void cancelClicked();
    void useClicked();

private:
    QWidget* makeButtons(QWidget* view);
    QWidget* makeLimits();
    QWidget* makeProgress();
    QWidget* makeResult();
    void startSearch();
    void setMessage(const QString& text, bool failed);

    QPushButton* run_all_ = nullptr;
    QPushButton* search_ = nullptr;
    FilterField* field_ = nullptr;
    QWidget* limits_ = nullptr;
    QSpinBox* memory_ = nullptr;
    QSpinBox* time_ = nullptr;
    QPushButton* start_ = nullptr;
    QWidget* progress_ = nullptr;
    QLabel* stage_ = nullptr;
    QProgressBar* bar_ = nullptr;
    QPushButton* cancel_ = nullptr;
    QWidget* result_ = nullptr;
    QLabel* mark_ = nullptr;
    QLabel* text_ = nullptr;
    QPushButton* use_ = nullptr;
};

} // namespace gs

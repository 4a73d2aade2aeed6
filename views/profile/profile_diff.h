// What measured costs would change, before anybody takes them over: the schedule, the contention, each key.
#pragma once

#include "cost/profile_compare.h"
#include "views/profile/cost_changes_table.h"

#include <QWidget>

class QCheckBox;
class QGridLayout;
class QLabel;

namespace gs {

class ProfileDiff : public QWidget {
    Q_OBJECT
public:
    explicit ProfileDiff(QWidget* parent = nullptr);

    /// `before` has the costs in use, `after` those of the profile. Neither may be null.
    void setDiff(const Profile& profile, const AnalysisPtr& before, const AnalysisPtr& after);
    /// Contention of the measurement in place of the two settings.
    bool usesContention() const;
    /// While the schedule is made anew.
    void setWorking(bool working);

    CostChangesTable* changes() const { return changes_; }
    QCheckBox* contentionBox() const { return contention_; }
    /// Everything that the summary says, a line per figure; for tests.
    QString summaryText() const;

signals:
    void contentionToggled(bool on);

private:
    void fillSummary(const Analysis& before, const Analysis& after);
    void fillContention(const Profile& profile, const Analysis& before);
    void addFigure(int row, const QString& name, const QString& old_text, const QString& new_text,
                   const QString& change, int better);

    CostChangesTable* changes_;
    QGridLayout* grid_;
    QLabel* facts_;
    QLabel* factor_;
    QLabel* mode_;
    QCheckBox* contention_;
};

} // namespace gs

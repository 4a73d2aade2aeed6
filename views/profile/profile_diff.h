// What measured costs would change, before anybody takes them over: the schedule, the contention, each key.
#pragma once

#include "cost/profile_compare.h"
#include "views/profile/cost_changes_model.h"

#include <QWidget>

class QCheckBox;
class QGridLayout;
class QLabel;

namespace gs {

class Chip;
class DataTable;
class FilterField;

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

    CostChangesModel* model() const { return model_; }
    DataTable* table() const { return table_; }
    QCheckBox* contentionBox() const { return contention_; }
    Chip* slowerChip() const { return slower_; }
    Chip* unmeasuredChip() const { return unmeasured_; }
    FilterField* filterField() const { return field_; }
    /// Everything that the summary says, a line per figure; for tests.
    QString summaryText() const;

signals:
    void contentionToggled(bool on);

private:
    QWidget* makeBar();
    void fillSummary(const Analysis& before, const Analysis& after);
    void fillContention(const Profile& profile, const Analysis& before);
    void addFigure(int row, const QString& name, const QString& old_text, const QString& new_text,
                   const QString& change, int better);

    CostChangesModel* model_;
    CostChangesFilter* filter_;
    DataTable* table_;
    QGridLayout* grid_;
    QLabel* facts_;
    QLabel* factor_;
    QLabel* mode_;
    QCheckBox* contention_;
    Chip* slower_;
    Chip* faster_;
    Chip* unmeasured_;
    FilterField* field_;
};

} // namespace gs

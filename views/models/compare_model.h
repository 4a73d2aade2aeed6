// One row per variant tried on the open graph.
#pragma once

#include "views/compare_state.h"
#include "views/models/table_roles.h"

#include <QAbstractTableModel>
#include <QSortFilterProxyModel>

namespace gs {

/// Roles of this table beyond TableRole.
enum CompareRole : int {
    CurrentRole = FirstOwnRole, ///< bool: the window shows it
    BestRole,                   ///< bool: the best within the limit of the last search
    PinRole,                    ///< bool: the baseline, A or B, by the column
    BoundShareRole,             ///< double: lower bound / longest step of all rows
    StepShareRole,              ///< double: step / longest step
    DetailRole                  ///< QString: what follows the scheduler's name
};

class CompareModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column {
        State,
        Base,
        PinA,
        PinB,
        Variant,
        Hidden,
        Exposed,
        ExposedSum,
        Step,
        Change,
        Gap,
        Peak,
        Displaced,
        Moved,
        Missing,
        Problems,
        Run,
        ColumnCount
    };

    using QAbstractTableModel::QAbstractTableModel;

    /// Null clears the table. Rows that are still there stay; new ones come at the end.
    void setState(const CompareStatePtr& state);
    const CompareEntry& entry(int row) const { return *state_->entries[static_cast<size_t>(row)]; }
    /// Row of an entry; -1 if it is not there.
    int rowOf(uint64_t id) const;
    uint64_t best() const { return best_; }
    /// The variant in words: scheduler, then what differs from the baseline.
    QString label(const CompareEntry& entry) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    void measure();
    QString time(int64_t ns) const;
    QString display(const CompareEntry& entry, int column) const;
    QVariant sortValue(const CompareEntry& entry, int column) const;
    QString detail(const CompareEntry& entry) const;
    QString tip(const CompareEntry& entry, int column) const;
    bool pinned(const CompareEntry& entry, int column) const;

    CompareStatePtr state_;
    uint64_t best_ = 0;
    int64_t longest_ns_ = 0; ///< step; the column's unit and the bars follow it
    int64_t highest_bytes_ = 0;
};

/// Sorts by SortRole and filters by words in the variant's text.
class CompareFilter : public QSortFilterProxyModel {
    Q_OBJECT
public:
    explicit CompareFilter(CompareModel* model);
    void setText(const QString& text);

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

private:
    CompareModel* model_;
    QStringList words_;
};

/// A time in the unit that suits `largest`, for columns of one unit: "1,481.0 ms", "317.1 µs".
QString timeInUnitOf(int64_t ns, int64_t largest_ns);
/// Name of a scheduler for people.
QString schedulerTitle(const std::string& name);

} // namespace gs

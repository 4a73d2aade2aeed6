// One row per gather of the scheduled program, then one per collective in flight when the graph starts.
#pragma once

#include "analysis/analysis.h"
#include "views/models/table_roles.h"

#include <QAbstractTableModel>
#include <QHash>
#include <vector>

namespace gs {

class GathersModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column {
        State,
        Parameter,
        Layer,
        Group,
        Bytes,
        Place,
        Floor,
        Comm,
        Need,
        Window,
        Carry,
        VerdictText,
        ExposedBefore,
        Exposed,
        Reason,
        Name,
        ColumnCount
    };

    /// Numbers are kept as numbers; texts are made when a cell is painted.
    struct Row {
        QString name; ///< the launch; in flight at entry: the graph input
        QString parameter;
        QString full_parameter;
        QString group;
        QString floor_name;
        int layer = -1;
        int64_t bytes = -1; ///< gathered, all ranks together
        uint32_t cur = 0, target = 0, floor = 0;
        double comm_ns = 0, need_ns = 0, window_ns = 0, carry_ns = 0;
        bool comm_missing = false;
        int64_t exposed_before_ns = -1, exposed_ns = -1; ///< -1 = not known
        Verdict verdict = Verdict::NotCandidate;
        BindingReason reason = BindingReason::None;
        bool moved = false;
        bool in_flight = false; ///< at entry: cur → target is the place of its wait

        bool candidate() const { return verdict != Verdict::NotCandidate; }
    };

    using QAbstractTableModel::QAbstractTableModel;

    /// Null clears the table. Where the gathers are the same as before, rows stay and only their data change.
    void setSnapshot(const AnalysisPtr& snapshot);
    const std::vector<Row>& rows() const { return rows_; }
    /// Row of a launch or of an input in flight; -1 if it is none.
    int rowOf(const QString& launch) const { return row_of_.value(launch, -1); }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    std::vector<Row> rows_;
    QHash<QString, int> row_of_;
};

/// "112.0 µs" for a column of microseconds; "–" for nothing.
QString microsCell(double ns);
Mark verdictMark(Verdict verdict);
/// In words: "hidden", "compute-limited", "not a candidate".
QString verdictText(Verdict verdict);
/// In words: "nothing binds", "data dependency", …
QString reasonText(BindingReason reason);

} // namespace gs

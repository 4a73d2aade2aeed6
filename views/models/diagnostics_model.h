// What readers, passes and schedulers reported, as one list: faults first, then what each pass did.
#pragma once

#include "analysis/analysis.h"
#include "views/models/table_roles.h"

#include <QAbstractTableModel>
#include <QSortFilterProxyModel>
#include <array>
#include <vector>

namespace gs {

class DiagnosticsModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Severity, Code, Node, Line, Message, Hint, ColumnCount };

    struct Row {
        gs::Severity severity = gs::Severity::Info;
        QString code;
        QString node;
        uint32_t line = 0; ///< of the input file; 0 = not known
        QString message;
        QString hint;
    };

    using QAbstractTableModel::QAbstractTableModel;

    void setSnapshot(const AnalysisPtr& snapshot);
    const std::vector<Row>& rows() const { return rows_; }
    int count(gs::Severity severity) const { return counts_[static_cast<size_t>(severity)]; }
    /// Faults that were counted but not kept, since there were too many of one kind.
    size_t dropped() const { return dropped_; }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    void add(const Diagnostics& diagnostics);
    void add(const PassReport& report, const Graph* graph);

    std::vector<Row> rows_;
    std::array<int, 3> counts_{};
    size_t dropped_ = 0;
};

class DiagnosticsFilter : public QSortFilterProxyModel {
    Q_OBJECT
public:
    explicit DiagnosticsFilter(DiagnosticsModel* model);
    void setText(const QString& text);
    /// Without any severity switched on, all are shown.
    void setSeverity(gs::Severity severity, bool on);

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

private:
    DiagnosticsModel* model_;
    QStringList words_;
    std::array<bool, 3> on_{};
};

} // namespace gs

#include "views/models/diagnostics_model.h"

#include "base/units.h"

#include <algorithm>
#include <set>

namespace gs {

namespace {

QString text(const std::string& value) {
    return QString::fromStdString(value);
}

Mark severityMark(gs::Severity severity) {
    switch (severity) {
    case gs::Severity::Error:
        return Mark::Error;
    case gs::Severity::Warning:
        return Mark::Warning;
    case gs::Severity::Info:
        break;
    }
    return Mark::Info;
}

QString severityText(gs::Severity severity) {
    switch (severity) {
    case gs::Severity::Error:
        return DiagnosticsModel::tr("error");
    case gs::Severity::Warning:
        return DiagnosticsModel::tr("warning");
    case gs::Severity::Info:
        break;
    }
    return DiagnosticsModel::tr("info");
}

} // namespace

void DiagnosticsModel::add(const Diagnostics& diagnostics) {
    for (const Diagnostic& item : diagnostics.all())
        rows_.push_back({item.severity, text(item.code), text(item.node), item.where.line, text(item.message),
                         text(item.hint)});
    dropped_ += diagnostics.dropped();
}

void DiagnosticsModel::add(const PassReport& report, const Graph* graph) {
    add(report.diagnostics);
    if (!report.summary.empty())
        rows_.push_back({gs::Severity::Info, text(report.pass), {}, 0, text(report.summary), {}});
    for (const PassReportLine& line : report.lines) {
        Row row;
        row.code = text(report.pass);
        row.node = text(line.node);
        const auto id = graph ? graph->find(line.node) : std::nullopt;
        row.line = id ? graph->node(*id).source_line : 0;
        row.message =
            line.done ? tr("done: %1").arg(text(line.reason)) : tr("skipped: %1").arg(text(line.reason));
        rows_.push_back(std::move(row));
    }
}

void DiagnosticsModel::setSnapshot(const AnalysisPtr& snapshot) {
    beginResetModel();
    rows_.clear();
    dropped_ = 0;
    if (snapshot) {
        add(snapshot->diagnostics);
        for (const PassReport& report : snapshot->reports)
            add(report, snapshot->source.graph.get());
        if (snapshot->after.schedule)
            add(snapshot->after.schedule->diagnostics);
    }
    // A stage's fault can be in its own report and in the analysis; it is shown once.
    std::set<std::tuple<QString, QString, QString>> seen;
    std::erase_if(rows_, [&](const Row& row) {
        return !seen.insert({row.code, row.node, row.message}).second;
    });
    std::stable_sort(rows_.begin(), rows_.end(),
                     [](const Row& a, const Row& b) { return a.severity > b.severity; });
    counts_ = {};
    for (const Row& row : rows_)
        ++counts_[static_cast<size_t>(row.severity)];
    endResetModel();
}

int DiagnosticsModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int DiagnosticsModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant DiagnosticsModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid())
        return {};
    const Row& row = rows_[static_cast<size_t>(index.row())];
    const int column = index.column();
    switch (role) {
    case Qt::DisplayRole:
        switch (column) {
        case Severity:
            return severityText(row.severity);
        case Code:
            return row.code;
        case Node:
            return row.node;
        case Line:
            return row.line == 0 ? QString() : text(formatCount(row.line));
        case Message:
            return row.message;
        case Hint:
            return row.hint;
        default:
            return {};
        }
    case Qt::ToolTipRole:
        return row.hint.isEmpty() ? row.message : row.message + QLatin1Char('\n') + row.hint;
    case Qt::TextAlignmentRole:
        return int((column == Line ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case SortRole:
        return column == Severity ? QVariant(static_cast<int>(row.severity))
               : column == Line   ? QVariant(row.line)
                                  : data(index, Qt::DisplayRole);
    case NumericRole:
        return column == Line;
    case MarkRole:
        return column == Severity ? QVariant(static_cast<int>(severityMark(row.severity))) : QVariant();
    case MutedRole:
        return column == Code || column == Hint;
    default:
        return {};
    }
}

QVariant DiagnosticsModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount)
        return {};
    if (role == Qt::TextAlignmentRole)
        return int((section == Line ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    if (role != Qt::DisplayRole)
        return {};
    static const char* const kNames[ColumnCount] = {QT_TR_NOOP("severity"), QT_TR_NOOP("code"),
                                                    QT_TR_NOOP("node"),     QT_TR_NOOP("line"),
                                                    QT_TR_NOOP("message"),  QT_TR_NOOP("what to do")};
    return tr(kNames[section]);
}

DiagnosticsFilter::DiagnosticsFilter(DiagnosticsModel* model) : QSortFilterProxyModel(model), model_(model) {
    setSortRole(SortRole);
    setSourceModel(model);
}

void DiagnosticsFilter::setText(const QString& text) {
    words_ = text.split(QLatin1Char(' '), Qt::SkipEmptyParts);
    invalidateFilter();
}

void DiagnosticsFilter::setSeverity(gs::Severity severity, bool on) {
    on_[static_cast<size_t>(severity)] = on;
    invalidateFilter();
}

bool DiagnosticsFilter::filterAcceptsRow(int index, const QModelIndex&) const {
    const DiagnosticsModel::Row& row = model_->rows()[static_cast<size_t>(index)];
    const bool any = on_[0] || on_[1] || on_[2];
    if (any && !on_[static_cast<size_t>(row.severity)])
        return false;
    return std::all_of(words_.begin(), words_.end(), [&](const QString& word) {
        return row.code.contains(word, Qt::CaseInsensitive) || row.node.contains(word, Qt::CaseInsensitive) ||
               row.message.contains(word, Qt::CaseInsensitive) ||
               row.hint.contains(word, Qt::CaseInsensitive);
    });
}

} // namespace gs

#include "views/models/graph_list_model.h"

#include "base/units.h"
#include "import/graph_list.h"

#include <algorithm>
#include <map>

namespace gs {

namespace {

QString toText(std::string_view text) {
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

QString fileName(const std::string& path) {
    return toText(std::filesystem::path(path).filename().string());
}

bool isNumber(int column) {
    return column == GraphListModel::Nodes || column == GraphListModel::Collectives ||
           column == GraphListModel::Gathers;
}

size_t number(const GraphEntry& entry, int column) {
    return column == GraphListModel::Nodes         ? entry.nodes
           : column == GraphListModel::Collectives ? entry.collectives
                                                   : entry.gathers;
}

} // namespace

const std::string& stageName(const GraphEntry& entry) {
    return entry.stage.empty() ? entry.name : entry.stage;
}

QString graphTitle(const GraphEntry& entry) {
    const QString stage = toText(stageName(entry));
    if (entry.compile_id.empty() || stage.contains(QLatin1Char('[')))
        return stage;
    return QStringLiteral("%1 [%2]").arg(stage, toText(entry.compile_id));
}

void GraphListModel::setListing(GraphListingPtr listing) {
    beginResetModel();
    listing_ = std::move(listing);
    rows_.clear();
    ranks_.clear();
    shown_ = -1;
    std::map<int32_t, Rank> ranks;
    if (listing_) {
        for (const Diagnostic& item : listing_->diagnostics.all()) {
            if (isOfWhole(item))
                continue;
            const int32_t rank = rankOfPath(item.where.file);
            rows_.push_back({-1, &item, rank});
            ++ranks[rank].problems;
        }
        const std::vector<GraphEntry>& graphs = listing_->list.graphs;
        for (size_t i = 0; i < graphs.size(); ++i) {
            rows_.push_back({static_cast<int>(i), nullptr, graphs[i].rank});
            Rank& rank = ranks[graphs[i].rank];
            ++rank.graphs;
            if (rank.recommended < 0 ||
                isBetterGraph(graphs[i], graphs[static_cast<size_t>(rank.recommended)]))
                rank.recommended = static_cast<int>(i);
        }
    }
    for (auto& [rank, item] : ranks) {
        item.rank = rank;
        ranks_.push_back(item);
    }
    endResetModel();
}

bool GraphListModel::isOfWhole(const Diagnostic& item) const {
    return item.where.file.empty() || item.where.file == listing_->path;
}

QString GraphListModel::remarks() const {
    QStringList lines;
    for (const Diagnostic& item : listing_ ? listing_->diagnostics.all() : std::vector<Diagnostic>()) {
        if (!isOfWhole(item))
            continue;
        lines << toText(item.message);
        lines.back()[0] = lines.back()[0].toUpper();
    }
    return lines.isEmpty() ? QString() : lines.join(QStringLiteral(". ")) + QLatin1Char('.');
}

void GraphListModel::setShown(int graph) {
    if (graph == shown_)
        return;
    shown_ = graph;
    if (!rows_.empty())
        emit dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
}

const GraphEntry* GraphListModel::entry(int graph) const {
    if (!listing_ || graph < 0 || graph >= static_cast<int>(listing_->list.graphs.size()))
        return nullptr;
    return &listing_->list.graphs[static_cast<size_t>(graph)];
}

const GraphListModel::Rank* GraphListModel::rank(int32_t rank) const {
    const auto found =
        std::find_if(ranks_.begin(), ranks_.end(), [rank](const Rank& item) { return item.rank == rank; });
    return found == ranks_.end() ? nullptr : &*found;
}

bool GraphListModel::isRecommended(const Row& row) const {
    return row.graph >= 0 && rank(row.rank)->recommended == row.graph;
}

QString GraphListModel::graphText(const GraphEntry& entry, int column) const {
    switch (column) {
    case Stage:
        return toText(stageName(entry));
    case CompileId:
        return toText(entry.compile_id);
    case Name:
        return toText(entry.name);
    case Level:
        return entry.level == GraphLevel::Fx ? tr("fx") : tr("scheduler");
    case Where:
        return entry.file.empty()
                   ? tr("line %1").arg(toText(formatCount(entry.line)))
                   : tr("line %1 of %2").arg(toText(formatCount(entry.line)), fileName(entry.file));
    default:
        return toText(formatCount(static_cast<int64_t>(number(entry, column))));
    }
}

QString GraphListModel::noteText(const Row& row) const {
    if (row.problem)
        return toText(row.problem->message);
    const bool best = isRecommended(row);
    if (row.graph == shown_)
        return best ? tr("shown, recommended") : tr("shown");
    return best ? tr("recommended") : QString();
}

QString GraphListModel::text(const Row& row, int column) const {
    if (column == Note)
        return noteText(row);
    if (!row.problem)
        return graphText(listing_->list.graphs[static_cast<size_t>(row.graph)], column);
    if (column == Stage)
        return toText(row.problem->code).replace(QLatin1Char('-'), QLatin1Char(' '));
    return column == Where ? fileName(row.problem->where.file) : QString();
}

QVariant GraphListModel::mark(const Row& row, int column) const {
    if (column != Note)
        return {};
    if (row.problem)
        return static_cast<int>(row.problem->severity == Severity::Error ? Mark::Error : Mark::Warning);
    if (row.graph == shown_)
        return static_cast<int>(Mark::Info);
    return isRecommended(row) ? QVariant(static_cast<int>(Mark::Hidden)) : QVariant();
}

int GraphListModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int GraphListModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant GraphListModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid())
        return {};
    const Row& row = rows_[static_cast<size_t>(index.row())];
    const int column = index.column();
    switch (role) {
    case Qt::DisplayRole:
        return text(row, column);
    case Qt::ToolTipRole:
        if (row.problem)
            return toText(row.problem->where.file + "\n" + row.problem->message + "\n" + row.problem->hint);
        if (column == Note && isRecommended(row))
            return tr("The last stage before code is generated, and there the graph with the most gathers");
        if (column == Where && !entry(row.graph)->file.empty())
            return toText(entry(row.graph)->file);
        return text(row, column);
    case SortRole:
        if (isNumber(column) && !row.problem)
            return static_cast<qulonglong>(number(*entry(row.graph), column));
        if (column == Where && !row.problem) // by file, then as a number
            return fileName(entry(row.graph)->file) +
                   QStringLiteral(" %1").arg(entry(row.graph)->line, 10, 10, QLatin1Char('0'));
        return text(row, column);
    case Qt::TextAlignmentRole:
        return int((isNumber(column) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case MarkRole:
        return mark(row, column);
    case NumericRole:
        return isNumber(column);
    case MutedRole:
        return column == Where || column == Level || column == Name || (row.problem && column == Stage);
    case EditedRole:
        return column == Stage && row.graph >= 0 && row.graph == shown_;
    default:
        return {};
    }
}

QVariant GraphListModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount)
        return {};
    if (role == Qt::TextAlignmentRole)
        return int((isNumber(section) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    if (role != Qt::DisplayRole)
        return {};
    static const char* const kNames[ColumnCount] = {
        QT_TR_NOOP("stage"),       QT_TR_NOOP("compile id"), QT_TR_NOOP("name"),
        QT_TR_NOOP("level"),       QT_TR_NOOP("nodes"),      QT_TR_NOOP("collectives"),
        QT_TR_NOOP("all-gathers"), QT_TR_NOOP("note"),       QT_TR_NOOP("where")};
    return tr(kNames[section]);
}

GraphListFilter::GraphListFilter(GraphListModel* model) : QSortFilterProxyModel(model), model_(model) {
    setSortRole(SortRole);
    setSourceModel(model);
}

void GraphListFilter::setRank(int32_t rank) {
    rank_ = rank;
    invalidateFilter();
}

void GraphListFilter::setText(const QString& text) {
    words_ = text.split(QLatin1Char(' '), Qt::SkipEmptyParts);
    invalidateFilter();
}

bool GraphListFilter::filterAcceptsRow(int row, const QModelIndex& parent) const {
    if (model_->rows()[static_cast<size_t>(row)].rank != rank_)
        return false;
    return std::all_of(words_.begin(), words_.end(), [&](const QString& word) {
        for (const int column : {GraphListModel::Stage, GraphListModel::CompileId, GraphListModel::Name,
                                 GraphListModel::Where, GraphListModel::Note}) {
            if (model_->index(row, column, parent).data().toString().contains(word, Qt::CaseInsensitive))
                return true;
        }
        return false;
    });
}

} // namespace gs

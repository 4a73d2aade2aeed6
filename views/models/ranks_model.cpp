#include "views/models/ranks_model.h"

#include "base/units.h"

#include <algorithm>

namespace gs {

namespace {

QString toText(std::string_view text) {
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

QString numberText(size_t value) {
    return QString::fromStdString(formatCount(static_cast<int64_t>(value)));
}

} // namespace

void RanksModel::setComparison(RankComparisonPtr comparison) {
    if (comparison == comparison_)
        return;
    beginResetModel();
    comparison_ = std::move(comparison);
    open_.clear();
    rebuild();
    endResetModel();
}

void RanksModel::rebuild() {
    lines_.clear();
    if (!comparison_)
        return;
    for (size_t g = 0; g < comparison_->groups.size(); ++g)
        addGroup(g);
}

void RanksModel::addGroup(size_t group) {
    const std::vector<RankRow>& rows = comparison_->groups[group].rows;
    lines_.push_back({group, -1, 0, false, false});
    for (size_t i = 0; i < rows.size();) {
        const auto row = static_cast<int>(i);
        if (!rows[i].equal) {
            lines_.push_back({group, row, 1, false, false});
            ++i;
            continue;
        }
        size_t end = i;
        while (end < rows.size() && rows[end].equal)
            ++end;
        const bool open = std::find(open_.begin(), open_.end(), std::pair(group, row)) != open_.end();
        lines_.push_back({group, row, static_cast<int>(end - i), true, open});
        for (; open && i < end; ++i)
            lines_.push_back({group, static_cast<int>(i), 1, false, false});
        i = end;
    }
}

int RanksModel::classCount() const {
    return comparison_ ? std::min(static_cast<int>(comparison_->classes.size()), kClasses) : 0;
}

int RanksModel::rankOfClass(int of_class) const {
    return comparison_->classes[static_cast<size_t>(of_class)].ranks.front();
}

bool RanksModel::isFold(int row) const {
    return row >= 0 && row < rowCount() && lines_[static_cast<size_t>(row)].fold;
}

void RanksModel::toggle(int row) {
    if (!isFold(row))
        return;
    const Line& line = lines_[static_cast<size_t>(row)];
    const std::pair key(line.group, line.row);
    beginResetModel();
    if (line.open)
        std::erase(open_, key);
    else
        open_.push_back(key);
    rebuild();
    endResetModel();
}

const RankRow& RanksModel::rowOf(const Line& line) const {
    return comparison_->groups[line.group].rows[static_cast<size_t>(line.row)];
}

int RanksModel::firstDifference() const {
    for (size_t i = 0; i < lines_.size(); ++i) {
        if (lines_[i].row >= 0 && !lines_[i].fold && !rowOf(lines_[i]).equal)
            return static_cast<int>(i);
    }
    return -1;
}

const RankCollective* RanksModel::collective(const Line& line, int of_class) const {
    if (line.row < 0 || line.fold || of_class >= classCount())
        return nullptr;
    const int32_t index = rowOf(line).cells[static_cast<size_t>(of_class)];
    const ComparedRank& rank = comparison_->ranks[static_cast<size_t>(rankOfClass(of_class))];
    return index < 0 ? nullptr : &rank.collectives[static_cast<size_t>(index)];
}

QString RanksModel::nodeAt(const QModelIndex& index) const {
    if (!index.isValid())
        return {};
    const int of_class = std::clamp(index.column() - First, 0, std::max(classCount() - 1, 0));
    const RankCollective* item = collective(lines_[static_cast<size_t>(index.row())], of_class);
    if (!item)
        return {};
    const ComparedRank& rank = comparison_->ranks[static_cast<size_t>(rankOfClass(of_class))];
    return toText(rank.program.graphs[item->graph].graph->name(item->node));
}

QString RanksModel::placeText(const Line& line) const {
    if (line.row < 0)
        return toText(comparison_->groups[line.group].name.empty() ? "?"
                                                                   : comparison_->groups[line.group].name);
    return line.fold ? (line.open ? QStringLiteral("▾") : QStringLiteral("▸"))
                     : numberText(static_cast<size_t>(line.row));
}

QString RanksModel::cellText(const Line& line, int of_class) const {
    if (line.row < 0) {
        const std::string& name =
            comparison_->groups[line.group].names[static_cast<size_t>(rankOfClass(of_class))];
        return name.empty() ? tr("not used") : tr("group \"%1\"").arg(toText(name));
    }
    if (line.fold)
        return of_class == 0 ? tr("%n equal", nullptr, line.count) : QString();
    const RankCollective* item = collective(line, of_class);
    if (!item)
        return tr("nothing");
    const Graph& graph =
        *comparison_->ranks[static_cast<size_t>(rankOfClass(of_class))].program.graphs[item->graph].graph;
    QString text = item->kind == CollectiveKind::Other ? toText(graph.targetText(item->node))
                                                       : toText(collectiveKindName(item->kind));
    if (item->dtype != DType::Unknown)
        text += QLatin1Char(' ') + toText(dtypeAbbreviation(item->dtype));
    if (item->bytes >= 0)
        text += QLatin1Char(' ') + QString::fromStdString(formatBytes(item->bytes));
    return text + QStringLiteral("  ") + toText(graph.name(item->node));
}

QString RanksModel::whatText(const Line& line) const {
    const RankGroup& group = comparison_->groups[line.group];
    if (line.row < 0)
        return group.differing == 0 && group.rows.size() == 1 ? tr("1 collective, equal")
               : group.differing == 0
                   ? tr("%n collectives, equal", nullptr, static_cast<int>(group.rows.size()))
                   : tr("%1 of %2 differ").arg(numberText(group.differing), numberText(group.rows.size()));
    if (line.fold || rowOf(line).equal)
        return {};
    const RankCollective* first = nullptr;
    QStringList what;
    const auto add = [&](bool differs, const QString& text) {
        if (differs && !what.contains(text))
            what << text;
    };
    for (int c = 0; c < classCount(); ++c) {
        const RankCollective* item = collective(line, c);
        add(!item, tr("missing"));
        if (!item)
            continue;
        if (!first)
            first = item;
        add(item->kind != first->kind, tr("kind"));
        add(item->dtype != first->dtype, tr("dtype"));
        add(item->bytes != first->bytes && item->kind == first->kind, tr("size"));
    }
    return what.isEmpty() ? tr("operation") : what.join(QStringLiteral(", "));
}

int RanksModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(lines_.size());
}

int RanksModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant RanksModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid())
        return {};
    const Line& line = lines_[static_cast<size_t>(index.row())];
    const int column = index.column();
    const bool heading = line.row < 0;
    const bool differs = !heading && !line.fold && !rowOf(line).equal;
    switch (role) {
    case Qt::DisplayRole:
    case Qt::ToolTipRole:
        if (column == Place)
            return placeText(line);
        if (column == What)
            return whatText(line);
        return column - First < classCount() ? cellText(line, column - First) : QString();
    case Qt::TextAlignmentRole:
        return int(Qt::AlignLeft | Qt::AlignVCenter);
    case MarkRole:
        if (column != What || !(differs || (heading && comparison_->groups[line.group].differing > 0)))
            return {};
        return static_cast<int>(index.row() == firstDifference() ? Mark::Error : Mark::Warning);
    case NumericRole:
        return column == Place && !heading && !line.fold;
    case MutedRole:
        return line.fold || (!heading && !differs && column != Place) ||
               (differs && column >= First && column <= LastClass && !collective(line, column - First));
    case EditedRole: // set off: headings, and the row to look at
        return heading && column == Place;
    default:
        return {};
    }
}

QVariant RanksModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::TextAlignmentRole)
        return int(Qt::AlignLeft | Qt::AlignVCenter);
    if (role != Qt::DisplayRole)
        return {};
    if (section == Place)
        return tr("group, #");
    if (section == What)
        return tr("differs");
    const int of_class = section - First;
    return of_class < classCount() ? toText(comparison_->classes[static_cast<size_t>(of_class)].text)
                                   : QString();
}

} // namespace gs

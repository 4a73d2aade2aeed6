#include "views/models/compare_model.h"

#include "base/units.h"
#include "schedule/scheduler.h"

#include <QFileInfo>
#include <algorithm>
#include <cmath>

namespace gs {

namespace {

QString text(std::string_view value) {
    return QString::fromUtf8(value.data(), static_cast<qsizetype>(value.size()));
}

QString count(size_t value) {
    return text(formatCount(static_cast<int64_t>(value)));
}

/// "In-flight limit 0.1 GiB"
QString settingText(Setting key, const Settings& settings) {
    const SettingSpec& spec = settingSpec(key);
    QString value = text(settings.text(key));
    if (spec.type == SettingType::Flag)
        value = settings.flag(key) ? CompareModel::tr("on") : CompareModel::tr("off");
    if (spec.type == SettingType::Integer || spec.type == SettingType::Number) {
        const double number = settings.number(key);
        if (number == std::floor(number))
            value = text(formatCount(static_cast<int64_t>(number)));
    }
    QString out = text(spec.title) + QLatin1Char(' ') + value;
    const bool number = !value.isEmpty() && value.front().isDigit();
    if (number && !spec.unit.empty())
        out += (spec.unit == "×" ? QString() : QStringLiteral(" ")) + text(spec.unit);
    return out;
}

/// Without a sign where nothing is left of the difference.
QString percent(double fraction) {
    return text(formatPercent(std::abs(fraction) < 0.0005 ? 0 : fraction, true));
}

double change(const CompareRow& row, const CompareEntry* baseline) {
    const int64_t base = baseline ? baseline->row.step_ns : 0;
    return base > 0 ? static_cast<double>(row.step_ns - base) / static_cast<double>(base) : 0;
}

bool isNumber(int column) {
    return column >= CompareModel::Hidden;
}

} // namespace

QString timeInUnitOf(int64_t ns, int64_t largest_ns) {
    constexpr int64_t kMicro = 1000, kMilli = 1'000'000;
    if (largest_ns >= 10 * kMilli)
        return text(formatMicros(ns / kMicro, largest_ns >= 1000 * kMilli ? 1 : 2)) + QStringLiteral(" ms");
    return text(formatMicros(ns, 1)) + QStringLiteral(" µs");
}

QString schedulerTitle(const std::string& name) {
    const SchedulerInfo* info = findScheduler(name);
    return info ? text(info->title) : text(name);
}

void CompareModel::setState(const CompareStatePtr& state) {
    const size_t before = state_ ? state_->entries.size() : 0;
    const size_t after = state ? state->entries.size() : 0;
    const auto id = [](const CompareStatePtr& of, size_t row) { return of->entries[row]->id; };
    bool kept = before <= after;
    for (size_t row = 0; kept && row < before; ++row)
        kept = id(state_, row) == id(state, row);
    if (!kept) {
        beginResetModel();
        state_ = state;
        measure();
        endResetModel();
        return;
    }
    if (after > before)
        beginInsertRows({}, static_cast<int>(before), static_cast<int>(after) - 1);
    state_ = state;
    measure();
    if (after > before)
        endInsertRows();
    if (before > 0)
        emit dataChanged(index(0, 0), index(static_cast<int>(before) - 1, ColumnCount - 1));
}

void CompareModel::measure() {
    longest_ns_ = highest_bytes_ = 0;
    best_ = 0;
    if (!state_)
        return;
    const int64_t limit = state_->search ? state_->search->limits.peak_bytes : -1;
    const CompareEntry* best = nullptr;
    for (const CompareEntryPtr& entry : state_->entries) {
        longest_ns_ = std::max(longest_ns_, entry->row.step_ns);
        highest_bytes_ = std::max(highest_bytes_, entry->row.peak_held_bytes);
        if (!entry->row.error && (!best || betterRow(entry->row, best->row, limit)))
            best = entry.get();
    }
    if (best && state_->entries.size() > 1)
        best_ = best->id;
}

int CompareModel::rowOf(uint64_t id) const {
    for (int row = 0; row < rowCount(); ++row) {
        if (entry(row).id == id)
            return row;
    }
    return -1;
}

int CompareModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() || !state_ ? 0 : static_cast<int>(state_->entries.size());
}

int CompareModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QString CompareModel::time(int64_t ns) const {
    return timeInUnitOf(ns, longest_ns_);
}

/// What differs from the baseline: settings, costs.
QString CompareModel::detail(const CompareEntry& entry) const {
    if (entry.row.error)
        return text(entry.row.error->message);
    const CompareEntry* baseline = state_->find(state_->baseline);
    const AnalysisRequest nothing;
    const AnalysisRequest& base = baseline ? baseline->row.request : nothing;
    const AnalysisRequest& own = entry.row.request;
    QStringList parts;
    for (const Setting key : changedSettings(own.settings, base.settings))
        parts << settingText(key, own.settings);
    if (own.cost_files != base.cost_files) {
        QStringList names;
        for (const std::string& file : own.cost_files)
            names << QFileInfo(text(file)).fileName();
        parts << (names.isEmpty() ? tr("no cost file") : names.join(QStringLiteral(", ")));
    }
    if (own.cost_overrides != base.cost_overrides)
        parts << tr("costs edited: %1").arg(own.cost_overrides.size());
    if (own.cost_pins != base.cost_pins)
        parts << tr("costs pinned: %1").arg(own.cost_pins.size());
    if (own.edits != base.edits)
        parts << tr("changes by hand: %1").arg(own.edits.size());
    if (entry.stale)
        parts.prepend(tr("out of date: its costs have changed on disk"));
    return parts.join(QStringLiteral(" · "));
}

QString CompareModel::label(const CompareEntry& entry) const {
    const QString more = detail(entry);
    return schedulerTitle(entry.row.scheduler) + (more.isEmpty() ? QString() : QStringLiteral(" · ") + more);
}

bool CompareModel::pinned(const CompareEntry& entry, int column) const {
    return entry.id == (column == Base ? state_->baseline : column == PinA ? state_->pin_a : state_->pin_b);
}

QString CompareModel::display(const CompareEntry& entry, int column) const {
    const CompareRow& row = entry.row;
    if (row.error && column > Variant)
        return QStringLiteral("–");
    const int decimals = highest_bytes_ < 100 * 1024 * 1024 ? 1 : 0;
    switch (column) {
    case State:
        return {};
    case Base:
        return pinned(entry, column) ? tr("baseline") : QString();
    case PinA:
        return pinned(entry, column) ? tr("A") : QString();
    case PinB:
        return pinned(entry, column) ? tr("B") : QString();
    case Variant:
        return label(entry);
    case Hidden:
        return count(row.hidden) + QStringLiteral(" / ") + count(row.candidates);
    case Exposed:
        return time(row.exposed_union_ns);
    case ExposedSum:
        return time(row.exposed_sum_ns);
    case Step:
        return time(row.step_ns);
    case Change:
        return entry.id == state_->baseline ? tr("baseline")
                                            : percent(change(row, state_->find(state_->baseline)));
    case Gap:
        return percent(row.gap());
    case Peak: // bytes as if they were ns: the same thousands
        return text(formatMicros(
                   std::llround(static_cast<double>(row.peak_held_bytes) * 1000 / (1024 * 1024)), decimals)) +
               QStringLiteral(" MiB");
    case Displaced:
        return count(row.nodes_displaced);
    case Moved:
        return count(row.launches_moved);
    case Missing:
        return count(row.missing_costs);
    case Problems:
        return count(row.problems);
    case Run:
        return text(formatMicros(std::llround(row.run_ms * 1000), 1)) + QStringLiteral(" ms");
    default:
        return {};
    }
}

QVariant CompareModel::sortValue(const CompareEntry& entry, int column) const {
    const CompareRow& row = entry.row;
    if (row.error && column > Variant)
        return std::numeric_limits<double>::max();
    switch (column) {
    case State:
        return entry.id == state_->current ? 0 : entry.id == best_ ? 1 : 2;
    case Base:
    case PinA:
    case PinB:
        return pinned(entry, column) ? 0 : 1;
    case Hidden: // more is better: by share
        return row.candidates == 0 ? 0.0
                                   : static_cast<double>(row.hidden) / static_cast<double>(row.candidates);
    case Exposed:
        return static_cast<double>(row.exposed_union_ns);
    case ExposedSum:
        return static_cast<double>(row.exposed_sum_ns);
    case Step:
        return static_cast<double>(row.step_ns);
    case Change:
        return change(row, state_->find(state_->baseline));
    case Gap:
        return row.gap();
    case Peak:
        return static_cast<double>(row.peak_held_bytes);
    case Displaced:
        return static_cast<double>(row.nodes_displaced);
    case Moved:
        return static_cast<double>(row.launches_moved);
    case Missing:
        return static_cast<double>(row.missing_costs);
    case Problems:
        return static_cast<double>(row.problems);
    case Run:
        return row.run_ms;
    default:
        return label(entry);
    }
}

QString CompareModel::tip(const CompareEntry& entry, int column) const {
    switch (column) {
    case Base:
        return tr("Click: state all differences against this one (B)");
    case PinA:
        return tr("Click: A of the gather-by-gather comparison (1)");
    case PinB:
        return tr("Click: B of the gather-by-gather comparison (2)");
    default:
        break;
    }
    QStringList lines{label(entry)};
    if (entry.row.error)
        return lines.join(QLatin1Char('\n'));
    lines << tr("Step %1, lower bound %2").arg(time(entry.row.step_ns), time(entry.row.lower_bound_ns));
    lines << tr("%1 of %2 nodes displaced, %3 launches moved")
                 .arg(count(entry.row.nodes_displaced), count(entry.row.nodes),
                      count(entry.row.launches_moved));
    if (entry.row.missing_costs > 0)
        lines << tr("%1 costs are missing and count as 0").arg(count(entry.row.missing_costs));
    lines << (entry.id == state_->current ? tr("The window shows this one.") : tr("Click: look at it"));
    return lines.join(QLatin1Char('\n'));
}

QVariant CompareModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid())
        return {};
    const CompareEntry& e = entry(index.row());
    const int column = index.column();
    const double longest = static_cast<double>(std::max<int64_t>(1, longest_ns_));
    switch (role) {
    case Qt::DisplayRole:
        return display(e, column);
    case Qt::ToolTipRole:
        return tip(e, column);
    case Qt::TextAlignmentRole:
        return int((isNumber(column) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case SortRole:
        return sortValue(e, column);
    case NumericRole:
        return isNumber(column);
    case MarkRole:
        return column == Variant && e.row.error ? QVariant(static_cast<int>(Mark::Error)) : QVariant();
    case MutedRole:
        if (e.stale && index.column() > Variant)
            return true;
        return (e.row.error && column > Variant) || (column == Change && e.id == state_->baseline) ||
               (column == Missing && e.row.missing_costs == 0) || (column == Problems && e.row.problems == 0);
    case CurrentRole:
        return e.id == state_->current;
    case BestRole:
        return e.id == best_;
    case PinRole:
        return column >= Base && column <= PinB && pinned(e, column);
    case BoundShareRole:
        return static_cast<double>(e.row.lower_bound_ns) / longest;
    case StepShareRole:
        return static_cast<double>(e.row.step_ns) / longest;
    case DetailRole:
        return detail(e);
    default:
        return {};
    }
}

QVariant CompareModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount)
        return {};
    if (role == Qt::TextAlignmentRole)
        return int((isNumber(section) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    struct Head {
        const char* name;
        const char* meaning;
    };
    static const Head kHeads[ColumnCount] = {
        {"", ""},
        {QT_TR_NOOP("base"), QT_TR_NOOP("The baseline: what differences are stated against")},
        {QT_TR_NOOP("A"), QT_TR_NOOP("Pin two variants, A and B, to see every gather of both")},
        {QT_TR_NOOP("B"), QT_TR_NOOP("Pin two variants, A and B, to see every gather of both")},
        {QT_TR_NOOP("variant"), QT_TR_NOOP("Scheduler, and the settings that differ from the baseline")},
        {QT_TR_NOOP("hidden"), QT_TR_NOOP("Gathers that the scheduler counts as hidden, of its candidates")},
        {QT_TR_NOOP("exposed"), QT_TR_NOOP("Time that compute stands still for communication")},
        {QT_TR_NOOP("exposed sum"),
         QT_TR_NOOP("The same added up per collective: transfers of two streams in one stall count twice")},
        {QT_TR_NOOP("step"), QT_TR_NOOP("Simulated step; the bar shows lower bound and what is above it")},
        {QT_TR_NOOP("change"), QT_TR_NOOP("Step against the baseline's")},
        {QT_TR_NOOP("over bound"), QT_TR_NOOP("Step over the lower bound: no order can be at less than 0 %")},
        {QT_TR_NOOP("peak"), QT_TR_NOOP("Most bytes that communication holds at once: gathered weights, and "
                                        "gradients until they are scattered")},
        {QT_TR_NOOP("displaced"),
         QT_TR_NOOP("Nodes that must be taken out of program order and put elsewhere to get this order")},
        {QT_TR_NOOP("moved"), QT_TR_NOOP("Launches at another place")},
        {QT_TR_NOOP("missing"), QT_TR_NOOP("Distinct ops whose cost no source knows; they count as 0")},
        {QT_TR_NOOP("problems"), QT_TR_NOOP("Warnings and errors")},
        {QT_TR_NOOP("run"), QT_TR_NOOP("Time the scheduler took")},
    };
    if (role == Qt::ToolTipRole)
        return tr(kHeads[section].meaning);
    return role == Qt::DisplayRole ? tr(kHeads[section].name) : QVariant();
}

CompareFilter::CompareFilter(CompareModel* model) : QSortFilterProxyModel(model), model_(model) {
    setSortRole(SortRole);
    setSourceModel(model);
}

void CompareFilter::setText(const QString& text) {
    words_ = text.split(QLatin1Char(' '), Qt::SkipEmptyParts);
    invalidateFilter();
}

bool CompareFilter::filterAcceptsRow(int row, const QModelIndex&) const {
    if (words_.isEmpty())
        return true;
    const CompareEntry& entry = model_->entry(row);
    const QString all = model_->label(entry) + QLatin1Char(' ') + text(entry.row.scheduler);
    return std::all_of(words_.begin(), words_.end(),
                       [&](const QString& word) { return all.contains(word, Qt::CaseInsensitive); });
}

} // namespace gs

#include "views/models/gathers_filter.h"

#include <algorithm>

namespace gs {

GathersFilter::GathersFilter(QObject* parent) : QSortFilterProxyModel(parent) {
    setSortRole(SortRole);
}

void GathersFilter::setModel(GathersModel* model) {
    model_ = model;
    setSourceModel(model);
}

void GathersFilter::setChip(Chip chip, bool on) {
    on_[chip] = on;
    invalidateFilter();
}

void GathersFilter::setText(const QString& text) {
    words_ = text.split(QLatin1Char(' '), Qt::SkipEmptyParts);
    invalidateFilter();
}

bool GathersFilter::matches(const GathersModel::Row& row, Chip chip) {
    switch (chip) {
    case Hidden:
        return row.verdict == Verdict::Hidden;
    case ComputeLimited:
        return row.verdict == Verdict::ComputeLimited;
    case NotCandidate:
        return row.verdict == Verdict::NotCandidate && !row.in_flight;
    case InFlight:
        return row.in_flight;
    case Moved:
        return row.moved;
    case Exposed:
        return row.exposed_ns > 0;
    case ChipCount:
        break;
    }
    return false;
}

std::array<int, GathersFilter::ChipCount> GathersFilter::counts() const {
    std::array<int, ChipCount> counts{};
    if (!model_)
        return counts;
    for (const GathersModel::Row& row : model_->rows()) {
        for (int chip = 0; chip < ChipCount; ++chip)
            counts[static_cast<size_t>(chip)] += matches(row, static_cast<Chip>(chip));
    }
    return counts;
}

bool GathersFilter::filterAcceptsRow(int index, const QModelIndex&) const {
    const GathersModel::Row& row = model_->rows()[static_cast<size_t>(index)];
    const bool any_verdict = on_[Hidden] || on_[ComputeLimited] || on_[NotCandidate] || on_[InFlight];
    bool verdict = !any_verdict;
    for (const Chip chip : {Hidden, ComputeLimited, NotCandidate, InFlight})
        verdict = verdict || (on_[chip] && matches(row, chip));
    if (!verdict)
        return false;
    for (const Chip chip : {Moved, Exposed}) {
        if (on_[chip] && !matches(row, chip))
            return false;
    }
    return std::all_of(words_.begin(), words_.end(), [&](const QString& word) {
        return row.parameter.contains(word, Qt::CaseInsensitive) ||
               row.full_parameter.contains(word, Qt::CaseInsensitive) ||
               row.name.contains(word, Qt::CaseInsensitive) || row.group.contains(word, Qt::CaseInsensitive);
    });
}

bool GathersFilter::lessThan(const QModelIndex& left, const QModelIndex& right) const {
    const GathersModel::Row& a = model_->rows()[static_cast<size_t>(left.row())];
    const GathersModel::Row& b = model_->rows()[static_cast<size_t>(right.row())];
    // "layers.9" before "layers.10": by layer, then by text.
    if (left.column() == GathersModel::Parameter)
        return a.layer != b.layer ? a.layer < b.layer : a.parameter < b.parameter;
    return QSortFilterProxyModel::lessThan(left, right);
}

} // namespace gs

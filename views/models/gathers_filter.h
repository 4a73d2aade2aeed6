// Which gathers the table shows, and in which order.
#pragma once

#include "views/models/gathers_model.h"

#include <QSortFilterProxyModel>
#include <array>

namespace gs {

class GathersFilter : public QSortFilterProxyModel {
    Q_OBJECT
public:
    /// Chips. The verdicts exclude each other, so several of them mean "any of these"; the others narrow
    /// further.
    enum Chip { Hidden, ComputeLimited, NotCandidate, InFlight, Moved, Exposed, ChipCount };

    explicit GathersFilter(QObject* parent = nullptr);
    void setModel(GathersModel* model);

    void setChip(Chip chip, bool on);
    /// Words; each must occur in the parameter, the launch's name or the group. Case does not matter.
    void setText(const QString& text);
    /// Rows of the whole table, filter or not, that the chip stands for.
    std::array<int, ChipCount> counts() const;

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;
    bool lessThan(const QModelIndex& left, const QModelIndex& right) const override;

private:
    static bool matches(const GathersModel::Row& row, Chip chip);

    GathersModel* model_ = nullptr;
    std::array<bool, ChipCount> on_{};
    QStringList words_;
};

} // namespace gs

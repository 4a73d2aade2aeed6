// The table of all gathers: which are hidden, which are not, and where each launch went.
#pragma once

#include "views/models/gathers_filter.h"
#include "views/view.h"

#include <array>

class QMenu;
class QModelIndex;

namespace gs {

class Chip;
class DataTable;
class FilterField;

class GathersView : public View {
    Q_OBJECT
public:
    explicit GathersView(QWidget* parent = nullptr);

    DataTable* table() const { return table_; }
    FilterField* filterField() const { return field_; }
    Chip* chip(GathersFilter::Chip chip) const { return chips_[chip]; }
    /// Selects the next (+1) or previous (−1) gather of the table as shown.
    void step(int by);

protected:
    void snapshotChanged() override;
    void selectionChanged() override;

private:
    void showSelection();
    void updateEmptyText();
    void addMenu(QMenu* menu, const QModelIndex& index);

    GathersModel* model_;
    GathersFilter* filter_;
    DataTable* table_;
    FilterField* field_;
    std::array<Chip*, GathersFilter::ChipCount> chips_{};
};

} // namespace gs

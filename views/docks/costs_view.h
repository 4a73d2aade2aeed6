// Costs: op → time per distinct key, editable.
#pragma once

#include "views/models/costs_model.h"
#include "views/view.h"

class QLabel;
class QMenu;
class QPushButton;

namespace gs {

class Chip;
class DataTable;
class FilterField;

class CostsView : public View {
    Q_OBJECT
public:
    explicit CostsView(QWidget* parent = nullptr);

    DataTable* table() const { return table_; }
    FilterField* filterField() const { return field_; }
    Chip* missingChip() const { return missing_; }
    Chip* editedChip() const { return edited_; }
    Chip* againstModelChip() const { return against_model_; }

    QPushButton* profileButton() const { return profile_; }

signals:
    /// The user wants these costs measured.
    void profileRequested();

protected:
    void snapshotChanged() override;
    void selectionChanged() override;

private:
    void showSelection();
    void editRow(const QModelIndex& index);
    void resetRow(const QModelIndex& index);
    void addMenu(QMenu* menu, const QModelIndex& index);
    void addPinMenu(QMenu* menu, int row);
    void pinRow(int row, const std::string& source);
    void showAgainstModel(bool on);

    CostsModel* model_;
    CostsFilter* filter_;
    DataTable* table_;
    FilterField* field_;
    Chip* missing_;
    Chip* edited_;
    Chip* against_model_; ///< shows the model's time and the ratio
    QLabel* totals_;
    QPushButton* profile_;
};

} // namespace gs

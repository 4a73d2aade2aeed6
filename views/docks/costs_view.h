// Costs: op → time per distinct key, editable.
#pragma once

#include "views/models/costs_model.h"
#include "views/view.h"

class QLabel;
class QMenu;
class QPushButton;
class QStackedWidget;

namespace gs {

class Chip;
class DataTable;
class FilterField;
class ProfileComparison;

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
    /// Opens a menu of the profiles in the store; hidden without a store.
    QPushButton* compareButton() const { return compare_; }
    ProfileComparison* comparison() const { return comparison_; }
    /// Shows the profile in use against this one of the same store, in place of the costs.
    void compareWith(qint64 id);

signals:
    /// The user wants these costs measured.
    void profileRequested();

protected:
    void snapshotChanged() override;
    void selectionChanged() override;

private:
    QWidget* makeBar();
    void showSelection();
    void editRow(const QModelIndex& index);
    void resetRow(const QModelIndex& index);
    void addMenu(QMenu* menu, const QModelIndex& index);
    void addPinMenu(QMenu* menu, int row);
    void pinRow(int row, const std::string& source);
    void showAgainstModel(bool on);
    void fillCompareMenu(QMenu* menu);
    void updateComparison();

    CostsModel* model_;
    CostFilter* filter_;
    DataTable* table_;
    FilterField* field_;
    Chip* missing_;
    Chip* edited_;
    Chip* against_model_; ///< shows the model's time and the ratio
    QLabel* totals_;
    QPushButton* profile_;
    QPushButton* compare_;
    QStackedWidget* stack_;
    ProfileComparison* comparison_;
    qint64 compared_ = 0; ///< profile B; 0 = none is compared
};

} // namespace gs

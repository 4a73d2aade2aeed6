// Changes of costs as a table with its chips and filter: of a measurement, or of one profile against another.
#pragma once

#include "views/profile/cost_changes_model.h"

#include <QWidget>

namespace gs {

class Chip;
class CostFilter;
class DataTable;
class FilterField;

class CostChangesTable : public QWidget {
    Q_OBJECT
public:
    enum class Of : uint8_t { Measurement, Profiles };
    explicit CostChangesTable(Of of, QWidget* parent = nullptr);

    void setChanges(std::vector<CostChange> changes);

    CostChangesModel* model() const { return model_; }
    DataTable* table() const { return table_; }
    Chip* slowerChip() const { return slower_; }
    Chip* fasterChip() const { return faster_; }
    /// Not measured; of profiles: in one of them only.
    Chip* otherChip() const { return other_; }
    FilterField* filterField() const { return field_; }

private:
    const Of of_;
    CostChangesModel* model_;
    CostFilter* filter_;
    DataTable* table_;
    Chip* slower_;
    Chip* faster_;
    Chip* other_;
    FilterField* field_;
};

} // namespace gs

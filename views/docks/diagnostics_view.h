// Parse problems, lint findings, what each pass did, and the log in document 000's words.
#pragma once

#include "views/models/diagnostics_model.h"
#include "views/view.h"

#include <array>

class QPlainTextEdit;
class QTabWidget;

namespace gs {

class Chip;
class DataTable;
class FilterField;

class DiagnosticsView : public View {
    Q_OBJECT
public:
    explicit DiagnosticsView(QWidget* parent = nullptr);

    DataTable* table() const { return table_; }
    QPlainTextEdit* log() const { return log_; }

protected:
    void snapshotChanged() override;
    void selectionChanged() override {}

private:
    DiagnosticsModel* model_;
    DiagnosticsFilter* filter_;
    QTabWidget* tabs_;
    DataTable* table_;
    FilterField* field_;
    QPlainTextEdit* log_;
    std::array<Chip*, 3> chips_{};
};

} // namespace gs

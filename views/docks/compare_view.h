// Compare: everything tried on the open graph as rows; two of them gather by gather beneath.
#pragma once

#include "views/models/compare_diff_model.h"
#include "views/models/compare_model.h"
#include "views/view.h"

class QLabel;
class QMenu;
class QSplitter;

namespace gs {

class Chip;
class CompareBar;
class DataTable;

class CompareView : public View {
    Q_OBJECT
public:
    explicit CompareView(QWidget* parent = nullptr);

    void setCompare(const CompareStatePtr& state) override;
    bool busy() const override;

    DataTable* table() const { return table_; }
    DataTable* diffTable() const { return diff_table_; }
    CompareBar* bar() const { return bar_; }
    CompareModel* model() const { return model_; }
    CompareDiffModel* diffModel() const { return diff_model_; }
    Chip* differingChip() const { return differing_; }
    /// The line above the gathers of both pins, as shown.
    QString diffTitle() const;

protected:
    void snapshotChanged() override;
    void selectionChanged() override;

private:
    QWidget* makeDiffPanel();
    void connectTable();
    void addKey(int key, CompareCommand::Kind kind);
    void ask(CompareCommand::Kind kind, const QModelIndex& index);
    void lookAt(uint64_t id);
    void lookAt(const QModelIndex& index);
    void clicked(const QModelIndex& index);
    void addMenu(QMenu* menu, const QModelIndex& index);
    void updateDiff();
    void updateEmptyText();
    void showSelection();

    CompareStatePtr state_;
    CompareModel* model_;
    CompareFilter* filter_;
    CompareDiffModel* diff_model_;
    CompareDiffFilter* diff_filter_;
    CompareBar* bar_;
    QSplitter* splitter_;
    DataTable* table_;
    QWidget* diff_panel_ = nullptr;
    QLabel* diff_title_ = nullptr;
    Chip* differing_ = nullptr;
    DataTable* diff_table_ = nullptr;
};

} // namespace gs

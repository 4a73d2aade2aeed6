// Which graph of an input to look at: its ranks on the left, the graphs of the chosen rank beside them. Lies
// above the panels and leaves them usable.
#pragma once

#include "views/models/graph_list_model.h"

#include <QWidget>

class QCheckBox;
class QLabel;
class QPushButton;
class QStandardItemModel;

namespace gs {

class DataTable;
class FilterField;

class GraphPicker : public QWidget {
    Q_OBJECT
public:
    explicit GraphPicker(QWidget* parent = nullptr);

    /// Starts at `graph`, or at the recommended one for -1.
    void setListing(const GraphListingPtr& listing, int graph = -1);
    const GraphListingPtr& listing() const { return model_->listing(); }
    /// The graph that the panels show; -1 = none of these.
    void setShown(int graph);
    /// Whether the ranks are compared; does not emit compareToggled().
    void setComparing(bool on);

    /// The chosen row; -1 where it is none or a fault.
    int current() const;
    DataTable* rankTable() const { return ranks_table_; }
    DataTable* graphTable() const { return table_; }
    FilterField* filterField() const { return filter_field_; }
    QCheckBox* compareBox() const { return compare_; }
    QPushButton* openButton() const { return open_; }

    QSize sizeHint() const override;

signals:
    /// The user wants to look at a graph.
    void picked(int graph);
    /// The user is done.
    void closed();
    void compareToggled(bool on);

protected:
    void keyPressEvent(QKeyEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void showEvent(QShowEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    QWidget* makeHeader();
    void fillRanks();
    void chooseRank(int row);
    /// Selects the graph of the rank in view that is most like `like`, else the recommended one.
    void selectLike(const GraphEntry* like);
    bool selectGraph(int graph);
    int graphAt(const QModelIndex& row) const;
    void take();
    void updateButtons();
    QString title() const;

    GraphListModel* model_;
    GraphListFilter* filter_;
    QStandardItemModel* ranks_;
    DataTable* ranks_table_;
    DataTable* table_;
    QLabel* title_;
    QLabel* hint_;
    QLabel* remarks_;
    FilterField* filter_field_;
    QCheckBox* compare_;
    QPushButton* open_;
};

} // namespace gs

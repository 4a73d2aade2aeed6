// The graphs of an input as rows to pick from, and what of the input could not be read.
#pragma once

#include "import/importer.h"
#include "views/models/table_roles.h"

#include <QAbstractTableModel>
#include <QSortFilterProxyModel>

#include <memory>
#include <optional>
#include <vector>

namespace gs {

/// What a look into a file or folder found.
struct GraphListing {
    std::string path;
    GraphList list;
    Diagnostics diagnostics;
};
using GraphListingPtr = std::shared_ptr<const GraphListing>;

/// Stands for the graphs and faulty files that belong to no rank.
constexpr int32_t kNoRank = -1;

class GraphListModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Stage, CompileId, Name, Level, Nodes, Collectives, Gathers, Note, Where, ColumnCount };

    /// A graph of the list, or a file at fault.
    struct Row {
        int graph = -1;                      ///< index into GraphList::graphs; -1 = a fault
        const Diagnostic* problem = nullptr; ///< null for a graph
        int32_t rank = kNoRank;
    };
    /// A rank with its graphs.
    struct Rank {
        int32_t rank = kNoRank;
        int graphs = 0;
        int problems = 0;
        int recommended = -1; ///< the graph that opens when nobody chooses; -1 = it has none
    };

    using QAbstractTableModel::QAbstractTableModel;

    void setListing(GraphListingPtr listing);
    const GraphListingPtr& listing() const { return listing_; }
    /// Marks the graph that the panels show; -1 = none of these.
    void setShown(int graph);
    int shown() const { return shown_; }
    /// Of each rank the faults first.
    const std::vector<Row>& rows() const { return rows_; }
    /// What was found of the input as a whole, in sentences.
    QString remarks() const;
    /// In rising order; the graphs without a rank first.
    const std::vector<Rank>& ranks() const { return ranks_; }
    const GraphEntry* entry(int graph) const;
    /// Null for a rank that nothing is of.
    const Rank* rank(int32_t rank) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    bool isOfWhole(const Diagnostic& item) const;
    bool isRecommended(const Row& row) const;
    QString graphText(const GraphEntry& entry, int column) const;
    QString noteText(const Row& row) const;
    QString text(const Row& row, int column) const;
    QVariant mark(const Row& row, int column) const;

    GraphListingPtr listing_;
    std::vector<Row> rows_;
    std::vector<Rank> ranks_;
    int shown_ = -1;
};

/// The rows of one rank that have every word of a text.
class GraphListFilter : public QSortFilterProxyModel {
    Q_OBJECT
public:
    explicit GraphListFilter(GraphListModel* model);
    void setRank(int32_t rank);
    int32_t rank() const { return rank_; }
    void setText(const QString& text);

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

private:
    GraphListModel* model_;
    QStringList words_;
    int32_t rank_ = kNoRank;
};

/// What the text around a graph calls it: its stage, else its name.
const std::string& stageName(const GraphEntry& entry);
/// "after_post_grad_graph [0/0]"
QString graphTitle(const GraphEntry& entry);

} // namespace gs

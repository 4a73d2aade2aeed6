#include "views/shell/graph_picker.h"

#include "base/units.h"
#include "views/docks/cell_delegate.h"
#include "views/docks/data_table.h"
#include "views/docks/filter_field.h"
#include "views/theme.h"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QShortcut>
#include <QStandardItemModel>
#include <QToolButton>

#include <algorithm>
#include <filesystem>

namespace gs {

namespace {

/// Widths of GraphListModel's columns in pixels; 0 takes the space that is left.
const std::vector<int> kWidths = {230, 80, 220, 76, 76, 88, 88, 0, 236};
const std::vector<int> kShown = {GraphListModel::Stage, GraphListModel::CompileId,   GraphListModel::Level,
                                 GraphListModel::Nodes, GraphListModel::Collectives, GraphListModel::Gathers,
                                 GraphListModel::Note,  GraphListModel::Where};
const std::vector<int> kRankWidths = {0, 64};
constexpr int kRankTableWidth = 200;
/// Rows in view: enough to choose from, and the panels below stay in sight.
constexpr int kLeastRows = 4;
constexpr int kMostRows = 9;
/// A window gets one more row with each of these beyond what the panels want for themselves.
constexpr int kPanelsHeight = 520;
constexpr int kHeightPerRow = 40;
constexpr int kHintWidth = 1100;
constexpr int kChrome = 74; ///< heights of the two header lines and the margins

QString rankText(int32_t rank) {
    return rank == kNoRank ? GraphPicker::tr("no rank") : GraphPicker::tr("rank %1").arg(rank);
}

} // namespace

GraphPicker::GraphPicker(QWidget* parent)
    : QWidget(parent), model_(new GraphListModel(this)), filter_(new GraphListFilter(model_)),
      ranks_(new QStandardItemModel(0, 2, this)),
      ranks_table_(new DataTable(QStringLiteral("picker/ranks"), this)),
      table_(new DataTable(QStringLiteral("picker/columns"), this)) {
    setObjectName(QStringLiteral("picker"));
    setAccessibleName(tr("Graphs of this input"));
    filter_->setParent(this);
    ranks_->setHorizontalHeaderLabels({tr("rank"), tr("graphs")});
    ranks_table_->setUp(ranks_, kRankWidths, {0, 1});
    ranks_table_->setSortingEnabled(false);
    ranks_table_->setSelectionMode(QAbstractItemView::SingleSelection);
    ranks_table_->setAccessibleName(tr("Ranks"));
    ranks_table_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    ranks_table_->setFixedWidth(kRankTableWidth);
    table_->setUp(filter_, kWidths, kShown);
    table_->setSelectionMode(QAbstractItemView::SingleSelection);
    table_->setAccessibleName(tr("Graphs of the rank"));
    remarks_ = new QLabel(this);
    remarks_->setProperty("role", "caption");
    remarks_->setWordWrap(true);
    remarks_->setContentsMargins(10, 0, 10, 6);
    auto* body = new QHBoxLayout;
    body->setSpacing(9);
    body->addWidget(ranks_table_);
    body->addWidget(table_, 1);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(2, 2, 2, 4);
    layout->setSpacing(0);
    layout->addWidget(makeHeader());
    layout->addWidget(remarks_);
    layout->addLayout(body, 1);

    connect(ranks_table_, &DataTable::rowChosen, this,
            [this](const QModelIndex& index) { chooseRank(index.row()); });
    connect(table_, &DataTable::rowChosen, this, &GraphPicker::updateButtons);
    connect(table_, &QAbstractItemView::clicked, this, [this] {
        if (current() >= 0)
            emit picked(current());
    });
    connect(table_, &QAbstractItemView::doubleClicked, this, &GraphPicker::take);
    for (const int key : {Qt::Key_Return, Qt::Key_Enter}) {
        auto* enter = new QShortcut(QKeySequence(key), table_);
        enter->setContext(Qt::WidgetShortcut);
        connect(enter, &QShortcut::activated, this, &GraphPicker::take);
    }
    for (DataTable* table : {ranks_table_, table_})
        table->installEventFilter(this);
}

QWidget* GraphPicker::makeHeader() {
    auto* bar = new QWidget(this);
    title_ = new QLabel(bar);
    title_->setProperty("role", "panelTitle");
    hint_ = new QLabel(tr("Click a graph to look at it, Enter to be done"), bar);
    hint_->setProperty("role", "caption");
    filter_field_ = new FilterField(this);
    filter_field_->setFixedWidth(180);
    connect(filter_field_, &FilterField::filterChanged, this, [this](const QString& text) {
        const int graph = current();
        filter_->setText(text);
        if (!selectGraph(graph) && filter_->rowCount() > 0)
            table_->showRow(0);
        updateButtons();
    });
    connect(filter_field_, &FilterField::left, this, [this] { table_->setFocus(Qt::OtherFocusReason); });
    compare_ = new QCheckBox(tr("Compare with the other ranks"), bar);
    compare_->setToolTip(tr("Of every rank the graphs that run are compared in the Ranks panel: of each "
                            "compile id the last stage"));
    connect(compare_, &QCheckBox::clicked, this, &GraphPicker::compareToggled);
    open_ = new QPushButton(tr("Open"), bar);
    open_->setProperty("role", "primary");
    connect(open_, &QPushButton::clicked, this, &GraphPicker::take);
    auto* close = new QToolButton(bar);
    close->setProperty("role", "title");
    close->setText(QStringLiteral("✕"));
    close->setToolTip(tr("Close this list (Esc)"));
    close->setAccessibleName(tr("Close"));
    connect(close, &QToolButton::clicked, this, &GraphPicker::closed);
    auto* row = new QHBoxLayout(bar);
    row->setContentsMargins(10, 6, 6, 6);
    row->setSpacing(10);
    row->addWidget(title_);
    row->addWidget(hint_);
    row->addStretch(1);
    row->addWidget(compare_);
    row->addWidget(filter_field_);
    row->addWidget(open_);
    row->addWidget(close);
    return bar;
}

void GraphPicker::setListing(const GraphListingPtr& listing, int graph) {
    filter_field_->clear();
    filter_->setText({});
    model_->setListing(listing);
    title_->setText(title());
    remarks_->setText(model_->remarks());
    remarks_->setVisible(!remarks_->text().isEmpty());
    fillRanks();
    const GraphEntry* entry = model_->entry(graph);
    if (!entry && listing)
        entry = model_->entry(static_cast<int>(listing->list.preferred));
    int row = 0;
    for (size_t i = 0; entry && i < model_->ranks().size(); ++i)
        row = model_->ranks()[i].rank == entry->rank ? static_cast<int>(i) : row;
    ranks_table_->showRow(ranks_->rowCount() > 0 ? row : -1);
    if (entry)
        filter_->setRank(entry->rank);
    table_->sortByColumn(-1, Qt::AscendingOrder);
    if (!selectGraph(graph))
        selectLike(entry);
    updateGeometry();
    updateButtons();
}

QString GraphPicker::title() const {
    if (!model_->listing())
        return {};
    const std::filesystem::path path(model_->listing()->path);
    const auto name =
        QString::fromStdString((path.has_filename() ? path : path.parent_path()).filename().string());
    const auto ranks = std::count_if(model_->ranks().begin(), model_->ranks().end(), [](const auto& rank) {
        return rank.rank != kNoRank && rank.graphs > 0;
    });
    const size_t graphs = model_->listing()->list.graphs.size();
    const QString count =
        tr("%1 graphs").arg(QString::fromStdString(formatCount(static_cast<int64_t>(graphs))));
    return ranks > 1 ? tr("%1: %2 of %3 ranks").arg(name, count).arg(ranks) : tr("%1: %2").arg(name, count);
}

void GraphPicker::fillRanks() {
    ranks_->setRowCount(0);
    for (const GraphListModel::Rank& rank : model_->ranks()) {
        auto* name = new QStandardItem(rankText(rank.rank));
        if (rank.problems > 0) {
            name->setData(static_cast<int>(Mark::Warning), MarkRole);
            name->setToolTip(tr("%n file(s) of it could not be read in full", nullptr, rank.problems));
        }
        auto* count = new QStandardItem(QString::fromStdString(formatCount(rank.graphs)));
        count->setData(true, NumericRole);
        count->setData(true, MutedRole);
        count->setData(int(Qt::AlignRight | Qt::AlignVCenter), Qt::TextAlignmentRole);
        ranks_->appendRow({name, count});
    }
    ranks_->horizontalHeaderItem(1)->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
    ranks_table_->setVisible(ranks_->rowCount() > 1);
    compare_->setVisible(ranks_->rowCount() > 1);
}

void GraphPicker::chooseRank(int row) {
    if (row < 0 || row >= static_cast<int>(model_->ranks().size()))
        return;
    const GraphEntry* like = model_->entry(current());
    filter_->setRank(model_->ranks()[static_cast<size_t>(row)].rank);
    selectLike(like);
    updateButtons();
}

void GraphPicker::selectLike(const GraphEntry* like) {
    for (const GraphListModel::Row& row : model_->rows()) {
        const GraphEntry* entry = model_->entry(row.graph);
        if (like && entry && row.rank == filter_->rank() && stageName(*entry) == stageName(*like) &&
            entry->compile_id == like->compile_id && selectGraph(row.graph))
            return;
    }
    const GraphListModel::Rank* rank = model_->rank(filter_->rank());
    if (!selectGraph(rank ? rank->recommended : -1))
        table_->showRow(filter_->rowCount() > 0 ? 0 : -1);
}

/// False if the graph is not among the rows in view.
bool GraphPicker::selectGraph(int graph) {
    if (graph < 0)
        return false;
    for (int row = 0; row < filter_->rowCount(); ++row) {
        if (graphAt(filter_->index(row, 0)) == graph) {
            table_->doItemsLayout(); // else the scroll bar knows the old rows only
            table_->showRow(row);
            table_->scrollToTop(); // faults lie there
            table_->scrollTo(filter_->index(row, 0));
            return true;
        }
    }
    return false;
}

int GraphPicker::graphAt(const QModelIndex& row) const {
    const QModelIndex index = filter_->mapToSource(row);
    return index.isValid() ? model_->rows()[static_cast<size_t>(index.row())].graph : -1;
}

void GraphPicker::setShown(int graph) {
    model_->setShown(graph);
}

void GraphPicker::setComparing(bool on) {
    compare_->setChecked(on);
}

int GraphPicker::current() const {
    return graphAt(table_->currentIndex());
}

void GraphPicker::take() {
    const int graph = current();
    if (graph < 0)
        return;
    emit picked(graph);
    emit closed();
}

void GraphPicker::updateButtons() {
    open_->setEnabled(current() >= 0);
    table_->setEmptyText(filter_field_->text().isEmpty() ? tr("This rank has no graph.")
                                                         : tr("No graph of this rank has these words."));
}

QSize GraphPicker::sizeHint() const {
    const int room = std::clamp((window()->height() - kPanelsHeight) / kHeightPerRow, kLeastRows, kMostRows);
    const auto most = std::max(static_cast<int>(model_->ranks().size()), filter_->rowCount());
    return {900, kChrome + (remarks_->isHidden() ? 0 : remarks_->sizeHint().height()) +
                     std::clamp(most, kLeastRows, room) * CellDelegate::kRowHeight};
}

void GraphPicker::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    selectGraph(current()); // what is in view depends on the size
}

void GraphPicker::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    hint_->setVisible(width() >= kHintWidth);
}

void GraphPicker::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape)
        emit closed();
    else
        QWidget::keyPressEvent(event);
}

/// Left and right lead from the ranks to their graphs and back.
bool GraphPicker::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() != QEvent::KeyPress || ranks_table_->isHidden())
        return QWidget::eventFilter(watched, event);
    const int key = static_cast<QKeyEvent*>(event)->key();
    if (watched == ranks_table_ && (key == Qt::Key_Right || key == Qt::Key_Return || key == Qt::Key_Enter)) {
        table_->setFocus(Qt::OtherFocusReason);
        return true;
    }
    if (watched == table_ && key == Qt::Key_Left) {
        ranks_table_->setFocus(Qt::OtherFocusReason);
        return true;
    }
    return QWidget::eventFilter(watched, event);
}

void GraphPicker::paintEvent(QPaintEvent*) {
    const Theme& theme = Theme::current();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(theme.border);
    painter.setBrush(theme.panel);
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6);
    if (ranks_table_->isVisible())
        painter.fillRect(
            QRect(ranks_table_->geometry().right() + 4, ranks_table_->y(), 1, ranks_table_->height()),
            theme.border);
}

} // namespace gs

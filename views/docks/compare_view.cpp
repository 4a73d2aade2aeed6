#include "views/docks/compare_view.h"

#include "base/units.h"
#include "views/docks/chip.h"
#include "views/docks/compare_bar.h"
#include "views/docks/compare_cells.h"
#include "views/docks/data_table.h"
#include "views/docks/filter_field.h"
#include "views/theme.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QShortcut>
#include <QSplitter>

namespace gs {

namespace {

using Kind = CompareCommand::Kind;

/// Widths of CompareModel's columns in pixels; 0 takes the space that is left.
const std::vector<int> kWidths = {38, 58, 28, 28, 0, 80, 84, 88, 144, 72, 82, 84, 76, 64, 64, 70, 68};
const std::vector<int> kShown = {CompareModel::State,     CompareModel::Base,       CompareModel::PinA,
                                 CompareModel::PinB,      CompareModel::Variant,    CompareModel::Hidden,
                                 CompareModel::Exposed,   CompareModel::ExposedSum, CompareModel::Step,
                                 CompareModel::Change,    CompareModel::Gap,        CompareModel::Peak,
                                 CompareModel::Displaced, CompareModel::Run};
const std::vector<int> kDiffWidths = {0, 140, 96, 140, 96, 96, 100, 220};
const std::vector<int> kDiffShown = {CompareDiffModel::Gather,   CompareDiffModel::PlaceA,
                                     CompareDiffModel::ExposedA, CompareDiffModel::PlaceB,
                                     CompareDiffModel::ExposedB, CompareDiffModel::Change,
                                     CompareDiffModel::Differs};

QString time(int64_t ns) {
    return QString::fromStdString(formatTime(ns));
}

} // namespace

CompareView::CompareView(QWidget* parent)
    : View(parent), model_(new CompareModel(this)), filter_(new CompareFilter(model_)),
      diff_model_(new CompareDiffModel(this)), diff_filter_(new CompareDiffFilter(diff_model_)),
      bar_(new CompareBar(this)), splitter_(new QSplitter(Qt::Vertical, this)),
      table_(new DataTable(QStringLiteral("compare/columns"), splitter_)) {
    table_->setAccessibleName(tr("Variants"));
    table_->setItemDelegate(new CompareCells(table_));
    table_->setUp(filter_, kWidths, kShown);
    table_->sortByColumn(CompareModel::Step, Qt::AscendingOrder);
    table_->setMouseTracking(true);
    table_->setSelectionMode(QAbstractItemView::SingleSelection);
    splitter_->addWidget(table_);
    splitter_->addWidget(diff_panel_ = makeDiffPanel());
    splitter_->setChildrenCollapsible(false);
    splitter_->setHandleWidth(7);
    diff_panel_->hide();
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(bar_);
    layout->addWidget(splitter_, 1);
    setFocusProxy(table_);
    connectTable();
    setCompare(std::make_shared<CompareState>());
    snapshotChanged();
}

QWidget* CompareView::makeDiffPanel() {
    auto* panel = new QWidget(splitter_);
    panel->setBackgroundRole(QPalette::Base);
    panel->setAutoFillBackground(true);
    diff_title_ = new QLabel(panel);
    diff_title_->setTextFormat(Qt::PlainText);
    diff_title_->setWordWrap(true);
    differing_ = new Chip(tr("differing"), Mark::Moved, panel);
    differing_->setChecked(true);
    diff_table_ = new DataTable(QStringLiteral("compare/diff_columns"), panel);
    diff_table_->setAccessibleName(tr("Gathers of A and B"));
    diff_table_->setUp(diff_filter_, kDiffWidths, kDiffShown);
    auto* head = new QHBoxLayout;
    head->setContentsMargins(10, 5, 10, 4);
    head->setSpacing(10);
    head->addWidget(differing_);
    head->addWidget(diff_title_, 1);
    auto* layout = new QVBoxLayout(panel);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addLayout(head);
    layout->addWidget(diff_table_);
    connect(differing_, &QAbstractButton::toggled, this, [this](bool on) {
        diff_filter_->setDifferingOnly(on);
        showSelection();
    });
    connect(diff_table_, &DataTable::rowChosen, this, [this](const QModelIndex& index) {
        const GatherDiffRow& row = diff_model_->row(diff_filter_->mapToSource(index).row());
        emit selectionRequested({Selection::Kind::Gather, QString::fromStdString(row.name)});
    });
    return panel;
}

void CompareView::connectTable() {
    connect(bar_, &CompareBar::runAllClicked, this, [this] { emit compareRequested({Kind::RunAll, 0, {}}); });
    connect(bar_, &CompareBar::searchClicked, this, [this](const SearchLimits& limits) {
        emit compareRequested({Kind::Search, 0, limits});
    });
    connect(bar_, &CompareBar::cancelClicked, this, [this] { emit compareRequested({Kind::Cancel, 0, {}}); });
    connect(bar_, &CompareBar::useClicked, this, [this] {
        if (state_->search)
            lookAt(state_->search->best);
    });
    connect(bar_->filterField(), &FilterField::filterChanged, filter_, &CompareFilter::setText);
    connect(bar_->filterField(), &FilterField::left, table_, [this] { table_->setFocus(); });
    connect(table_, &QAbstractItemView::clicked, this, &CompareView::clicked);
    connect(table_, &DataTable::menuOpening, this, &CompareView::addMenu);
    for (const Qt::Key key : {Qt::Key_Return, Qt::Key_Enter}) {
        auto* look = new QShortcut(QKeySequence(key), table_);
        look->setContext(Qt::WidgetShortcut);
        connect(look, &QShortcut::activated, this, [this] { lookAt(table_->currentIndex()); });
    }
    addKey(Qt::Key_B, Kind::MakeBaseline);
    addKey(Qt::Key_1, Kind::PinA);
    addKey(Qt::Key_2, Kind::PinB);
    addKey(Qt::Key_Delete, Kind::Remove);
}

void CompareView::addKey(int key, Kind kind) {
    auto* shortcut = new QShortcut(QKeySequence(key), table_);
    shortcut->setContext(Qt::WidgetShortcut);
    connect(shortcut, &QShortcut::activated, this, [this, kind] { ask(kind, table_->currentIndex()); });
}

void CompareView::ask(Kind kind, const QModelIndex& index) {
    if (index.isValid())
        emit compareRequested({kind, model_->entry(filter_->mapToSource(index).row()).id, {}});
}

void CompareView::lookAt(uint64_t id) {
    const CompareEntry* entry = state_->find(id);
    if (entry && id != state_->current && !entry->row.error) {
        AnalysisRequest request = entry->row.request;
        if (snapshot()) // what lies over the picture stays there
            request.trace_files = snapshot()->request.trace_files;
        emit requestRequested(request, tr("Look at %1").arg(schedulerTitle(entry->row.scheduler)));
    }
}

void CompareView::lookAt(const QModelIndex& index) {
    if (index.isValid())
        lookAt(model_->entry(filter_->mapToSource(index).row()).id);
}

void CompareView::clicked(const QModelIndex& index) {
    switch (index.column()) {
    case CompareModel::Base:
        ask(Kind::MakeBaseline, index);
        break;
    case CompareModel::PinA:
        ask(Kind::PinA, index);
        break;
    case CompareModel::PinB:
        ask(Kind::PinB, index);
        break;
    default:
        lookAt(index);
    }
}

void CompareView::addMenu(QMenu* menu, const QModelIndex& index) {
    const QPersistentModelIndex at(index);
    QAction* look = menu->addAction(tr("Look at it"));
    look->setShortcut(Qt::Key_Return);
    look->setEnabled(index.isValid());
    connect(look, &QAction::triggered, this, [this, at] { lookAt(QModelIndex(at)); });
    const auto add = [&](const QString& text, Kind kind, const QKeySequence& keys) {
        QAction* action = menu->addAction(text);
        action->setShortcut(keys);
        action->setEnabled(index.isValid());
        connect(action, &QAction::triggered, this, [this, at, kind] { ask(kind, at); });
    };
    add(tr("Make it the baseline"), Kind::MakeBaseline, Qt::Key_B);
    add(tr("Pin as A"), Kind::PinA, Qt::Key_1);
    add(tr("Pin as B"), Kind::PinB, Qt::Key_2);
    add(tr("Remove"), Kind::Remove, Qt::Key_Delete);
    QAction* all = menu->addAction(tr("Remove all others"));
    all->setToolTip(tr("Keeps what is shown, the baseline and the pins"));
    all->setEnabled(model_->rowCount() > 2);
    connect(all, &QAction::triggered, this, [this] { emit compareRequested({Kind::RemoveAll, 0, {}}); });
}

bool CompareView::busy() const {
    return state_->job != CompareState::Job::None || state_->comparing;
}

void CompareView::setCompare(const CompareStatePtr& state) {
    state_ = state;
    model_->setState(state);
    const CompareEntry* best = state->search ? state->find(state->search->best) : nullptr;
    QString words;
    if (best)
        words = tr("%1, step %2 (%3 over its bound), peak %4")
                    .arg(model_->label(*best), time(best->row.step_ns),
                         QString::fromStdString(formatPercent(best->row.gap(), true)),
                         QString::fromStdString(formatBytes(best->row.peak_held_bytes)));
    bar_->setState(*state, words);
    bar_->setOpen(!state->entries.empty() && state->job == CompareState::Job::None);
    updateDiff();
    updateEmptyText();
}

void CompareView::updateDiff() {
    const CompareEntry* a = state_->find(state_->pin_a);
    const CompareEntry* b = state_->find(state_->pin_b);
    diff_panel_->setVisible(a && b);
    diff_model_->setDiff(a && b ? state_->diff : nullptr);
    if (!a || !b)
        return;
    const GatherDiff* diff = diff_model_->diff();
    differing_->setCount(diff ? static_cast<int>(diff->changed) : 0);
    if (!diff) {
        diff_title_->setText(QString());
        diff_table_->setEmptyText(state_->comparing ? tr("Comparing A and B…")
                                                    : tr("A and B could not be compared."));
        return;
    }
    diff_title_->setText(tr("A %1  →  B %2   ·   exposed by gathers %3 → %4, by others %5 → %6")
                             .arg(model_->label(*a), model_->label(*b), time(diff->gathers_a_ns),
                                  time(diff->gathers_b_ns), time(diff->others_a_ns),
                                  time(diff->others_b_ns)));
    diff_title_->setToolTip(diff_title_->text());
    diff_table_->setEmptyText(diff->rows.empty() ? tr("This graph has no all-gathers.")
                                                 : tr("No gather differs."));
}

QString CompareView::diffTitle() const {
    return diff_panel_->isHidden() ? QString() : diff_title_->text();
}

void CompareView::snapshotChanged() {
    updateEmptyText();
}

void CompareView::updateEmptyText() {
    table_->setEmptyText(state_->entries.empty()
                             ? tr("No graph is open. Whatever is tried on one is listed here.")
                             : tr("No variant matches the filter."));
}

void CompareView::selectionChanged() {
    showSelection();
}

void CompareView::showSelection() {
    const int row = diff_model_->rowOf(selection().name);
    diff_table_->showRow(row < 0 ? -1 : diff_filter_->mapFromSource(diff_model_->index(row, 0)).row());
}

} // namespace gs

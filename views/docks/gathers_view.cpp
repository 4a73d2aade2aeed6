#include "views/docks/gathers_view.h"

#include "views/docks/chip.h"
#include "views/docks/data_table.h"
#include "views/docks/filter_field.h"
#include "views/docks/flow_layout.h"
#include "views/timeline/launch_menu.h"

#include <QMenu>
#include <QVBoxLayout>
#include <algorithm>

namespace gs {

namespace {

/// Widths of GathersModel's columns in pixels; 0 takes the space that is left.
const std::vector<int> kWidths = {28, 0, 52, 96, 76, 102, 150, 70, 68, 70, 70, 124, 104, 66, 170, 200};
const std::vector<int> kShown = {GathersModel::State,  GathersModel::Parameter, GathersModel::Bytes,
                                 GathersModel::Place,  GathersModel::Need,      GathersModel::Window,
                                 GathersModel::Exposed};

} // namespace

GathersView::GathersView(QWidget* parent)
    : View(parent), model_(new GathersModel(this)), filter_(new GathersFilter(this)),
      table_(new DataTable(QStringLiteral("gathers/columns"), this)), field_(new FilterField(this)) {
    filter_->setModel(model_);
    table_->setAccessibleName(tr("Gathers"));
    table_->setUp(filter_, kWidths, kShown);

    auto* bar = new QWidget(this);
    bar->setBackgroundRole(QPalette::Base);
    bar->setAutoFillBackground(true);
    auto* flow = new FlowLayout(bar);
    flow->setContentsMargins(10, 6, 10, 4);
    flow->setStretchLast(true);
    const std::array<QString, GathersFilter::ChipCount> names = {
        tr("hidden"), tr("compute-limited"), tr("not candidates"), tr("in flight at entry"),
        tr("moved"),  tr("exposed")};
    const std::array<Mark, GathersFilter::ChipCount> marks = {
        Mark::Hidden, Mark::Limited, Mark::NotCandidate, Mark::InFlight, Mark::Moved, Mark::Exposed};
    for (const GathersFilter::Chip kind :
         {GathersFilter::Hidden, GathersFilter::ComputeLimited, GathersFilter::Moved, GathersFilter::Exposed,
          GathersFilter::InFlight, GathersFilter::NotCandidate}) {
        auto* chip = new Chip(names[kind], marks[kind], bar);
        chips_[kind] = chip;
        flow->addWidget(chip);
        connect(chip, &QAbstractButton::toggled, this, [this, kind](bool on) {
            filter_->setChip(kind, on);
            showSelection();
        });
    }
    flow->addWidget(field_);

    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(bar);
    layout->addWidget(table_);

    connect(field_, &FilterField::filterChanged, this, [this](const QString& text) {
        filter_->setText(text);
        showSelection();
    });
    connect(field_, &FilterField::left, table_, [this] { table_->setFocus(); });
    connect(table_, &DataTable::rowChosen, this, [this](const QModelIndex& index) {
        const QModelIndex source = filter_->mapToSource(index);
        const GathersModel::Row& row = model_->rows()[static_cast<size_t>(source.row())];
        emit selectionRequested({row.in_flight ? Selection::Kind::Node : Selection::Kind::Gather, row.name});
    });
    connect(table_, &DataTable::menuOpening, this, &GathersView::addMenu);
    updateEmptyText();
}

/// The same changes by hand as on the timeline.
void GathersView::addMenu(QMenu* menu, const QModelIndex& index) {
    if (!snapshot())
        return;
    NodeId launch = kNoNode;
    if (index.isValid()) {
        const QModelIndex source = filter_->mapToSource(index);
        const GathersModel::Row& row = model_->rows()[static_cast<size_t>(source.row())];
        if (!row.in_flight) // the graph does not launch those
            launch = snapshot()->after.graph->find(row.name.toStdString()).value_or(kNoNode);
    }
    addLaunchActions(*menu, *this, launch);
}

void GathersView::step(int by) {
    const int rows = filter_->rowCount();
    if (rows == 0)
        return;
    const QModelIndex current = table_->currentIndex();
    table_->selectRow(current.isValid() ? std::clamp(current.row() + by, 0, rows - 1) : 0);
}

void GathersView::snapshotChanged() {
    model_->setSnapshot(snapshot());
    const auto counts = filter_->counts();
    for (size_t i = 0; i < chips_.size(); ++i) {
        chips_[i]->setCount(counts[i]);
        // An empty chip says nothing; a pressed one must stay to be released.
        const bool always = i == GathersFilter::Hidden || i == GathersFilter::ComputeLimited;
        chips_[i]->setVisible(always || counts[i] > 0 || chips_[i]->isChecked());
    }
    updateEmptyText();
    showSelection();
}

void GathersView::selectionChanged() {
    showSelection();
}

void GathersView::updateEmptyText() {
    if (!snapshot())
        table_->setEmptyText(tr("No graph is open. Open a file or one of the samples."));
    else if (model_->rowCount() == 0)
        table_->setEmptyText(tr("This graph has no all-gathers."));
    else
        table_->setEmptyText(tr("No gather matches the filter."));
}

void GathersView::showSelection() {
    int row = -1;
    if (selection().kind == Selection::Kind::Gather)
        row = model_->rowOf(selection().name);
    if (row < 0 && selection().kind != Selection::Kind::None && snapshot()) {
        // A wait or unpack of a gather stands for it.
        const auto& program = snapshot()->after;
        const auto id = program.graph->find(selection().name.toStdString());
        const int32_t collective = id ? program.collectives->indexOf(*id) : -1;
        if (collective >= 0) {
            const Collective& item = (*program.collectives)[static_cast<size_t>(collective)];
            const std::string_view name =
                program.graph->name(item.inFlightAtEntry() ? item.input : item.launch);
            row = model_->rowOf(QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size())));
        }
    }
    table_->showRow(row < 0 ? -1 : filter_->mapFromSource(model_->index(row, 0)).row());
}

} // namespace gs

#include "views/profile/cost_changes_table.h"

#include "views/docks/chip.h"
#include "views/docks/data_table.h"
#include "views/docks/filter_field.h"
#include "views/models/cost_filter.h"

#include <QHBoxLayout>

namespace gs {

namespace {

/// Widths of CostChangesModel's columns in pixels; 0 takes the space that is left.
const std::vector<int> kWidths = {104, 0, 50, 90, 90, 104, 108, 98, 102, 70, 74, 80, 200};
const std::vector<int> kOfMeasurement = {
    CostChangesModel::Kind, CostChangesModel::Label,     CostChangesModel::Calls,
    CostChangesModel::Old,  CostChangesModel::New,       CostChangesModel::Ratio,
    CostChangesModel::Step, CostChangesModel::OldSource, CostChangesModel::NewSource};
const std::vector<int> kOfProfiles = {CostChangesModel::Label, CostChangesModel::Calls,
                                      CostChangesModel::Old,   CostChangesModel::New,
                                      CostChangesModel::Ratio, CostChangesModel::Step};

} // namespace

CostChangesTable::CostChangesTable(Of of, QWidget* parent)
    : QWidget(parent), of_(of), model_(new CostChangesModel(this)), filter_(new CostFilter(model_)),
      table_(new DataTable(
          of == Of::Profiles ? QStringLiteral("profile/compare") : QStringLiteral("profile/changes"), this)),
      slower_(new Chip(tr("slower"), Mark::Exposed, this)),
      faster_(new Chip(tr("faster"), Mark::Hidden, this)),
      other_(new Chip(of == Of::Profiles ? tr("in one only") : tr("not measured"), Mark::NotCandidate, this)),
      field_(new FilterField(this)) {
    if (of == Of::Profiles)
        model_->setNames(tr("A"), tr("B"), tr("B ÷ A"));
    table_->setAccessibleName(of == Of::Profiles ? tr("Costs of both profiles")
                                                 : tr("Costs until now and measured"));
    table_->setUp(filter_, kWidths, of == Of::Profiles ? kOfProfiles : kOfMeasurement);
    table_->setEmptyText(tr("No cost matches the filter."));
    auto* bar = new QHBoxLayout;
    bar->setContentsMargins(0, 0, 0, 0);
    bar->setSpacing(8);
    for (Chip* chip : {slower_, faster_, other_})
        bar->addWidget(chip);
    bar->addStretch(1);
    field_->setFixedWidth(200);
    bar->addWidget(field_);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(8);
    layout->addLayout(bar);
    layout->addWidget(table_, 1);
    const int other = of == Of::Profiles ? CostChangesModel::OneSided : CostChangesModel::Unmeasured;
    for (const auto& [chip, kind] :
         {std::pair(slower_, int(CostChangesModel::Slower)),
          std::pair(faster_, int(CostChangesModel::Faster)), std::pair(other_, other)})
        connect(chip, &QAbstractButton::toggled, filter_,
                [filter = filter_, kind = kind](bool on) { filter->setWanted(kind, on); });
    connect(field_, &FilterField::filterChanged, filter_, &CostFilter::setText);
    connect(field_, &FilterField::left, table_, [this] { table_->setFocus(Qt::OtherFocusReason); });
}

void CostChangesTable::setChanges(std::vector<CostChange> changes) {
    model_->setChanges(std::move(changes));
    slower_->setCount(model_->count(CostChangesModel::Slower));
    faster_->setCount(model_->count(CostChangesModel::Faster));
    other_->setCount(
        model_->count(of_ == Of::Profiles ? CostChangesModel::OneSided : CostChangesModel::Unmeasured));
}

} // namespace gs

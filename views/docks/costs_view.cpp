#include "views/docks/costs_view.h"

#include "base/units.h"
#include "cost/cost_sources.h"
#include "cost/profile_store.h"
#include "views/docks/chip.h"
#include "views/docks/data_table.h"
#include "views/docks/filter_field.h"
#include "views/docks/flow_layout.h"
#include "views/profile/profile_comparison.h"
#include "views/theme.h"

#include <QActionGroup>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QShortcut>
#include <QStackedWidget>
#include <QVBoxLayout>

namespace gs {

namespace {

/// Widths of CostsModel's columns in pixels; 0 takes the space that is left.
const std::vector<int> kWidths = {92, 0, 46, 86, 100, 98, 102, 90, 160, 74, 74, 84, 84};
const std::vector<int> kShown = {CostsModel::Label, CostsModel::Calls, CostsModel::PerCall, CostsModel::Share,
                                 CostsModel::Source};

QString name(std::string_view view) {
    return QString::fromUtf8(view.data(), static_cast<qsizetype>(view.size()));
}

} // namespace

CostsView::CostsView(QWidget* parent)
    : View(parent), model_(new CostsModel(this)), filter_(new CostFilter(model_)),
      table_(new DataTable(QStringLiteral("costs/columns"), this)), field_(new FilterField(this)),
      missing_(new Chip(tr("missing"), Mark::Limited, this)),
      edited_(new Chip(tr("edited"), Mark::Moved, this)),
      against_model_(new Chip(tr("against the model"), Mark::Info, this)), totals_(new QLabel(this)),
      profile_(new QPushButton(tr("Re-profile…"), this)),
      compare_(new QPushButton(tr("Compare profiles"), this)), stack_(new QStackedWidget(this)),
      comparison_(new ProfileComparison(this)) {
    table_->setAccessibleName(tr("Costs"));
    table_->setUp(filter_, kWidths, kShown);
    table_->setEditTriggers(QAbstractItemView::EditKeyPressed);
    totals_->setFont(Theme::font(11));
    totals_->setForegroundRole(QPalette::PlaceholderText);

    auto* costs = new QWidget(this);
    auto* layout = new QVBoxLayout(costs);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(makeBar());
    layout->addWidget(table_);
    stack_->addWidget(costs);
    stack_->addWidget(comparison_);
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    outer->addWidget(stack_);

    auto* profiles = new QMenu(compare_);
    compare_->setMenu(profiles);
    compare_->setToolTip(tr("Show the profile in use against another one of its store"));
    connect(profiles, &QMenu::aboutToShow, this, [this, profiles] { fillCompareMenu(profiles); });
    connect(comparison_, &ProfileComparison::closed, this, [this] { compareWith(0); });

    profile_->setToolTip(tr("Measure these costs on real devices"));
    profile_->setCursor(Qt::PointingHandCursor);
    connect(profile_, &QPushButton::clicked, this, &CostsView::profileRequested);
    connect(missing_, &QAbstractButton::toggled, filter_,
            [this](bool on) { filter_->setWanted(CostsModel::Missing, on); });
    connect(against_model_, &QAbstractButton::toggled, this, &CostsView::showAgainstModel);
    connect(edited_, &QAbstractButton::toggled, filter_,
            [this](bool on) { filter_->setWanted(CostsModel::Edited, on); });
    connect(field_, &FilterField::filterChanged, filter_, &CostFilter::setText);
    connect(field_, &FilterField::left, table_, [this] { table_->setFocus(); });
    connect(table_, &QAbstractItemView::doubleClicked, this, &CostsView::editRow);
    connect(table_, &DataTable::menuOpening, this, &CostsView::addMenu);
    connect(model_, &CostsModel::costEdited, this, &View::costEditRequested);
    connect(table_, &DataTable::rowChosen, this, [this](const QModelIndex& index) {
        const CostEntry& entry = model_->entry(filter_->mapToSource(index).row());
        if (entry.nodes.empty())
            return;
        const NodeId node = entry.nodes.front();
        emit selectionRequested(
            {snapshot()->decisionFor(node) ? Selection::Kind::Gather : Selection::Kind::Node,
             name(snapshot()->after.graph->name(node))});
    });
    for (const Qt::Key key : {Qt::Key_Return, Qt::Key_Enter}) {
        auto* edit = new QShortcut(QKeySequence(key), table_);
        edit->setContext(Qt::WidgetShortcut);
        connect(edit, &QShortcut::activated, this, [this] { editRow(table_->currentIndex()); });
    }
    auto* reset = new QShortcut(QKeySequence(Qt::Key_Delete), table_);
    reset->setContext(Qt::WidgetShortcut);
    connect(reset, &QShortcut::activated, this, [this] { resetRow(table_->currentIndex()); });
    snapshotChanged();
}

QWidget* CostsView::makeBar() {
    auto* bar = new QWidget(this);
    bar->setBackgroundRole(QPalette::Base);
    bar->setAutoFillBackground(true);
    auto* flow = new FlowLayout(bar, 8);
    flow->setContentsMargins(10, 6, 10, 4);
    flow->setStretchLast(true);
    for (QWidget* widget : std::initializer_list<QWidget*>{missing_, edited_, against_model_, totals_,
                                                           profile_, compare_, field_})
        flow->addWidget(widget);
    return bar;
}

void CostsView::editRow(const QModelIndex& index) {
    if (!index.isValid())
        return;
    if (table_->isColumnHidden(CostsModel::PerCall))
        table_->setColumnShown(CostsModel::PerCall, true);
    const QModelIndex cell = index.siblingAtColumn(CostsModel::PerCall);
    table_->setCurrentIndex(cell);
    table_->edit(cell);
}

void CostsView::resetRow(const QModelIndex& index) {
    if (!index.isValid())
        return;
    const int row = filter_->mapToSource(index).row();
    if (model_->edited(row))
        emit costEditRequested(QString::fromStdString(model_->entry(row).key), -1);
}

void CostsView::addMenu(QMenu* menu, const QModelIndex& index) {
    QAction* edit = menu->addAction(tr("Edit time per call…"));
    QAction* reset = menu->addAction(tr("Take the edit back"));
    edit->setEnabled(index.isValid());
    reset->setEnabled(index.isValid() && model_->edited(filter_->mapToSource(index).row()));
    const QPersistentModelIndex at(index);
    if (index.isValid())
        addPinMenu(menu, filter_->mapToSource(index).row());
    connect(edit, &QAction::triggered, this, [this, at] { editRow(at); });
    connect(reset, &QAction::triggered, this, [this, at] { resetRow(at); });
}

void CostsView::addPinMenu(QMenu* menu, int row) {
    QMenu* pins = menu->addMenu(tr("Take this cost from"));
    pins->setObjectName(QStringLiteral("pins"));
    auto* group = new QActionGroup(pins);
    const QString now = model_->pinned(row);
    const auto add = [&](const QString& title, const std::string& source, bool checked) {
        QAction* action = pins->addAction(title);
        action->setCheckable(true);
        action->setChecked(checked);
        group->addAction(action);
        connect(action, &QAction::triggered, this, [this, row, source] { pinRow(row, source); });
    };
    add(tr("As the chain says"), {}, now.isEmpty());
    pins->addSeparator();
    for (const CostSourceInfo& info : costSources())
        add(name(info.name), std::string(info.name), now == name(info.name));
}

void CostsView::pinRow(int row, const std::string& source) {
    if (!snapshot() || row >= model_->rowCount())
        return;
    AnalysisRequest request = snapshot()->request;
    const std::string& key = model_->entry(row).key;
    if (source.empty())
        request.cost_pins.erase(key);
    else
        request.cost_pins[key] = source;
    emit requestRequested(request, source.empty()
                                       ? tr("Take cost as the chain says")
                                       : tr("Take cost from %1").arg(QString::fromStdString(source)));
}

void CostsView::showAgainstModel(bool on) {
    for (const int column : {CostsModel::Analytical, CostsModel::Ratio})
        table_->setColumnShown(column, on);
}

/// The store of the profile in use; empty if there is none.
static std::string storeOf(const SnapshotPtr& snapshot) {
    const std::string store(snapshot ? snapshot->request.settings.text(Setting::ProfileStore) : "none");
    return store == "none" ? std::string() : store;
}

void CostsView::fillCompareMenu(QMenu* menu) {
    menu->clear();
    const auto say = [menu](const QString& text) { menu->addAction(text)->setEnabled(false); };
    const auto store = ProfileStore::openReadOnly(storeOf(snapshot()));
    if (!store)
        return say(QString::fromStdString(store.error().message));
    const auto all = store->list();
    const auto used = store->find(std::string(snapshot()->request.settings.text(Setting::ProfileChoice)));
    if (!all || !used)
        return say(QString::fromStdString((all ? used.error() : all.error()).message));
    for (const ProfileSummary& profile : all.value()) {
        const QString text = profileText(profile);
        QAction* action = menu->addAction(profile.id == used.value().id ? tr("%1 (in use)").arg(text) : text);
        action->setEnabled(profile.id != used.value().id);
        connect(action, &QAction::triggered, this, [this, id = profile.id] { compareWith(id); });
    }
    if (all.value().size() < 2)
        say(tr("The store has no other profile."));
}

void CostsView::compareWith(qint64 id) {
    compared_ = id;
    updateComparison();
}

void CostsView::updateComparison() {
    const std::string path = storeOf(snapshot());
    compare_->setVisible(!path.empty());
    if (path.empty())
        compared_ = 0;
    stack_->setCurrentIndex(compared_ == 0 ? 0 : 1);
    if (compared_ == 0)
        return;
    const auto store = ProfileStore::openReadOnly(path);
    if (!store)
        return comparison_->setError(QString::fromStdString(store.error().message));
    const auto a = store->find(std::string(snapshot()->request.settings.text(Setting::ProfileChoice)));
    const auto b = store->read(compared_);
    if (!a || !b)
        return comparison_->setError(QString::fromStdString((a ? b.error() : a.error()).message));
    comparison_->setProfiles(a.value(), b.value());
}

void CostsView::snapshotChanged() {
    updateComparison();
    model_->setSnapshot(snapshot());
    missing_->setCount(static_cast<int>(model_->missing()));
    edited_->setCount(static_cast<int>(model_->editedCount()));
    against_model_->setCount(static_cast<int>(model_->comparable()));
    against_model_->setVisible(model_->comparable() > 0 || against_model_->isChecked());
    edited_->setVisible(model_->editedCount() > 0 || edited_->isChecked());
    profile_->setEnabled(snapshot() != nullptr);
    totals_->setText(snapshot() ? tr("%1 keys · compute %2 · communication %3")
                                      .arg(model_->rowCount())
                                      .arg(QString::fromStdString(formatTime(model_->computeTotalNs())),
                                           QString::fromStdString(formatTime(model_->commTotalNs())))
                                : QString());
    if (!snapshot())
        table_->setEmptyText(tr("No graph is open."));
    else if (model_->rowCount() == 0)
        table_->setEmptyText(tr("No node of this graph needs a cost."));
    else
        table_->setEmptyText(tr("No cost matches the filter."));
    showSelection();
}

void CostsView::selectionChanged() {
    showSelection();
}

void CostsView::showSelection() {
    int row = -1;
    if (snapshot() && selection().kind != Selection::Kind::None) {
        const auto id = snapshot()->after.graph->find(selection().name.toStdString());
        if (id)
            row = model_->rowOf(*id);
    }
    table_->showRow(row < 0 ? -1 : filter_->mapFromSource(model_->index(row, 0)).row());
}

} // namespace gs

#include "views/docks/diagnostics_view.h"

#include "views/docks/chip.h"
#include "views/docks/data_table.h"
#include "views/docks/filter_field.h"
#include "views/docks/flow_layout.h"
#include "views/theme.h"

#include <QFontDatabase>
#include <QPlainTextEdit>
#include <QShortcut>
#include <QTabWidget>
#include <QVBoxLayout>

namespace gs {

namespace {
/// Widths of DiagnosticsModel's columns in pixels; 0 takes the space that is left.
const std::vector<int> kWidths = {92, 130, 150, 56, 0, 220};
const std::vector<int> kShown = {DiagnosticsModel::Severity, DiagnosticsModel::Node, DiagnosticsModel::Line,
                                 DiagnosticsModel::Message};

QPlainTextEdit* makeLog() {
    auto* log = new QPlainTextEdit;
    log->setReadOnly(true);
    log->setFrameShape(QFrame::NoFrame);
    log->setLineWrapMode(QPlainTextEdit::NoWrap);
    log->setAccessibleName(DiagnosticsView::tr("Log"));
    QFont fixed = QFontDatabase::systemFont(QFontDatabase::FixedFont);
    fixed.setPixelSize(12);
    log->setFont(fixed);
    log->setPlaceholderText(DiagnosticsView::tr("The scheduler wrote no log lines."));
    return log;
}

} // namespace

DiagnosticsView::DiagnosticsView(QWidget* parent)
    : View(parent), model_(new DiagnosticsModel(this)), filter_(new DiagnosticsFilter(model_)),
      tabs_(new QTabWidget(this)), table_(new DataTable(QStringLiteral("diagnostics/columns"))) {
    auto* page = new QWidget;
    field_ = new FilterField(page);
    table_->setAccessibleName(tr("Diagnostics"));
    table_->setUp(filter_, kWidths, kShown);

    auto* bar = new QWidget(page);
    bar->setBackgroundRole(QPalette::Base);
    bar->setAutoFillBackground(true);
    auto* flow = new FlowLayout(bar);
    flow->setContentsMargins(10, 6, 10, 4);
    flow->setStretchLast(true);
    const std::array<std::tuple<gs::Severity, QString, Mark>, 3> kinds = {
        {{gs::Severity::Error, tr("errors"), Mark::Error},
         {gs::Severity::Warning, tr("warnings"), Mark::Warning},
         {gs::Severity::Info, tr("infos"), Mark::Info}}};
    for (const auto& [severity, name, mark] : kinds) {
        auto* chip = new Chip(name, mark, bar);
        chips_[static_cast<size_t>(severity)] = chip;
        flow->addWidget(chip);
        connect(chip, &QAbstractButton::toggled, filter_,
                [filter = filter_, severity = severity](bool on) { filter->setSeverity(severity, on); });
    }
    flow->addWidget(field_);
    auto* layout = new QVBoxLayout(page);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(bar);
    layout->addWidget(table_);

    log_ = makeLog();

    tabs_->setDocumentMode(true);
    tabs_->addTab(page, tr("Findings"));
    tabs_->addTab(log_, tr("Log"));
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    outer->addWidget(tabs_);

    connect(field_, &FilterField::filterChanged, filter_, &DiagnosticsFilter::setText);
    connect(field_, &FilterField::left, table_, [this] { table_->setFocus(); });
    const auto go = [this](const QModelIndex& index) {
        if (!index.isValid())
            return;
        const QString node = model_->rows()[static_cast<size_t>(filter_->mapToSource(index).row())].node;
        if (!node.isEmpty())
            emit selectionRequested({Selection::Kind::Node, node});
    };
    connect(table_, &QAbstractItemView::doubleClicked, this, go);
    auto* enter = new QShortcut(QKeySequence(Qt::Key_Return), table_);
    enter->setContext(Qt::WidgetShortcut);
    connect(enter, &QShortcut::activated, this, [this, go] { go(table_->currentIndex()); });
    snapshotChanged();
}

void DiagnosticsView::snapshotChanged() {
    model_->setSnapshot(snapshot());
    for (size_t i = 0; i < chips_.size(); ++i)
        chips_[i]->setCount(model_->count(static_cast<gs::Severity>(i)));
    table_->setEmptyText(!snapshot()               ? tr("No graph is open.")
                         : model_->rowCount() == 0 ? tr("Nothing to report.")
                                                   : tr("No line matches the filter."));
    const int urgent = model_->count(gs::Severity::Error) + model_->count(gs::Severity::Warning);
    tabs_->setTabText(0, urgent > 0 ? tr("Findings (%1)").arg(urgent) : tr("Findings"));
    QStringList lines;
    if (snapshot() && snapshot()->after.schedule) {
        for (const std::string& line : snapshot()->after.schedule->log_info)
            lines << QStringLiteral("INFO ") + QString::fromStdString(line);
    }
    log_->setPlainText(lines.join(QLatin1Char('\n')));
}

} // namespace gs

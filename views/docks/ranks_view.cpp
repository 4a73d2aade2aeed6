#include "views/docks/ranks_view.h"

#include "base/units.h"
#include "views/docks/data_table.h"
#include "views/docks/wait_ring.h"
#include "views/theme.h"

#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QMimeData>
#include <QPushButton>
#include <QRegularExpression>
#include <QScrollArea>
#include <QShortcut>
#include <QSplitter>
#include <QVBoxLayout>

#include <algorithm>

namespace gs {

namespace {

/// Widths of RanksModel's columns in pixels; 0 takes the space that is left.
const std::vector<int> kWidths = {74, 200, 200, 200, 200, 0};
const std::vector<int> kShown = {RanksModel::Place, RanksModel::First, RanksModel::First + 1,
                                 RanksModel::What};
constexpr size_t kMaxDifferences = 6;
constexpr size_t kMaxHarmless = 8;
constexpr size_t kMaxRanks = 6;
constexpr double kMostWords = 0.6;
constexpr int kScrollBarWidth = 12;

QString escaped(const std::string& text) {
    return QString::fromStdString(text).toHtmlEscaped();
}

/// The core's messages begin small and end open.
QString sentence(const std::string& text) {
    QString result = QString::fromStdString(text);
    if (result.isEmpty())
        return result;
    result[0] = result[0].toUpper();
    return QStringLiteral(".?!").contains(result.back()) ? result : result + QLatin1Char('.');
}

QString modeText(RankMode mode) {
    switch (mode) {
    case RankMode::Identical:
        return RanksView::tr("identical");
    case RankMode::Slot:
        return RanksView::tr("slot");
    case RankMode::Pinned:
        return RanksView::tr("pinned");
    case RankMode::Abort:
        return RanksView::tr("abort");
    }
    return {};
}

/// What the word allows, for its tooltip.
QString modeMeaning(RankMode mode) {
    switch (mode) {
    case RankMode::Identical:
        return RanksView::tr("The structural hashes are equal: every rank comes to the same schedule.");
    case RankMode::Slot:
        return RanksView::tr("The graphs differ, but not their collectives: gathers move by slots between "
                             "collectives, the same slot on every rank.");
    case RankMode::Pinned:
        return RanksView::tr("The collectives differ: no gather may pass another collective.");
    case RankMode::Abort:
        return RanksView::tr("The numbers of gathers differ: these graphs cannot be scheduled together.");
    }
    return {};
}

QLabel* textLabel(QWidget* parent) {
    auto* label = new QLabel(parent);
    label->setFont(Theme::font(12));
    label->setWordWrap(true);
    label->setTextFormat(Qt::RichText);
    label->setTextInteractionFlags(Qt::TextBrowserInteraction);
    label->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    return label;
}

QString heading(const QString& text) {
    return QStringLiteral("<p style=\"margin:6px 0 2px 0\"><b>%1</b></p>").arg(text.toHtmlEscaped());
}

QString paragraph(const QString& html) {
    return QStringLiteral("<p style=\"margin:1px 0 3px 0\">%1</p>").arg(html);
}

QString muted(const QString& text) {
    return QStringLiteral("<span style=\"color:%1\">%2</span>").arg(Theme::current().muted.name(), text);
}

} // namespace

RanksView::RanksView(QWidget* parent)
    : View(parent), model_(new RanksModel(this)),
      table_(new DataTable(QStringLiteral("ranks/columns"), this)) {
    setAcceptDrops(true);
    table_->setAccessibleName(tr("Ranks"));
    table_->setUp(model_, kWidths, kShown);
    table_->setSortingEnabled(false);
    splitter_ = new QSplitter(Qt::Vertical, this);
    splitter_->setChildrenCollapsible(false);
    splitter_->addWidget(makeCard());
    splitter_->addWidget(table_);
    connect(splitter_, &QSplitter::splitterMoved, this, [this] { split_by_hand_ = true; });
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(makeHeader());
    layout->addWidget(splitter_, 1);

    const auto go = [this](const QModelIndex& index) {
        if (model_->isFold(index.row())) {
            model_->toggle(index.row());
            table_->showRow(index.row());
            return;
        }
        if (const QString node = model_->nodeAt(index); !node.isEmpty())
            emit selectionRequested({Selection::Kind::Node, node});
    };
    connect(table_, &QAbstractItemView::clicked, this, [this, go](const QModelIndex& index) {
        if (model_->isFold(index.row()))
            go(index);
    });
    connect(table_, &QAbstractItemView::doubleClicked, this, [this, go](const QModelIndex& index) {
        if (!model_->isFold(index.row()))
            go(index);
    });
    auto* enter = new QShortcut(QKeySequence(Qt::Key_Return), table_);
    enter->setContext(Qt::WidgetShortcut);
    connect(enter, &QShortcut::activated, this, [this, go] { go(table_->currentIndex()); });
    snapshotChanged();
}

QWidget* RanksView::makeHeader() {
    auto* bar = new QWidget(this);
    bar->setBackgroundRole(QPalette::Base);
    bar->setAutoFillBackground(true);
    mode_ = new QLabel(bar);
    mode_->setFont(Theme::font(13, QFont::DemiBold));
    mode_->setObjectName(QStringLiteral("mode"));
    ranks_ = new QLabel(bar);
    ranks_->setFont(Theme::font(11));
    ranks_->setForegroundRole(QPalette::PlaceholderText);
    add_ = new QPushButton(tr("Add rank files…"), bar);
    remove_ = new QPushButton(tr("Remove"), bar);
    remove_->setToolTip(tr("Stop comparing with other ranks"));
    connect(add_, &QPushButton::clicked, this, &RanksView::chooseFiles);
    connect(remove_, &QPushButton::clicked, this, [this] { emit rankFilesRequested({}); });
    auto* row = new QHBoxLayout(bar);
    row->setContentsMargins(10, 6, 10, 4);
    row->addWidget(mode_);
    row->addWidget(ranks_, 1);
    row->addWidget(add_);
    row->addWidget(remove_);
    return bar;
}

QWidget* RanksView::makeCard() {
    auto* area = new QScrollArea(this);
    area->setWidgetResizable(true);
    area->setFrameShape(QFrame::NoFrame);
    auto* content = new QWidget(area);
    card_ = content;
    content->setBackgroundRole(QPalette::Base);
    content->setAutoFillBackground(true);
    verdict_ = textLabel(content);
    verdict_->setFont(Theme::font(13));
    details_ = textLabel(content);
    cycle_ = textLabel(content);
    ring_ = new WaitRing(content);
    for (QLabel* label : {details_, cycle_})
        connect(label, &QLabel::linkActivated, this, &RanksView::follow);
    auto* waits = new QHBoxLayout;
    waits->addWidget(ring_, 0, Qt::AlignTop);
    waits->addWidget(cycle_, 1);
    auto* column = new QVBoxLayout(content);
    column->setContentsMargins(10, 4, 10, 8);
    column->setSpacing(4);
    column->addWidget(verdict_);
    column->addLayout(waits);
    column->addWidget(details_);
    column->addStretch(1);
    area->setWidget(content);
    return area;
}

void RanksView::chooseFiles() {
    const QString folder =
        snapshot() ? QFileInfo(QString::fromStdString(snapshot()->request.graph_file)).absolutePath()
                   : QString();
    ask(QFileDialog::getOpenFileNames(this, tr("Graphs of other ranks"), folder));
}

void RanksView::ask(const QStringList& paths) {
    if (paths.isEmpty() || !snapshot())
        return;
    showMessage(tr("Reading %n file(s)…", nullptr, static_cast<int>(paths.size())), {});
    emit rankFilesRequested(paths);
}

void RanksView::dragEnterEvent(QDragEnterEvent* event) {
    if (snapshot() && event->mimeData()->hasUrls())
        event->acceptProposedAction();
}

void RanksView::dropEvent(QDropEvent* event) {
    QStringList paths;
    for (const QUrl& url : event->mimeData()->urls()) {
        if (url.isLocalFile())
            paths << url.toLocalFile();
    }
    event->acceptProposedAction();
    ask(paths);
}

QString RanksView::words() const {
    QString html = verdict_->text() + cycle_->text() + details_->text();
    html.replace(QStringLiteral("</p>"), QStringLiteral("\n"));
    html.remove(QRegularExpression(QStringLiteral("<[^>]*>")));
    return html;
}

void RanksView::showMessage(const QString& title, const QString& text) {
    mode_->setText({});
    mode_->setToolTip({});
    ranks_->setText({});
    verdict_->setText(title.toHtmlEscaped());
    details_->setText(text.isEmpty() ? QString() : muted(text.toHtmlEscaped()));
    cycle_->setText({});
    ring_->setComparison(nullptr);
    model_->setComparison(nullptr);
}

void RanksView::snapshotChanged() {
    const SnapshotPtr& shown = snapshot();
    add_->setEnabled(shown != nullptr);
    remove_->setVisible(shown && !shown->request.rank_files.empty());
    table_->setEmptyText({});
    if (!shown)
        showMessage(tr("No graph is open."), {});
    else if (shown->ranks)
        showComparison(*shown->ranks);
    else if (shown->ranks_error)
        showMessage(sentence(shown->ranks_error->message), QString::fromStdString(shown->ranks_error->hint));
    else
        showMessage(tr("Only this rank is open."),
                    tr("Drop the graphs of other ranks here, or a log that holds several: their collectives "
                       "are compared, group by group, and a deadlock is named rank by rank."));
    table_->setVisible(model_->rowCount() > 0);
    for (QLabel* label : {details_, cycle_})
        label->setVisible(!label->text().isEmpty());
    fitCard();
}

/// The words get the height they need, up to a share of the panel; the table has the rest.
void RanksView::fitCard() {
    if (split_by_hand_ || table_->isHidden())
        return;
    const int height = splitter_->height();
    const int wanted = card_->layout()->heightForWidth(splitter_->width() - kScrollBarWidth);
    const int words = std::min(wanted, static_cast<int>(height * kMostWords));
    splitter_->setSizes({words, height - words});
}

void RanksView::resizeEvent(QResizeEvent* event) {
    View::resizeEvent(event);
    layout()->activate();
    fitCard();
}

void RanksView::showComparison(const RankComparison& comparison) {
    model_->setComparison(snapshot()->ranks);
    const Theme& theme = Theme::current();
    const QColor colour = comparison.mode == RankMode::Abort ? theme.exposed
                          : comparison.hasFindings()         ? theme.warning
                                                             : theme.hidden_ok;
    mode_->setText(
        QStringLiteral("<span style=\"color:%1\">%2</span>").arg(colour.name(), modeText(comparison.mode)));
    mode_->setToolTip(modeMeaning(comparison.mode));
    QStringList labels;
    for (size_t c = 0; c < comparison.classes.size() && c < kMaxRanks; ++c)
        labels << QString::fromStdString(comparison.classes[c].text);
    if (comparison.classes.size() > kMaxRanks)
        labels << tr("%n more", nullptr, static_cast<int>(comparison.classes.size() - kMaxRanks));
    ranks_->setText(labels.join(QStringLiteral("  |  ")));
    verdict_->setText(sentence(comparison.verdict).toHtmlEscaped());
    ring_->setComparison(snapshot()->ranks);
    cycle_->setText(cycleText(comparison));
    details_->setText(differencesText(comparison));
    for (int c = 0; c < RanksModel::kClasses; ++c)
        table_->setColumnHidden(RanksModel::First + c, c >= model_->classCount());
    const int row = std::max(0, model_->firstDifference());
    table_->showRow(row);
    table_->scrollTo(model_->index(row, 0), QAbstractItemView::PositionAtCenter);
}

/// The side's place in words; its node is a link where the open graph has it.
QString RanksView::nodeLink(const RankSide& side) const {
    if (side.node == kNoNode || !snapshot())
        return escaped(side.text);
    const ComparedRank& rank = snapshot()->ranks->ranks[static_cast<size_t>(side.rank)];
    const std::string name(rank.program.graphs[side.graph].graph->name(side.node));
    QString text = escaped(side.text);
    const QString quoted = QStringLiteral("&quot;%1&quot;").arg(escaped(name));
    const bool here = isProgramOf(rank.program, snapshot()->request.graph_file, *snapshot()->source.graph) &&
                      snapshot()->before.graph->find(name);
    if (here)
        text.replace(quoted, QStringLiteral("<a href=\"%1\" style=\"color:%2\">%1</a>")
                                 .arg(escaped(name), Theme::current().accent.name()));
    return text;
}

QString RanksView::cycleText(const RankComparison& comparison) const {
    if (comparison.cycles.empty())
        return {};
    const WaitCycle& cycle = comparison.cycles.front();
    QString html = heading(cycle.closed    ? cycle.certain ? tr("Deadlock: ranks wait for each other")
                                                           : tr("Deadlock if the device cannot run both at once")
                              : cycle.certain ? tr("Hang: a rank waits for one that has nothing left to issue")
                                           : tr("Possible hang"));
    for (const WaitStep& step : cycle.steps) {
        const ComparedRank& rank = comparison.ranks[static_cast<size_t>(step.rank)];
        const Graph& graph = *rank.program.graphs[step.collective.graph].graph;
        const QString at = step.blocked_at == kNoNode
                               ? tr("its end")
                               : QStringLiteral("\"%1\"").arg(QString::fromUtf8(
                                     graph.name(step.blocked_at).data(),
                                     static_cast<qsizetype>(graph.name(step.blocked_at).size())));
        QString line = tr("%1 waits at %2 for %3")
                           .arg(escaped(rank.program.label), at.toHtmlEscaped(), nodeLink(step.collective));
        if (step.missing_rank >= 0)
            line += muted(
                tr(", not issued by %1")
                    .arg(escaped(comparison.ranks[static_cast<size_t>(step.missing_rank)].program.label)));
        html += paragraph(line);
    }
    return html;
}

QString RanksView::differencesText(const RankComparison& comparison) const {
    QString html;
    if (!comparison.differences.empty())
        html += heading(tr("Differences"));
    for (size_t i = 0; i < comparison.differences.size() && i < kMaxDifferences; ++i) {
        const RankDifference& item = comparison.differences[i];
        html += paragraph(sentence(item.message).toHtmlEscaped() + QStringLiteral(" ") +
                          muted(sentence(item.hint).toHtmlEscaped()));
    }
    const size_t more = comparison.differences.size() -
                        std::min(comparison.differences.size(), kMaxDifferences) + comparison.dropped;
    if (more > 0)
        html += paragraph(muted(tr("%n more", nullptr, static_cast<int>(more))));
    if (!comparison.first_what.empty())
        html +=
            heading(tr("First node that differs: %1").arg(QString::fromStdString(comparison.first_what))) +
            paragraph(escaped(comparison.ranks[static_cast<size_t>(comparison.first_a.rank)].program.label) +
                      QStringLiteral(": ") + nodeLink(comparison.first_a)) +
            paragraph(escaped(comparison.ranks[static_cast<size_t>(comparison.first_b.rank)].program.label) +
                      QStringLiteral(": ") + nodeLink(comparison.first_b));
    if (!comparison.harmless.empty())
        html += heading(tr("Without harm"));
    for (size_t i = 0; i < comparison.harmless.size() && i < kMaxHarmless; ++i)
        html += paragraph(muted(sentence(comparison.harmless[i].message).toHtmlEscaped()));
    return html;
}

void RanksView::follow(const QString& link) {
    emit selectionRequested({Selection::Kind::Node, link});
}

/// The row of the selected collective, where this rank has one.
void RanksView::selectionChanged() {
    if (selection().kind == Selection::Kind::None)
        return;
    for (int row = 0; row < model_->rowCount(); ++row) {
        for (int c = 0; c < model_->classCount(); ++c) {
            if (model_->nodeAt(model_->index(row, RanksModel::First + c)) == selection().name) {
                table_->showRow(row);
                return;
            }
        }
    }
}

} // namespace gs

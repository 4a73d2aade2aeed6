#include "views/docks/why_view.h"

#include "views/docks/counterfactual_list.h"
#include "views/docks/why_bars.h"
#include "views/docks/why_rows.h"
#include "views/theme.h"

#include <QEvent>
#include <QScrollArea>
#include <QScrollBar>
#include <QVBoxLayout>

namespace gs {

namespace {

QString text(const std::string& value) {
    return QString::fromStdString(value);
}

/// Hairline and section title.
QWidget* sectionHead(const QString& title, QWidget* parent) {
    auto* head = new QWidget(parent);
    auto* layout = new QVBoxLayout(head);
    layout->setContentsMargins(0, 6, 0, 0);
    layout->setSpacing(8);
    auto* line = new QFrame(head);
    line->setFrameShape(QFrame::HLine);
    line->setFrameShadow(QFrame::Plain);
    line->setForegroundRole(QPalette::Mid);
    line->setFixedHeight(1);
    auto* label = new QLabel(title, head);
    label->setFont(Theme::font(12, QFont::DemiBold));
    layout->addWidget(line);
    layout->addWidget(label);
    return head;
}

} // namespace

WhyView::WhyView(QWidget* parent) : View(parent) {
    build();
    rebuild();
}

void WhyView::build() {
    scroll_ = new QScrollArea(this);
    scroll_->setWidgetResizable(true);
    scroll_->setFrameShape(QFrame::NoFrame);
    scroll_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll_->setBackgroundRole(QPalette::Base);
    content_ = new QWidget;
    content_->setBackgroundRole(QPalette::Base);
    scroll_->setWidget(content_);

    title_ = new CardLabel(CardLabel::Style::Title);
    headline_ = new CardLabel(CardLabel::Style::Headline);
    detail_ = new CardLabel(CardLabel::Style::Muted);
    reason_ = new CardLabel(CardLabel::Style::Text);
    source_ = new CardLabel(CardLabel::Style::Small);
    source_->setWordWrap(true);
    disagreement_ = new CardLabel(CardLabel::Style::Text);
    bars_ = new WhyBars;
    rows_ = new RowsWidget(false);
    counterfactuals_head_ = sectionHead(tr("What would hide it"), content_);
    counterfactuals_ = new CounterfactualList;
    facts_head_ = sectionHead(tr("What would change it"), content_);
    facts_ = new RowsWidget(true);
    costs_head_ = sectionHead(tr("Costs it rests on"), content_);
    costs_ = new CostLines;

    auto* layout = new QVBoxLayout(content_);
    layout->setContentsMargins(14, 10, 14, 12);
    layout->setSpacing(4);
    for (QWidget* widget :
         std::initializer_list<QWidget*>{title_, headline_, detail_, reason_, source_, disagreement_})
        layout->addWidget(widget);
    layout->addSpacing(4);
    layout->addWidget(bars_);
    layout->addSpacing(6);
    for (QWidget* widget : std::initializer_list<QWidget*>{rows_, counterfactuals_head_, counterfactuals_,
                                                           facts_head_, facts_, costs_head_, costs_})
        layout->addWidget(widget);
    layout->addStretch(1);

    empty_ = new QLabel(this);
    empty_->setAlignment(Qt::AlignCenter);
    empty_->setWordWrap(true);
    empty_->setMargin(24);
    empty_->setForegroundRole(QPalette::PlaceholderText);
    empty_->setBackgroundRole(QPalette::Base);
    empty_->setAutoFillBackground(true);

    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    outer->addWidget(scroll_);
    outer->addWidget(empty_);

    for (CardLabel* label : {reason_, disagreement_})
        connect(label, &CardLabel::nodeActivated, this, &WhyView::activate);
    connect(counterfactuals_, &CounterfactualList::tryRequested, this, &View::requestRequested);
    connect(bars_, &WhyBars::nodeActivated, this, &WhyView::activate);
    connect(rows_, &RowsWidget::nodeActivated, this, &WhyView::activate);
    connect(costs_, &CostLines::nodeActivated, this, &WhyView::activate);
}

void WhyView::changeEvent(QEvent* event) {
    View::changeEvent(event);
    // Links carry their colour in the text.
    if (event->type() == QEvent::PaletteChange && content_)
        showCard();
}

void WhyView::rebuild() {
    if (!snapshot() || !snapshot()->after.graph) {
        showEmpty(tr("No graph is open."));
        return;
    }
    if (selection().kind == Selection::Kind::None) {
        showEmpty(
            tr("Select a gather to see why it is launched where it is.\nJ and K walk through the table."));
        return;
    }
    const auto id = snapshot()->after.graph->find(selection().name.toStdString());
    if (!id) {
        showEmpty(tr("%1 is not in the scheduled program: a pass replaced it.").arg(selection().name));
        return;
    }
    const bool same = card_.node == *id && !empty_->isVisibleTo(this);
    card_ = explainNode(*snapshot(), *id);
    showCard();
    if (!same)
        scroll_->verticalScrollBar()->setValue(0);
}

bool WhyView::busy() const {
    return counterfactuals_->busy();
}

void WhyView::showEmpty(const QString& text) {
    card_ = {};
    counterfactuals_->setGather(nullptr, kNoNode);
    scroll_->hide();
    empty_->setText(text);
    empty_->show();
}

void WhyView::showCard() {
    if (card_.node == kNoNode || !snapshot())
        return;
    empty_->hide();
    scroll_->show();
    title_->show(text(card_.title));
    headline_->show(text(card_.headline));
    detail_->show(text(card_.detail));
    reason_->show(text(card_.reason.text), card_.reason.node);
    source_->show(text(card_.reason_source));
    disagreement_->show(text(card_.disagreement.text), card_.disagreement.node);
    bars_->setCard(card_, snapshot()->request.settings.number(Setting::Contention));
    rows_->setRows(card_.rows);
    counterfactuals_->setGather(snapshot(), card_.gather ? card_.node : kNoNode);
    counterfactuals_head_->setVisible(!counterfactuals_->isHidden());
    std::vector<WhyRow> facts;
    for (const WhyFact& fact : card_.facts)
        facts.push_back({fact.text, fact.value});
    facts_->setRows(facts);
    facts_head_->setVisible(!facts.empty());
    costs_->setCosts(card_.costs);
    costs_head_->setVisible(!card_.costs.empty());
}

void WhyView::activate(NodeId node) {
    if (!snapshot() || node >= snapshot()->after.graph->size())
        return;
    const std::string_view name = snapshot()->after.graph->name(node);
    const bool gather = snapshot()->decisionFor(node) != nullptr;
    emit selectionRequested({gather ? Selection::Kind::Gather : Selection::Kind::Node,
                             QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()))});
}

} // namespace gs

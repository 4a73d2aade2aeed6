#include "views/docks/why_rows.h"

#include "views/docks/paint_text.h"
#include "views/models/gathers_model.h"
#include "views/shown_text.h"

#include <QGridLayout>
#include <QHelpEvent>
#include <QMouseEvent>
#include <QToolTip>

namespace gs {

namespace {
constexpr int kLine = 20;
constexpr qsizetype kMostCharacters = 600; ///< of a sentence, whatever names are in it
} // namespace

CardLabel::CardLabel(Style style, QWidget* parent) : QLabel(parent) {
    setWordWrap(style != Style::Small);
    setTextFormat(Qt::PlainText);
    setTextInteractionFlags(Qt::TextBrowserInteraction);
    setFocusPolicy(Qt::ClickFocus);
    switch (style) {
    case Style::Title:
    case Style::Muted:
        setFont(Theme::font(12));
        break;
    case Style::Headline:
        setFont(Theme::font(14, QFont::Medium));
        break;
    case Style::Text:
        setFont(Theme::font(12));
        break;
    case Style::Small:
        setFont(Theme::font(11));
        break;
    }
    if (style == Style::Title || style == Style::Muted || style == Style::Small)
        setForegroundRole(QPalette::PlaceholderText);
    connect(this, &QLabel::linkActivated, this,
            [this](const QString& link) { emit nodeActivated(link.mid(5).toUInt()); });
}

void CardLabel::show(const QString& whole, NodeId node) {
    const QString text = shownText(whole, kMostCharacters);
    setVisible(!text.isEmpty());
    if (node == kNoNode) {
        setTextFormat(Qt::PlainText);
        setText(text);
        return;
    }
    // The colour is part of the text, because a label resolves links once, not at every change of theme.
    setTextFormat(Qt::RichText);
    setText(QStringLiteral("<a href=\"node:%1\" style=\"color:%2;text-decoration:none\">%3</a>")
                .arg(node)
                .arg(Theme::current().accent.name(), text.toHtmlEscaped()));
}

RowsWidget::RowsWidget(bool value_right, QWidget* parent)
    : QWidget(parent), grid_(new QGridLayout(this)), value_right_(value_right) {
    grid_->setContentsMargins(0, 0, 0, 0);
    grid_->setHorizontalSpacing(14);
    grid_->setVerticalSpacing(4);
    if (value_right) {
        grid_->setColumnStretch(0, 1);
    } else {
        grid_->setColumnMinimumWidth(0, 92);
        grid_->setColumnStretch(1, 1);
    }
}

void RowsWidget::setRows(const std::vector<WhyRow>& rows) {
    while (labels_.size() < rows.size()) {
        auto* name = new CardLabel(value_right_ ? CardLabel::Style::Text : CardLabel::Style::Muted, this);
        auto* value = new CardLabel(CardLabel::Style::Text, this);
        name->setWordWrap(value_right_);
        value->setWordWrap(!value_right_);
        const int line = static_cast<int>(labels_.size());
        grid_->addWidget(name, line, 0, Qt::AlignTop);
        grid_->addWidget(value, line, 1, value_right_ ? Qt::AlignTop | Qt::AlignRight : Qt::AlignTop);
        connect(value, &CardLabel::nodeActivated, this, &RowsWidget::nodeActivated);
        labels_.emplace_back(name, value);
    }
    for (size_t i = 0; i < labels_.size(); ++i) {
        const bool used = i < rows.size();
        labels_[i].first->setVisible(used);
        labels_[i].second->setVisible(used);
        if (used) {
            labels_[i].first->show(QString::fromStdString(rows[i].label));
            labels_[i].second->show(QString::fromStdString(rows[i].value), rows[i].node);
        }
    }
    shown_ = static_cast<int>(rows.size());
    setVisible(!rows.empty());
}

CostLines::CostLines(QWidget* parent) : QWidget(parent) {
    setMouseTracking(true);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void CostLines::setCosts(std::vector<WhyCost> costs) {
    costs_ = std::move(costs);
    setVisible(!costs_.empty());
    updateGeometry();
    update();
}

QSize CostLines::sizeHint() const {
    return {300, kLine * static_cast<int>(costs_.size())};
}

int CostLines::lineAt(double y) const {
    const int line = static_cast<int>(y / kLine);
    return y >= 0 && line < static_cast<int>(costs_.size()) ? line : -1;
}

void CostLines::paintEvent(QPaintEvent*) {
    constexpr double kBadge = 90;
    constexpr double kTime = 80;
    const Theme& theme = Theme::current();
    QPainter painter(this);
    const bool words = width() > 320;
    const double badge = words ? kBadge : 18;
    for (size_t i = 0; i < costs_.size(); ++i) {
        const WhyCost& cost = costs_[i];
        const QRectF line(0, static_cast<double>(i) * kLine, width(), kLine);
        painter.setFont(Theme::font(12));
        painter.setPen(theme.text);
        const double room = std::max(20.0, line.width() - kTime - badge - 12);
        painter.drawText(QRectF(0, line.top(), room, kLine), Qt::AlignVCenter | Qt::AlignLeft,
                         painter.fontMetrics().elidedText(QString::fromStdString(cost.label), Qt::ElideRight,
                                                          static_cast<int>(room)));
        const bool missing = cost.provenance == Provenance::Missing;
        painter.setPen(missing ? theme.limited : theme.text);
        drawTabular(painter, QRectF(line.right() - badge - 12 - kTime, line.top(), kTime, kLine),
                    missing ? tr("missing") : microsCell(static_cast<double>(cost.ns)), Qt::AlignRight);
        drawBadge(painter, QRectF(line.right() - badge, line.top(), badge, kLine), cost.provenance);
    }
}

void CostLines::mouseMoveEvent(QMouseEvent* event) {
    setCursor(lineAt(event->position().y()) >= 0 ? Qt::PointingHandCursor : Qt::ArrowCursor);
}

void CostLines::mouseReleaseEvent(QMouseEvent* event) {
    const int line = lineAt(event->position().y());
    if (event->button() == Qt::LeftButton && line >= 0)
        emit nodeActivated(costs_[static_cast<size_t>(line)].node);
}

bool CostLines::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip)
        return QWidget::event(event);
    auto* help = static_cast<QHelpEvent*>(event);
    const int line = lineAt(help->pos().y());
    if (line < 0)
        return true;
    const WhyCost& cost = costs_[static_cast<size_t>(line)];
    QStringList parts{QString::fromStdString(cost.label), provenanceText(cost.provenance).meaning};
    if (!cost.source.empty())
        parts << tr("Source: %1").arg(QString::fromStdString(cost.source));
    if (!cost.note.empty())
        parts << QString::fromStdString(cost.note);
    QToolTip::showText(help->globalPos(), parts.join(QLatin1Char('\n')), this);
    return true;
}

} // namespace gs

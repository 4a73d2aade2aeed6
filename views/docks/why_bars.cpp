#include "views/docks/why_bars.h"

#include "views/docks/paint_text.h"
#include "views/ink.h"
#include "views/models/gathers_model.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QToolTip>
#include <algorithm>

namespace gs {

namespace {

constexpr double kCaption = 16;
constexpr double kBar = 16;
constexpr double kGap = 8;
constexpr double kThin = 6;
constexpr double kNote = 17;

QColor faded(const QColor& color, double alpha) {
    QColor out = color;
    out.setAlphaF(static_cast<float>(alpha));
    return out;
}

} // namespace

WhyBars::WhyBars(QWidget* parent) : QWidget(parent) {
    setMouseTracking(true);
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setSizePolicy(policy);
}

void WhyBars::setCard(const WhyCard& card, double contention) {
    card_ = card;
    contention_ = contention;
    setVisible(!card.need.empty());
    setAccessibleName(
        tr("Window found %1, needed %2").arg(microsCell(card.window_ns), microsCell(card.need_ns)));
    layOut();
    updateGeometry();
    update();
}

QSize WhyBars::sizeHint() const {
    double height = 2 * (kCaption + kBar) + kGap;
    if (card_.claimed_ns > 0)
        height += kGap + kCaption + kThin;
    if (!note().isEmpty())
        height += kNote;
    return {300, static_cast<int>(height) + 2};
}

QSize WhyBars::minimumSizeHint() const {
    return {180, sizeHint().height()};
}

/// What became of what was left over, and whether the walk ended at the floor.
QString WhyBars::note() const {
    return QString::fromStdString(card_.carry.text);
}

void WhyBars::addRow(Piece::Role role, const std::vector<WhyPart>& parts, double y, double scale) {
    double x = 0;
    for (const WhyPart& part : parts) {
        const double width = part.ns * scale;
        pieces_.push_back({role, QRectF(x, y, width, kBar), part.ns, QString::fromStdString(part.label),
                           part.node, part.kind});
        x += width;
    }
}

void WhyBars::layOut() {
    pieces_.clear();
    if (card_.need.empty())
        return;
    const double longest = std::max(card_.need_ns, card_.window_ns);
    const double scale = longest > 0 ? width() / longest : 0;
    double y = kCaption;
    addRow(Piece::Role::Window, card_.window, y, scale);
    const double missing = card_.need_ns - card_.window_ns;
    if (missing > 0)
        pieces_.push_back({Piece::Role::Shortfall, QRectF(card_.window_ns * scale, y, missing * scale, kBar),
                           missing, tr("too little"), kNoNode, WhyPart::Kind::Rest});
    y += kBar + kGap + kCaption;
    addRow(Piece::Role::Need, card_.need, y, scale);
    const double marker = std::min(card_.need_ns * scale, width() - 1.0);
    pieces_.push_back({Piece::Role::Marker, QRectF(marker, kCaption, 0, y + kBar - kCaption), card_.need_ns,
                       QString(), kNoNode, WhyPart::Kind::Rest});
    if (card_.claimed_ns > 0) {
        y += kBar + kGap + kCaption;
        const double length = std::min<double>(card_.claimed_ns * scale, width());
        pieces_.push_back({Piece::Role::Claimed, QRectF(0, y, length, kThin), card_.claimed_ns,
                           tr("claimed by later gathers"), kNoNode, WhyPart::Kind::Rest});
    }
}

void WhyBars::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    layOut();
}

void WhyBars::paintPiece(QPainter& painter, const Piece& piece, int index) const {
    const Theme& theme = Theme::current();
    // Neighbours are told apart by a hairline, short ones still get a visible sliver.
    const QRectF box = piece.rect.adjusted(0, 0, piece.rect.width() > 3 ? -1 : 0, 0);
    QColor fill = theme.compute;
    switch (piece.role) {
    case Piece::Role::Window:
        if (piece.kind == WhyPart::Kind::CarryIn)
            fill = faded(theme.hidden_ok, 0.55);
        else if (piece.kind == WhyPart::Kind::Rest || index > 1)
            fill = faded(theme.compute, 0.4);
        else if (index == 1)
            fill = faded(theme.compute, 0.7);
        break;
    case Piece::Role::Need:
        fill = piece.kind == WhyPart::Kind::Comm         ? theme.gather
               : piece.kind == WhyPart::Kind::Contention ? faded(theme.gather, 0.45)
                                                         : theme.muted;
        break;
    case Piece::Role::Shortfall:
        painter.setPen(QPen(theme.exposed, 1, Qt::DashLine));
        painter.setBrush(faded(theme.exposed, 0.15));
        painter.drawRect(box.adjusted(0.5, 0.5, -0.5, -0.5));
        fill = Qt::transparent;
        break;
    case Piece::Role::Claimed:
        painter.setPen(Qt::NoPen);
        painter.setBrush(QBrush(theme.compute, Qt::BDiagPattern));
        painter.drawRect(box);
        return;
    case Piece::Role::Marker:
        return;
    }
    painter.fillRect(box, fill);
    const QColor ink = inkOn(fill, theme);
    const QFontMetrics metrics(Theme::font(11));
    if (metrics.horizontalAdvance(piece.label) + 12 <= box.width()) {
        painter.setFont(Theme::font(11));
        painter.setPen(ink);
        painter.drawText(box.adjusted(7, 0, 0, 0), Qt::AlignVCenter | Qt::AlignLeft, piece.label);
    } else if (box.width() > 60) {
        painter.setFont(Theme::font(11));
        painter.setPen(ink);
        painter.drawText(box.adjusted(7, 0, 0, 0), Qt::AlignVCenter | Qt::AlignLeft,
                         metrics.elidedText(piece.label, Qt::ElideRight, static_cast<int>(box.width()) - 12));
    }
}

/// From the window bar to the end of the need, but not through the words between them.
void WhyBars::paintMarker(QPainter& painter, const QRectF& rect) const {
    const double x = rect.left();
    const QFontMetrics metrics(Theme::font(11));
    const double words = metrics.horizontalAdvance(needCaption()) + 6;
    const double number = width() - tabularWidth(microsCell(card_.need_ns), Theme::font(11)) - 6;
    if (x > words && x < number) {
        painter.drawLine(QPointF(x, rect.top() + kBar * 0.6), rect.bottomLeft());
        return;
    }
    painter.drawLine(QPointF(x, rect.top() + kBar * 0.6), QPointF(x, rect.top() + kBar + 4));
    painter.drawLine(QPointF(x, rect.bottom() - kBar), rect.bottomLeft());
}

QString WhyBars::needCaption() const {
    return tr("needed = comm × %1 + slack").arg(contention_, 0, 'g', 4);
}

void WhyBars::paintEvent(QPaintEvent*) {
    const Theme& theme = Theme::current();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const auto caption = [&](double y, const QString& left, const QString& right) {
        painter.setFont(Theme::font(11));
        painter.setPen(theme.muted);
        painter.drawText(QRectF(0, y, width(), kCaption - 2), Qt::AlignLeft | Qt::AlignVCenter, left);
        painter.setPen(theme.text);
        drawTabular(painter, QRectF(0, y, width(), kCaption - 2), right, Qt::AlignRight);
    };
    caption(0, tr("window found"), microsCell(card_.window_ns));
    caption(kCaption + kBar + kGap, needCaption(), microsCell(card_.need_ns));
    double y = 2 * (kCaption + kBar) + kGap;
    if (card_.claimed_ns > 0) {
        caption(y + kGap, tr("claimed by later gathers"), microsCell(card_.claimed_ns));
        y += kGap + kCaption + kThin;
    }
    if (card_.window.empty())
        painter.fillRect(QRectF(0, kCaption, width(), kBar), theme.field);
    int window_index = 0;
    for (const Piece& piece : pieces_) {
        paintPiece(painter, piece, window_index);
        window_index += piece.role == Piece::Role::Window;
        if (piece.role == Piece::Role::Marker) {
            const bool met = card_.window_ns >= card_.need_ns;
            painter.setPen(QPen(met ? theme.hidden_ok : theme.limited, 1.6, Qt::DotLine));
            paintMarker(painter, piece.rect);
        }
    }
    if (!note().isEmpty()) {
        painter.setFont(Theme::font(11));
        painter.setPen(theme.muted);
        const QString text = painter.fontMetrics().elidedText(note(), Qt::ElideRight, width());
        painter.drawText(QRectF(0, y + 2, width(), kNote - 2), Qt::AlignRight | Qt::AlignVCenter, text);
    }
}

const WhyBars::Piece* WhyBars::pieceAt(const QPointF& pos) const {
    for (const Piece& piece : pieces_) {
        if (piece.role != Piece::Role::Marker && piece.rect.contains(pos))
            return &piece;
    }
    return nullptr;
}

void WhyBars::mouseMoveEvent(QMouseEvent* event) {
    const Piece* piece = pieceAt(event->position());
    setCursor(piece && piece->node != kNoNode ? Qt::PointingHandCursor : Qt::ArrowCursor);
}

void WhyBars::mouseReleaseEvent(QMouseEvent* event) {
    const Piece* piece = pieceAt(event->position());
    if (event->button() == Qt::LeftButton && piece && piece->node != kNoNode)
        emit nodeActivated(piece->node);
}

bool WhyBars::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip)
        return QWidget::event(event);
    auto* help = static_cast<QHelpEvent*>(event);
    const Piece* piece = pieceAt(help->pos());
    if (piece)
        QToolTip::showText(help->globalPos(),
                           QStringLiteral("%1: %2").arg(piece->label, microsCell(piece->ns)), this);
    else
        QToolTip::hideText();
    return true;
}

} // namespace gs

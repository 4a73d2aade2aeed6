#include "views/docks/paint_text.h"

#include <QFontMetricsF>
#include <QPainterPath>
#include <algorithm>

namespace gs {

namespace {

qreal digitWidth(const QFontMetricsF& metrics) {
    qreal width = 0;
    for (char digit = '0'; digit <= '9'; ++digit)
        width = std::max(width, metrics.horizontalAdvance(QLatin1Char(digit)));
    return width;
}

/// End of the run of non-digits that starts at `from`.
qsizetype runEnd(const QString& text, qsizetype from) {
    qsizetype end = from;
    while (end < text.size() && !text[end].isDigit())
        ++end;
    return end;
}

QPainterPath triangle(const QPointF& c, qreal r) {
    QPainterPath path;
    path.moveTo(c.x(), c.y() - r);
    path.lineTo(c.x() + r, c.y() + 0.85 * r);
    path.lineTo(c.x() - r, c.y() + 0.85 * r);
    path.closeSubpath();
    return path;
}

void drawSign(QPainter& painter, const QPointF& c, qreal r, const QString& sign, const Theme& theme) {
    painter.setFont(Theme::font(static_cast<int>(r * 1.7), QFont::Bold));
    painter.setPen(theme.dark ? theme.panel : theme.on_accent);
    painter.drawText(QRectF(c.x() - r, c.y() - r, 2 * r, 2 * r), Qt::AlignCenter, sign);
}

QColor badgeColor(Provenance provenance, const Theme& theme) {
    switch (provenance) {
    case Provenance::Measured:
    case Provenance::Reused:
        return theme.hidden_ok;
    case Provenance::User:
        return theme.accent;
    case Provenance::Extrapolated:
        return theme.warning;
    case Provenance::Missing:
        return theme.limited;
    default:
        return theme.muted;
    }
}

} // namespace

qreal tabularWidth(const QString& text, const QFont& font) {
    const QFontMetricsF metrics(font);
    const qreal digit = digitWidth(metrics);
    qreal width = 0;
    for (qsizetype at = 0; at < text.size();) {
        if (text[at].isDigit()) {
            width += digit;
            ++at;
            continue;
        }
        const qsizetype end = runEnd(text, at);
        width += metrics.horizontalAdvance(text.mid(at, end - at));
        at = end;
    }
    return width;
}

void drawTabular(QPainter& painter, const QRectF& rect, const QString& text, Qt::Alignment alignment) {
    const QFontMetricsF metrics(painter.font());
    const qreal digit = digitWidth(metrics);
    qreal x = rect.left();
    if (alignment & Qt::AlignRight)
        x = rect.right() - tabularWidth(text, painter.font());
    const qreal baseline = rect.center().y() + (metrics.ascent() - metrics.descent()) / 2;
    for (qsizetype at = 0; at < text.size();) {
        const qsizetype end = text[at].isDigit() ? at + 1 : runEnd(text, at);
        const QString run = text.mid(at, end - at);
        const qreal width = metrics.horizontalAdvance(run);
        const bool is_digit = end == at + 1 && text[at].isDigit();
        painter.drawText(QPointF(is_digit ? x + (digit - width) / 2 : x, baseline), run);
        x += is_digit ? digit : width;
        at = end;
    }
}

void drawMark(QPainter& painter, const QRectF& rect, Mark mark) {
    const Theme& theme = Theme::current();
    const QPointF c = rect.center();
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    switch (mark) {
    case Mark::None:
        break;
    case Mark::Hidden:
        painter.setBrush(theme.hidden_ok);
        painter.drawEllipse(c, 4, 4);
        break;
    case Mark::Limited:
        painter.fillPath(triangle(c, 4.8), theme.limited);
        break;
    case Mark::NotCandidate:
        painter.setPen(QPen(theme.muted, 1.4));
        painter.drawEllipse(c, 3.4, 3.4);
        break;
    case Mark::InFlight:
        painter.setPen(QPen(theme.other_comm, 1.4));
        painter.drawEllipse(c, 3.8, 3.8);
        painter.setBrush(theme.other_comm);
        painter.drawPie(QRectF(c.x() - 3.8, c.y() - 3.8, 7.6, 7.6), -90 * 16, 180 * 16);
        break;
    case Mark::Moved:
        painter.setPen(QPen(theme.accent, 1.8, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
        painter.drawLine(QPointF(c.x() + 4, c.y()), QPointF(c.x() - 4, c.y()));
        painter.drawPolyline(QPolygonF({{c.x() - 1, c.y() - 3}, {c.x() - 4, c.y()}, {c.x() - 1, c.y() + 3}}));
        break;
    case Mark::Exposed:
        painter.setPen(QPen(theme.exposed, 1.2));
        painter.drawRect(QRectF(c.x() - 3.5, c.y() - 3.5, 7, 7));
        painter.drawLine(QPointF(c.x() - 3.5, c.y() + 3.5), QPointF(c.x() + 3.5, c.y() - 3.5));
        break;
    case Mark::Info:
        painter.setBrush(theme.muted);
        painter.drawEllipse(c, 6, 6);
        drawSign(painter, c, 6, QStringLiteral("i"), theme);
        break;
    case Mark::Warning:
        painter.fillPath(triangle(c, 7), theme.warning);
        drawSign(painter, QPointF(c.x(), c.y() + 1.5), 5.5, QStringLiteral("!"), theme);
        break;
    case Mark::Error:
        painter.setBrush(theme.limited);
        painter.drawRoundedRect(QRectF(c.x() - 6, c.y() - 6, 12, 12), 2.5, 2.5);
        drawSign(painter, c, 6, QStringLiteral("!"), theme);
        break;
    }
    painter.restore();
}

qreal drawBadge(QPainter& painter, const QRectF& rect, Provenance provenance) {
    const ProvenanceText text = provenanceText(provenance);
    if (text.letter.isEmpty())
        return 0;
    const Theme& theme = Theme::current();
    const QColor color = badgeColor(provenance, theme);
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    const QFont font = Theme::font(10, QFont::DemiBold);
    painter.setFont(font);
    const QRectF box(rect.left(), rect.center().y() - 7, 14, 14);
    painter.setPen(QPen(color, 1));
    QColor fill = color;
    fill.setAlphaF(theme.dark ? 0.25F : 0.14F);
    painter.setBrush(fill);
    painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 3, 3);
    painter.drawText(box, Qt::AlignCenter, text.letter);
    const QFont word_font = Theme::font(11);
    const qreal word = QFontMetricsF(word_font).horizontalAdvance(text.word);
    qreal used = box.width();
    if (box.right() + 5 + word <= rect.right()) {
        painter.setFont(word_font);
        painter.setPen(theme.text);
        painter.drawText(QRectF(box.right() + 5, rect.top(), word + 1, rect.height()),
                         Qt::AlignVCenter | Qt::AlignLeft, text.word);
        used += 5 + word;
    }
    painter.restore();
    return used;
}

} // namespace gs

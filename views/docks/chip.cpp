#include "views/docks/chip.h"

#include "base/units.h"
#include "views/docks/paint_text.h"

#include <cmath>

namespace gs {

namespace {
constexpr int kHeight = 20;
constexpr int kText = 22; ///< where the text begins
} // namespace

Chip::Chip(const QString& text, Mark mark, QWidget* parent) : QAbstractButton(parent), mark_(mark) {
    setText(text);
    setCheckable(true);
    setFocusPolicy(Qt::TabFocus);
    setCursor(Qt::PointingHandCursor);
    setCount(0);
}

void Chip::setCount(int count) {
    count_ = count;
    setAccessibleName(label());
    updateGeometry();
    update();
}

QString Chip::label() const {
    return text() + QLatin1Char(' ') + QString::fromStdString(formatCount(count_));
}

QSize Chip::sizeHint() const {
    return {kText + static_cast<int>(std::ceil(tabularWidth(label(), Theme::font(11, QFont::Medium)))) + 10,
            kHeight};
}

void Chip::paintEvent(QPaintEvent*) {
    const Theme& theme = Theme::current();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF box = QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5);
    const bool on = isChecked();
    painter.setPen(on || hasFocus() ? QPen(theme.accent, hasFocus() ? 1.6 : 1) : QPen(Qt::NoPen));
    painter.setBrush(on ? theme.selection : theme.field);
    painter.drawRoundedRect(box, kHeight / 2.0, kHeight / 2.0);
    drawMark(painter, QRectF(5, 0, 14, height()), mark_);
    painter.setFont(Theme::font(11, QFont::Medium));
    painter.setPen(count_ == 0 && !on ? theme.muted : theme.text);
    drawTabular(painter, QRectF(kText, 0, width() - kText, height()), label(), Qt::AlignLeft);
}

} // namespace gs

#include "app/header_chip.h"

#include "views/theme.h"

#include <QFontMetrics>
#include <QKeyEvent>
#include <QPainter>

namespace gs {

namespace {

constexpr int kPadding = 10;
constexpr int kGap = 8;
constexpr int kHeight = 26;

} // namespace

HeaderChip::HeaderChip(const QString& caption, Look look, QWidget* parent)
    : QAbstractButton(parent), caption_(caption), look_(look) {
    setCursor(Qt::PointingHandCursor);
    setFocusPolicy(Qt::TabFocus);
    setAccessibleName(caption);
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
}

void HeaderChip::setCaption(const QString& caption) {
    caption_ = caption;
    setAccessibleName(caption);
    updateGeometry();
    update();
}

void HeaderChip::setValue(const QString& value) {
    if (value == value_)
        return;
    value_ =
        QFontMetrics(Theme::font(12, QFont::Medium)).elidedText(value, Qt::ElideMiddle, max_value_width_);
    setAccessibleDescription(value);
    updateGeometry();
    update();
}

QSize HeaderChip::sizeHint() const {
    int width = 2 * kPadding;
    if (!caption_.isEmpty())
        width += QFontMetrics(Theme::font(11)).horizontalAdvance(caption_);
    if (!value_.isEmpty())
        width += QFontMetrics(Theme::font(12, QFont::Medium)).horizontalAdvance(value_);
    if (!caption_.isEmpty() && !value_.isEmpty())
        width += kGap;
    return {width, kHeight};
}

void HeaderChip::paintEvent(QPaintEvent*) {
    const Theme& theme = Theme::current();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    QColor fill = look_ == Look::Primary ? theme.accent : theme.field;
    if (isEnabled() && (underMouse() || isDown()))
        fill = look_ == Look::Primary ? fill.darker(110) : theme.selection;
    painter.setBrush(fill);
    painter.setPen(hasFocus() ? QPen(look_ == Look::Primary ? theme.text : theme.accent, 1.5)
                              : QPen(Qt::NoPen));
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.75, 0.75, -0.75, -0.75), 5, 5);

    const QRect box = rect().adjusted(kPadding, 0, -kPadding, 0);
    painter.setFont(Theme::font(11));
    painter.setPen(theme.muted);
    painter.drawText(box, Qt::AlignVCenter | Qt::AlignLeft, caption_);
    painter.setFont(Theme::font(12, QFont::Medium));
    painter.setPen(!isEnabled() ? theme.muted : look_ == Look::Primary ? theme.on_accent : theme.text);
    painter.drawText(box, Qt::AlignVCenter | Qt::AlignRight, value_);
}

void HeaderChip::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter || event->key() == Qt::Key_Down)
        click();
    else
        QAbstractButton::keyPressEvent(event);
}

void HeaderChip::enterEvent(QEnterEvent* event) {
    update();
    QAbstractButton::enterEvent(event);
}

void HeaderChip::leaveEvent(QEvent* event) {
    update();
    QAbstractButton::leaveEvent(event);
}

} // namespace gs

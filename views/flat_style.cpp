#include "views/flat_style.h"

#include "views/theme.h"

#include <QPainter>
#include <QStyleFactory>
#include <QStyleOption>

namespace gs {

namespace {

void drawIndicator(const QStyleOption& option, QPainter& painter, bool round) {
    const Theme& theme = Theme::current();
    const bool on = option.state & (QStyle::State_On | QStyle::State_NoChange);
    const bool enabled = option.state & QStyle::State_Enabled;
    QRectF box(0, 0, 14, 14);
    box.moveCenter(QRectF(option.rect).center());
    box.adjust(0.5, 0.5, -0.5, -0.5);
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    const QColor mark = enabled ? theme.accent : theme.muted;
    const bool focus = option.state & QStyle::State_HasFocus;
    painter.setPen(QPen(on || focus ? mark : theme.muted, focus ? 1.6 : 1));
    painter.setBrush(on && !round ? mark : theme.panel);
    if (round)
        painter.drawEllipse(box);
    else
        painter.drawRoundedRect(box, 3, 3);
    if (on && round) {
        painter.setPen(Qt::NoPen);
        painter.setBrush(mark);
        painter.drawEllipse(box.adjusted(3.5, 3.5, -3.5, -3.5));
    } else if (option.state & QStyle::State_NoChange) {
        painter.setPen(QPen(theme.on_accent, 1.8));
        painter.drawLine(QPointF(box.left() + 3, box.center().y()),
                         QPointF(box.right() - 3, box.center().y()));
    } else if (on) {
        painter.setPen(QPen(theme.on_accent, 1.8, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
        painter.drawPolyline(QPolygonF{box.topLeft() + QPointF(3, 6.8), box.topLeft() + QPointF(5.6, 9.4),
                                       box.topLeft() + QPointF(10, 3.8)});
    }
    painter.restore();
}

void drawArrow(const QStyleOption& option, QPainter& painter) {
    const QPointF centre = QRectF(option.rect).center();
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(Theme::current().muted, 1.4, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    painter.drawPolyline(
        QPolygonF{centre + QPointF(-3.5, -1.5), centre + QPointF(0, 2), centre + QPointF(3.5, -1.5)});
    painter.restore();
}

} // namespace

FlatStyle::FlatStyle() : QProxyStyle(QStyleFactory::create(QStringLiteral("Fusion"))) {}

void FlatStyle::drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                              const QWidget* widget) const {
    switch (element) {
    case PE_IndicatorCheckBox:
    case PE_IndicatorItemViewItemCheck:
        drawIndicator(*option, *painter, false);
        return;
    case PE_IndicatorRadioButton:
        drawIndicator(*option, *painter, true);
        return;
    case PE_IndicatorArrowDown:
        drawArrow(*option, *painter);
        return;
    case PE_FrameFocusRect:
        // Focus shows in each widget's own border or row.
        return;
    default:
        QProxyStyle::drawPrimitive(element, option, painter, widget);
    }
}

void FlatStyle::drawComplexControl(ComplexControl control, const QStyleOptionComplex* option,
                                   QPainter* painter, const QWidget* widget) const {
    if (control != CC_ComboBox) {
        QProxyStyle::drawComplexControl(control, option, painter, widget);
        return;
    }
    const Theme& theme = Theme::current();
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setBrush(option->state & State_MouseOver ? theme.selection : theme.field);
    painter->setPen(option->state & State_HasFocus ? QPen(theme.accent) : QPen(Qt::NoPen));
    painter->drawRoundedRect(QRectF(option->rect).adjusted(0.5, 0.5, -0.5, -0.5), 5, 5);
    painter->restore();
    QStyleOption arrow = *option;
    arrow.rect = proxy()->subControlRect(control, option, SC_ComboBoxArrow, widget);
    drawArrow(arrow, *painter);
}

int FlatStyle::styleHint(StyleHint hint, const QStyleOption* option, const QWidget* widget,
                         QStyleHintReturn* result) const {
    if (hint == SH_ComboBox_Popup)
        return 0;
    return QProxyStyle::styleHint(hint, option, widget, result);
}

} // namespace gs

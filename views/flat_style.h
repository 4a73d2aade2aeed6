// Fusion with indicators and lists in the theme's colours: its own draw theirs from shades that a dark
// palette lacks.
#pragma once

#include <QProxyStyle>

namespace gs {

class FlatStyle : public QProxyStyle {
public:
    FlatStyle();
    void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                       const QWidget* widget) const override;
    void drawComplexControl(ComplexControl control, const QStyleOptionComplex* option, QPainter* painter,
                            const QWidget* widget) const override;
    int styleHint(StyleHint hint, const QStyleOption* option, const QWidget* widget,
                  QStyleHintReturn* result) const override;
};

} // namespace gs

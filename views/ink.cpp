#include "views/ink.h"

#include <algorithm>
#include <cmath>

namespace gs {

namespace {

double contrast(const QColor& a, const QColor& b) {
    const auto luminance = [](const QColor& color) {
        const auto linear = [](double c) {
            return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
        };
        return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) +
               0.0722 * linear(color.blueF());
    };
    const double one = luminance(a) + 0.05;
    const double two = luminance(b) + 0.05;
    return std::max(one, two) / std::min(one, two);
}

QColor over(const QColor& fill, const QColor& ground) {
    const float a = fill.alphaF();
    return QColor::fromRgbF(fill.redF() * a + ground.redF() * (1 - a),
                            fill.greenF() * a + ground.greenF() * (1 - a),
                            fill.blueF() * a + ground.blueF() * (1 - a));
}

} // namespace

QColor inkOn(const QColor& fill, const Theme& theme) {
    const QColor dark = theme.dark ? theme.window : theme.text;
    const QColor seen = over(fill, theme.panel);
    return contrast(seen, theme.on_accent) > contrast(seen, dark) ? theme.on_accent : dark;
}

} // namespace gs

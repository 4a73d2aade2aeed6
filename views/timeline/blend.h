// Colours made from the theme's.
#pragma once

#include <QColor>
#include <cmath>

namespace gs {

inline QColor faded(QColor color, double alpha) {
    color.setAlphaF(static_cast<float>(color.alphaF() * alpha));
    return color;
}

/// `share` of one colour over another, opaque.
inline QColor mixed(const QColor& over, const QColor& under, double share) {
    const auto channel = [&](int a, int b) {
        return static_cast<int>(std::lround(a * share + b * (1 - share)));
    };
    return {channel(over.red(), under.red()), channel(over.green(), under.green()),
            channel(over.blue(), under.blue())};
}

} // namespace gs

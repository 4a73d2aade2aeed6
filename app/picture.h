// Pictures of widgets.
#pragma once

#include <QByteArray>

class QWidget;

namespace gs {

enum class PictureFormat : uint8_t { Svg, Png, Pdf };

/// What the widget shows as it stands: vectors for SVG and PDF (one page of its size), else pixels, `scale`
/// of them per point. Empty if the widget has no size yet.
QByteArray pictureOf(QWidget* widget, PictureFormat format, double scale = 1);

} // namespace gs

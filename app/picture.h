// Pictures of widgets, as bytes and as files.
#pragma once

#include "base/result.h"

#include <QByteArray>
#include <QString>

class QWidget;

namespace gs {

enum class PictureFormat : uint8_t { Svg, Png, Pdf };
/// By the end of a file's name; Png for any other.
PictureFormat pictureFormat(const QString& file);

/// What the widget shows as it stands: vectors for SVG and PDF (one page of its size), else pixels, `scale`
/// of them per point. Empty if the widget has no size yet.
QByteArray pictureOf(QWidget* widget, PictureFormat format, double scale = 1);

/// The same as a file. Whole file or none; error code "write-failed".
Status savePicture(QWidget* widget, const QString& file);

} // namespace gs

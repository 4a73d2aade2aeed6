// Pictures of widgets as files.
#pragma once

#include "base/result.h"

#include <QString>

class QWidget;

namespace gs {

/// Writes what the widget shows as it stands: as vectors where the file's name ends in .svg, else as a PNG.
/// Whole file or none; error code "write-failed".
Status savePicture(QWidget* widget, const QString& file);

} // namespace gs

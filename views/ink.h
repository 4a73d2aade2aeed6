// The colour of a text on a filled box.
#pragma once

#include "views/theme.h"

namespace gs {

/// The lighter or the darker one of the theme, whichever stands out more (WCAG 2, relative luminance). What
/// shines through `fill` is the panel.
QColor inkOn(const QColor& fill, const Theme& theme);

} // namespace gs

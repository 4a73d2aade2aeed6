// Small pieces of painting that the tables and cards share.
#pragma once

#include "views/models/table_roles.h"
#include "views/theme.h"

#include <QPainter>
#include <QRectF>

namespace gs {

/// Width of `text` with every digit as wide as the widest. Inter's digits are proportional, and Qt 6.4 cannot
/// ask a font for its tabular ones.
qreal tabularWidth(const QString& text, const QFont& font);
/// Draws it so, right-aligned or left-aligned in `rect`, vertically centred, with the painter's font and pen.
void drawTabular(QPainter& painter, const QRectF& rect, const QString& text, Qt::Alignment alignment);

/// Draws the shape of a state centred in `rect`.
void drawMark(QPainter& painter, const QRectF& rect, Mark mark);

/// Draws "M measured" as a badge, left-aligned in `rect`; letter only if the word does not fit. Returns the
/// width.
qreal drawBadge(QPainter& painter, const QRectF& rect, Provenance provenance);

} // namespace gs

// Colours and fonts by role, defined once for every view and every exported picture. No view names a colour
// itself. The roles are told apart by more than hue (fill, hatch, outline), so that they are safe for
// colour-blind eyes.
#pragma once

#include <QColor>
#include <QFont>
#include <QPalette>

namespace gs {

struct Theme {
    bool dark = false;
    QColor window; ///< behind the panels
    QColor panel;  ///< background of a panel
    QColor border; ///< hairlines, grid
    QColor text;
    QColor muted;      ///< captions, axis labels
    QColor field;      ///< chips, inputs, folded boxes
    QColor accent;     ///< selection outline, links, primary button
    QColor selection;  ///< selected row, window of the selection
    QColor on_accent;  ///< text on accent or on a filled box
    QColor compute;    ///< compute slices and nodes
    QColor gather;     ///< weight gathers
    QColor other_comm; ///< reduce-scatters, all-reduces, other collectives
    QColor exposed;    ///< stalls: drawn hatched, at low opacity, with an outline
    QColor hidden_ok;  ///< verdict hidden
    QColor limited;    ///< verdict COMPUTE-LIMITED
    QColor live_bytes; ///< curve
    QColor warning;

    static Theme light();
    static Theme darkTheme();
    /// The theme of the application's palette.
    static const Theme& current();
    /// Sets palette, style and fonts of the whole application.
    static void apply(bool dark);

    QPalette palette() const;
    /// Flat fields, rounded panels, thin scroll bars; see theme_style.cpp for the roles that widgets can
    /// name.
    QString styleSheet() const;
    /// Interface font by pixel size and weight; digits are tabular. Sizes: 11 caption, 12 body, 13 panel
    /// title, 14 title.
    static QFont font(int pixel_size = 12, QFont::Weight weight = QFont::Normal);
};

} // namespace gs

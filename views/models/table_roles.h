// Item roles that the tables' delegate understands, and the marks and badges it draws.
#pragma once

#include "cost/cost_table.h"

#include <QString>
#include <Qt>

namespace gs {

enum TableRole : int {
    SortRole = Qt::UserRole + 1,      ///< number or text to sort by
    MarkRole,                         ///< int(Mark): drawn as a coloured shape
    BarRole,                          ///< double in [0, 1]: drawn as a small bar behind the text
    BadgeRole,                        ///< int(Provenance): drawn as a badge
    MutedRole,                        ///< bool: text in the muted colour
    NumericRole,                      ///< bool: digits are set in equal widths
    EditedRole,                       ///< bool: the user changed it; marked
    ChangeBarRole,                    ///< double in [-1, 1]: drawn from a middle, to the right for slower
    FirstOwnRole = Qt::UserRole + 100 ///< where a model's own roles begin
};

/// Shapes of a state: told apart by outline as well as by colour.
enum class Mark : uint8_t {
    None,
    Hidden,       ///< filled disc
    Limited,      ///< filled triangle
    NotCandidate, ///< ring
    InFlight,     ///< half a disc: its first half lies before the graph
    Moved,        ///< arrow
    Exposed,      ///< hatched square
    Info,         ///< disc with an i
    Warning,      ///< triangle with a !
    Error         ///< octagon with a !
};

/// One letter and a word for a cost's provenance: 'M' "measured", …
struct ProvenanceText {
    QString letter;
    QString word;
    QString meaning; ///< one sentence for a tooltip
};
ProvenanceText provenanceText(Provenance provenance);

} // namespace gs

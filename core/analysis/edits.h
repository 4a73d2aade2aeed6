// What a person changed by hand on top of passes and schedulers. Nodes are named, not numbered, so that an
// edit outlives a change of the settings.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace gs {

struct Edit {
    enum class Kind : uint8_t {
        Move,   ///< `node` goes right before `anchor` in the new order
        Pin,    ///< the same; made where the node already was, so that it stays there
        Forbid, ///< no scheduler may move `node`: it keeps its place in program order
        Bucket  ///< exactly `members` share one coalesced launch; one member alone stays plain
    };
    Kind kind = Kind::Move;
    std::string node;                 ///< Move, Pin, Forbid. A launch takes its group along
    std::string anchor;               ///< Move, Pin
    std::vector<std::string> members; ///< Bucket: launches of the lowered graph
    bool operator==(const Edit&) const = default;
};

/// In the order they are applied. At most one Move, Pin or Forbid per node; buckets share no member.
using Edits = std::vector<Edit>;

/// "move:NODE:ANCHOR", "pin:NODE:ANCHOR", "forbid:NODE", "bucket:A,B,C": the form of the command line and of
/// the files.
std::string editText(const Edit& edit);
std::vector<std::string> editTexts(const Edits& edits);
/// Error "usage" with the forms above.
Result<Edit> parseEdit(std::string_view text);

/// `edits` with `edit` at its end and without what it replaces: the earlier placement of its node, or its
/// members in earlier buckets (a bucket that is left with one member disappears).
Edits withEdit(Edits edits, const Edit& edit);
/// Without placements of `node` and without the buckets it is a member of.
Edits withoutEdits(Edits edits, std::string_view node);
/// The Move, Pin or Forbid of a node, or null.
const Edit* placementOf(const Edits& edits, std::string_view node);

} // namespace gs

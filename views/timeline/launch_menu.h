// What can be changed by hand about a launch, as actions of a context menu.
#pragma once

#include "views/view.h"

class QMenu;

namespace gs {

/// Adds the actions for a launch of `view`'s scheduled program; kNoNode: only what concerns all. They emit
/// the view's signals. `keys`: the view knows the keys, which are shown then.
void addLaunchActions(QMenu& menu, View& view, NodeId launch, bool keys = false);

} // namespace gs

// Text of several lines that can be selected, as pages and dialogs show it.
#pragma once

class QLabel;
class QLayout;

namespace gs {

/// Added to `layout`, which owns it. `role` is one of the theme's label roles.
QLabel* paragraph(const char* role, QLayout* layout);

} // namespace gs

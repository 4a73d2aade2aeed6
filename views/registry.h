// The views of the window. A new view is one file and one line in registry.cpp.
#pragma once

#include "views/view.h"

#include <span>

namespace gs {

/// Where a view sits in the default layout: three columns over the full-width timeline. Views of one place
/// are tabs, in the registry's order; the first is on top.
enum class DockPlace : uint8_t { Left, Middle, Right, Bottom };

struct ViewInfo {
    const char* id;    ///< stable: object name, stored layouts, picture names
    const char* title; ///< untranslated, context "Views"
    DockPlace place;
    View* (*create)(QWidget* parent);
};

std::span<const ViewInfo> viewRegistry();
QString viewTitle(const ViewInfo& info);

} // namespace gs

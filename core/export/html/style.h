// Styles of the report and of its pictures: light and dark by the reader's preference, light on paper.
#pragma once

#include <string_view>

namespace gs::html {

/// Colours as custom properties, and the classes of pictures; for SVG files and pages alike.
std::string_view pictureStyle();
/// Everything else of a page.
std::string_view pageStyle();

} // namespace gs::html

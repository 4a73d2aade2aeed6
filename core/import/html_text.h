// The text that a web page shows. tlparse writes output code as a page of coloured text.
#pragma once

#include <string>
#include <string_view>

namespace gs {

/// True if a text begins like a web page or a part of one.
bool looksLikeHtml(std::string_view text);
/// Without tags, scripts and styles, entities resolved. Line ends stay where they are, so that line numbers
/// are those of the page.
std::string textOfHtml(std::string_view html);

} // namespace gs

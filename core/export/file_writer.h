// Files that are either the old one or the whole new one, never half.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>

namespace gs {

/// Writes to a temporary file beside `path`, syncs it and renames it over `path`; a link stays a link and an
/// existing file keeps its permissions. Error code "write-failed"; then `path` is as it was.
Status writeFile(const std::string& path, std::string_view text);

/// A file name without folders from any label: letters, digits, "._-" and other UTF-8 stay, the rest becomes
/// "_"; at most 200 bytes, never empty, never starting with a dot or a dash.
std::string safeFileName(std::string_view label);

} // namespace gs

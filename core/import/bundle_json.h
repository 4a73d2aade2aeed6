// What readers of bundles (`gatherscope.bundle`, see core/export/bundle.cpp) share.
#pragma once

#include "base/diagnostics.h"
#include "base/result.h"

#include <simdjson.h>
#include <string_view>

namespace gs {

inline constexpr int64_t kBundleVersion = 1;

/// Code of the warning that a bundle's graph is not the one it was made of.
inline constexpr std::string_view kBundleEdited = "bundle-edited";

/// By the first bytes of a text.
inline bool looksLikeBundle(std::string_view head) {
    return head.substr(0, 256).find("\"gatherscope.bundle\"") != std::string_view::npos;
}

/// Error "bundle-version" unless this program knows the bundle's version.
Status checkBundleVersion(const simdjson::dom::object& root, const std::string& path);

/// Diagnostics as they were written, under `key`.
void readDiagnostics(const simdjson::dom::object& root, std::string_view key, Diagnostics& diagnostics);

} // namespace gs

// What readers of bundles (`gatherscope.bundle`, see core/export/bundle.cpp) share.
#pragma once

#include "base/diagnostics.h"

#include <simdjson.h>
#include <string_view>

namespace gs {

inline constexpr int64_t kBundleVersion = 1;

/// By the first bytes of a text.
inline bool looksLikeBundle(std::string_view head) {
    return head.substr(0, 256).find("\"gatherscope.bundle\"") != std::string_view::npos;
}

/// Diagnostics as they were written, under `key`.
void readDiagnostics(const simdjson::dom::object& root, std::string_view key, Diagnostics& diagnostics);

} // namespace gs

// What readers of bundles (`gatherscope.bundle`, see core/export/bundle.cpp) share.
#pragma once

#include "base/diagnostics.h"
#include "base/result.h"

#include <array>
#include <simdjson.h>
#include <span>
#include <string>
#include <string_view>

namespace gs {

inline constexpr int64_t kBundleVersion = 1;

/// Code of the warning that a part of a bundle is not as it was written.
inline constexpr std::string_view kBundleEdited = "bundle-edited";

/// What a bundle states a hash of, under "hashes"/"parts".
inline constexpr std::array<std::string_view, 8> kBundleParts{
    "versions", "request", "input_diagnostics", "cost_diagnostics", "costs", "ranks", "graph", "analysis"};

/// By the first bytes of a text.
inline bool looksLikeBundle(std::string_view head) {
    return head.substr(0, 256).find("\"gatherscope.bundle\"") != std::string_view::npos;
}

/// Error "bundle-version" unless this program knows the bundle's version.
Status checkBundleVersion(const simdjson::dom::object& root, const std::string& path);

/// Hash of a value: its keys and values in their order, not the white space between them.
std::string bundlePartHash(const simdjson::dom::element& part);

/// One warning kBundleEdited for each of these parts whose hash is not the one that the bundle states.
void checkBundleParts(const simdjson::dom::object& root, std::span<const std::string_view> parts,
                      const std::string& path, Diagnostics& diagnostics);

/// Diagnostics as they were written, under `key`.
void readDiagnostics(const simdjson::dom::object& root, std::string_view key, Diagnostics& diagnostics);

} // namespace gs

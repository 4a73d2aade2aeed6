// Writers of files from an analysis. A new format is one file and one line in registry.cpp.
#pragma once

#include "analysis/analysis.h"
#include "base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace gs {

struct ExportOptions {
    /// What the file is for, where an exporter knows several (see Exporter::targets): "torch-2.15". Empty =
    /// the newest.
    std::string target;
};

struct Exporter {
    std::string_view name;      ///< as in `export --format NAME`
    std::string_view title;     ///< for the dialog
    std::string_view extension; ///< without the dot
    Result<std::string> (*make)(const Analysis& analysis, const ExportOptions& options);
    /// What a person should know before using the file; null = nothing beyond commonWarnings().
    std::vector<std::string> (*warn)(const Analysis& analysis, const ExportOptions& options) = nullptr;
    /// Values of ExportOptions::target, oldest first; null = there is no choice.
    std::vector<std::string> (*targets)() = nullptr;
    bool binary = false; ///< the file is no text that a preview could show

    /// Whole text of the file; byte-identical for equal analyses. No dates, no machine names. Error code
    /// "unknown-target" for a target that is none of targets().
    Result<std::string> write(const Analysis& analysis, const ExportOptions& options = {}) const;
    /// Sentences, the gravest first: of this format, then commonWarnings().
    std::vector<std::string> warnings(const Analysis& analysis, const ExportOptions& options = {}) const;
};

const std::vector<Exporter>& exporters();
/// Null if no exporter has this name.
const Exporter* findExporter(std::string_view name);

} // namespace gs

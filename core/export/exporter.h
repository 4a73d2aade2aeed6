// Writers of files from an analysis. A new format is one file and one line in registry.cpp.
#pragma once

#include "analysis/analysis.h"
#include "base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace gs {

struct Exporter {
    std::string_view name;      ///< as in `export --format NAME`
    std::string_view title;     ///< for the dialog
    std::string_view extension; ///< without the dot
    /// Whole text of the file; byte-identical for equal analyses. No dates, no machine names.
    Result<std::string> (*write)(const Analysis& analysis);
};

const std::vector<Exporter>& exporters();
/// Null if no exporter has this name.
const Exporter* findExporter(std::string_view name);

} // namespace gs

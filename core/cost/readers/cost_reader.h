// Readers of cost files. A new format is one file and one line in registry.cpp.
#pragma once

#include "base/diagnostics.h"
#include "base/progress.h"
#include "cost/cost_model.h"
#include "import/importer.h"

#include <span>

namespace gs {

struct CostReader {
    std::string_view name;  ///< "kineto", "nsys", "estline", …
    std::string_view title; ///< for people
    /// How sure the reader is that a file is its own, 0 to 100, by its first 64 KiB (decompressed).
    int (*sniff)(std::string_view head);
    /// Reads the file. Half-readable files give a model and diagnostics; an Error means no costs at all.
    Result<CostModelPtr> (*read)(const std::string& path, Diagnostics& diagnostics, const JobContext& job);
};

/// In order of the list; the surest reads, the first of equals.
std::span<const CostReader> costReaders();

CostReader bundleCostReader();
/// Of a text with one cost a line: says so (code "open-end") if the last line has no end, for a number that
/// was cut in the middle looks like a smaller one.
void reportOpenEnd(const InputText& input, Diagnostics& diagnostics);

CostReader gatherscopeCostReader();
CostReader kinetoReader();
CostReader nsysReader();
CostReader logCostReader();
CostReader inductorRuntimeReader();
CostReader inductorCsvReader();
CostReader collectiveTableReader();

} // namespace gs

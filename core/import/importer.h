// Readers of graph files. A new format is one file and one line in registry.cpp.
#pragma once

#include "base/diagnostics.h"
#include "base/progress.h"
#include "graph/graph.h"

#include <string>
#include <string_view>
#include <vector>

namespace gs {

/// One graph found in a file, before it is read.
struct GraphEntry {
    std::string name;  ///< "aot_forward_graph", "GraphModule", …
    size_t offset = 0; ///< where its text begins
    size_t length = 0;
    uint32_t line = 1; ///< first line
    int32_t rank = -1; ///< rank the log line names; -1 = none
};

/// Text of an input after decompression.
struct InputText {
    std::string path; ///< as given by the user; for messages
    std::string text;
};

struct GraphReader {
    std::string_view name;  ///< "gatherscope-json", "fx-code", "fx-graph", …
    std::string_view title; ///< "print_readable text", …
    /// How sure the reader is that the text is its own, 0 = not at all, 100 = certain. Looks at content only.
    int (*sniff)(std::string_view text);
    /// The graphs in the text.
    std::vector<GraphEntry> (*list)(const InputText& input);
    /// Reads one graph. Partly readable text gives a graph and diagnostics; an Error means no graph at all.
    Result<GraphPtr> (*read)(const InputText& input, const GraphEntry& entry, Diagnostics& diagnostics,
                             const JobContext& job);
};

const std::vector<GraphReader>& graphReaders();

/// Reads a file, decompresses .gz by content. Errors: missing, folder, no permission, empty, cut or corrupt
/// gzip (then with what could be decompressed and a diagnostic, if that is anything).
Result<InputText> readInput(const std::string& path, Diagnostics& diagnostics);

struct ImportedGraph {
    GraphPtr graph;
    std::string reader;
    std::vector<GraphEntry> entries; ///< all graphs of the file
    size_t chosen = 0;
};

/// Opens a graph file: chooses the reader by content, graph `index` of it (default: the one with the most
/// lines).
Result<ImportedGraph> importGraph(const std::string& path, int index, int rank, Diagnostics& diagnostics,
                                  const JobContext& job);
/// The same for a text that is at hand already; its path is for messages.
Result<ImportedGraph> importText(const InputText& input, int index, int rank, Diagnostics& diagnostics,
                                 const JobContext& job);

} // namespace gs

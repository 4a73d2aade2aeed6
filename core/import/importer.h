// Readers of graph files. A new format is one file and one line in registry.cpp.
#pragma once

#include "base/diagnostics.h"
#include "base/progress.h"
#include "graph/graph.h"

#include <string>
#include <string_view>
#include <vector>

namespace gs {

/// One graph found in a file, before it is read. The counts come from looking at its lines only.
struct GraphEntry {
    std::string name;  ///< for people: "aot_forward_graph [0/0]", "Forward graph 0 [0/0]", "GraphModule", …
    std::string stage; ///< what the text around it calls it: "aot_forward_graph"; empty = nothing does
    std::string compile_id; ///< "0/0", "!1/0/0_1"; empty = not stated
    std::string file;       ///< file of a folder that holds it; empty = the input itself
    size_t offset = 0;      ///< where its text begins
    size_t length = 0;
    uint32_t line = 1; ///< first line
    int32_t rank = -1; ///< rank the log line or the file's name states; -1 = none
    GraphLevel level = GraphLevel::Fx;
    size_t nodes = 0;
    size_t collectives = 0;
    size_t gathers = 0;
    int sureness = 0; ///< how sure the reader is that this is its own, 0 … 100
};

/// Text of an input after decompression.
struct InputText {
    std::string path; ///< as given by the user; for messages
    std::string text;
};

struct GraphReader {
    std::string_view name;  ///< "gatherscope-json", "fx-code", "fx-graph", …
    std::string_view title; ///< "print_readable text", …
    /// The graphs in the text, in its order; none if it is no text of this reader. Looks at content only.
    std::vector<GraphEntry> (*list)(const InputText& input);
    /// Reads one graph. Partly readable text gives a graph and diagnostics; an Error means no graph at all.
    Result<GraphPtr> (*read)(const InputText& input, const GraphEntry& entry, Diagnostics& diagnostics,
                             const JobContext& job);
};

const std::vector<GraphReader>& graphReaders();

/// Reads a file, decompresses .gz by content. Errors: missing, folder, no permission, empty, cut or corrupt
/// gzip (then with what could be decompressed and a diagnostic, if that is anything).
Result<InputText> readInput(const std::string& path, Diagnostics& diagnostics);

/// What lies beside a graph and belongs to the same compilation: a file, or an artifact inside a TORCH_TRACE
/// log.
struct Companion {
    enum class Kind : uint8_t { Costs, ExecutionOrder, CollectiveSchedule, Trace, Timeouts };
    Kind kind = Kind::Costs;
    std::string what; ///< "Inductor's runtime estimates", …
    std::string file;
    size_t offset = 0; ///< of its text in the file
    size_t length = 0; ///< 0 = the whole file
    uint32_t line = 0; ///< of its first line inside a log; 0 = the whole file
    int32_t rank = -1;
    std::string compile_id;
};

/// Everything in a file or a folder that one can choose from.
struct GraphList {
    std::vector<GraphEntry> graphs;
    std::vector<std::string> readers; ///< reader of each graph
    std::vector<Companion> companions;
    size_t preferred = 0; ///< the graph that opens when nobody chooses: see importGraph()
};

/// The graphs of a file or of a folder (TORCH_TRACE logs, tlparse's output, TORCH_COMPILE_DEBUG's output),
/// without reading them: several hundred MB per second. Errors: as readInput(), "not-a-graph" where there is
/// none.
Result<GraphList> listGraphs(const std::string& path, Diagnostics& diagnostics, const JobContext& job = {});

/// What somebody picked among the graphs of an input.
struct GraphChoice {
    int index = -1;          ///< position in GraphList::graphs; -1 = not said
    int rank = -1;           ///< -1 = any
    std::string stage;       ///< name of the stage, or a part of it; empty = any
    std::string shapes_file; ///< a second file of the same graph that has what the first lacks; may be empty
};

struct ImportedGraph {
    GraphPtr graph;
    std::string reader;
    std::vector<GraphEntry> entries; ///< all graphs of the input
    std::vector<Companion> companions;
    size_t chosen = 0;
};

/// Opens a graph of a file or folder. What is not chosen is preferred in this order: whole graphs, ATen
/// level, the stage that Inductor schedules (post-grad), the graph with the most gathers, then with the most
/// nodes. Adds what lies beside it as diagnostics ("costs-beside", "execution-order",
/// "execution-order-differs", "schedule-differs", "watchdog-timeout"). Errors: those of listGraphs(),
/// "no-such-graph", "other-graph" for a shapes file of another graph.
Result<ImportedGraph> importGraph(const std::string& path, const GraphChoice& choice,
                                  Diagnostics& diagnostics, const JobContext& job);
Result<ImportedGraph> importGraph(const std::string& path, int index, int rank, Diagnostics& diagnostics,
                                  const JobContext& job);
/// The same for a text that is at hand already; its path is for messages.
Result<ImportedGraph> importText(const InputText& input, int index, int rank, Diagnostics& diagnostics,
                                 const JobContext& job);

} // namespace gs

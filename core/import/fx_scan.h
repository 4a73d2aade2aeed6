// Finds FX graphs in a text: the code form among log lines, other code, headings and several ranks.
#pragma once

#include "import/importer.h"
#include "import/text_lines.h"

#include <optional>
#include <unordered_map>

namespace gs {

/// Name in a line "class GraphModule(torch.nn.Module):", also with a path in front of it; nothing if the line
/// is no such line. The name need not be an identifier ("<lambda>").
std::optional<std::string_view> moduleClassName(std::string_view line);

/// Name in a line that begins with "def NAME("; nothing else.
std::optional<std::string_view> functionName(std::string_view line);

/// "name = torch.ops.…(", with or without annotation: a node statement of the code form.
bool looksLikeNode(std::string_view line);

/// What a line says about the graph after it: headings ("[Rank 1] Dynamo Graph.", "===== Forward graph 0
/// =====", "# Graph[rank=0](fw, gid=0)") and the JSON heads of TORCH_TRACE.
struct GraphHeading {
    std::string name;
    std::string compile_id;
    int32_t rank = -1;

    void read(const TextLine& line);
    /// Head of a TORCH_TRACE record: `line` with or without its prefix.
    void readJson(std::string_view line);
    /// An entry for the graph that begins in `line`; `fallback` = its name where no heading gives one.
    GraphEntry entry(std::string_view fallback, const TextLine& line) const;
};

/// Tells collectives and gathers among targets ("torch.ops._c10d_functional.all_reduce.default") while lines
/// are only counted.
class TargetCounter {
public:
    /// Adds what the call `target` counts for.
    void count(std::string_view target, GraphEntry& entry);

private:
    std::unordered_map<std::string_view, std::pair<bool, bool>> known_; ///< collective, gather
};

/// True if the text has heads of TORCH_TRACE (a log line whose message is a JSON object): then leading TABs
/// mark payload.
bool isTorchTrace(std::string_view text);

/// All graphs in code form, in order of the text. Fragments (node lines without a `def`) count only if there
/// is nothing else, and node lines inside comments only if there are no fragments either.
std::vector<GraphEntry> findCodeGraphs(std::string_view text);

/// How sure a reader is of a text by its best entry: whole graphs, fragments, fragments in comments.
inline constexpr int kSureOfGraph = 90;
inline constexpr int kSureOfFragment = 60;
inline constexpr int kSureOfComment = 20;

} // namespace gs

#include "import/neighbours.h"

#include "import/text_lines.h"

#include <algorithm>

namespace gs {

namespace {

constexpr std::string_view kCapture =
    "open the text of gm.print_readable(print_output=False, include_stride=True, include_device=True), a "
    "TORCH_LOGS=aot_graphs log, a TORCH_TRACE log or the graph JSON of the bridge";

struct Sign {
    std::string_view text;
    std::string_view what;
    std::string_view hint;
};

// Signs of JSON files, most telling first.
constexpr Sign kJsonSigns[] = {
    {"\"gatherscope.costs\"", "a cost file of Gatherscope",
     "open the graph first and add this file as costs"},
    {"\"gatherscope.analysis\"", "an analysis that Gatherscope wrote", "open the graph that it names"},
    {"\"gatherscope.graph\"", "a graph JSON whose head is damaged", "copy the file again"},
    {"\"Stream\": 0x", "output of NCCL's example profiler plugin (not valid JSON)",
     "record the run with torch.profiler and add that trace as costs"},
    {"chakra", "a Chakra or PyTorch execution trace (JSON)",
     "it has measured operators but no program order; open the FX graph of the same run"},
    {"\"workload_graph\"", "a Chakra or PyTorch execution trace (JSON)",
     "it has measured operators but no program order; open the FX graph of the same run"},
    {"\"traceEvents\"", "a Kineto or Chrome trace (JSON)",
     "it holds measurements: open the FX graph of the run first, then add the trace as costs"},
    {"\"ph\":", "a Kineto or Chrome trace (JSON)",
     "it holds measurements: open the FX graph of the run first, then add the trace as costs"},
    {"\"estimated_runtime_ns\"", "Inductor's runtime estimates (JSON)",
     "open the graph first and add this file as costs"},
    {"graph_execution_order", "an execution order of compiled graphs (JSON)",
     "open the TORCH_TRACE log that it was taken from"},
    {"torch.ops.", "a list of operators (JSON)", "open the graph that the list was made from"},
};

// Signs of other texts.
constexpr Sign kTextSigns[] = {
    {"HloModule", "an XLA HLO module", "XLA has its own scheduler; open an FX graph of PyTorch"},
    {"SchedulerNode(", "Inductor's scheduler IR (ir_pre_fusion or ir_post_fusion)",
     "open the FX graph of the same compilation: fx_graph_readable.py lies beside it"},
    {"async_compile", "Inductor's output code",
     "open the FX graph of the same compilation: fx_graph_readable.py or the TORCH_TRACE log"},
    {"Repro is not generated", "an fx_graph_runnable file in which PyTorch wrote no graph",
     "open another artifact of the same compilation, such as before_post_grad_graph"},
    {"Group Size", "a table of estimated collective times",
     "open the graph first and add this file as costs"},
    {"ESTLINE", "a log with estimate lines", "open the graph first and add this file as costs"},
    {"opcode  ", "a graph printed with print_tabular", "print it with print_readable instead"},
    {"(t: ", "a trace of DebugMode", "it lists operators without their data flow"},
    {"<!DOCTYPE html", "a web page", "save the text of the graph, not the page around it"},
    {"<html", "a web page", "save the text of the graph, not the page around it"},
};

Neighbour fromSign(const Sign& sign) {
    return {std::string(sign.what), std::string(sign.hint)};
}

bool startsWith(std::string_view text, std::string_view start) {
    return text.substr(0, start.size()) == start;
}

Neighbour nameBinary(std::string_view text) {
    if (startsWith(text, "SQLite format 3"))
        return {"an SQLite database (an Nsight Systems export or a profile store)",
                "open the FX graph of the run first, then add the database as costs"};
    if (startsWith(text, "PK"))
        return {"a ZIP archive (torch.save and torch.export write such files)",
                "pickled models are never opened; " + std::string(kCapture)};
    if (text.size() > 1 && text[0] == '\x80' && text[1] >= 2 && text[1] <= 5)
        return {"a Python pickle", "pickles can run code and are never opened; " + std::string(kCapture)};
    return {"a binary file", std::string(kCapture)};
}

/// "{" or "[" with a value behind it: log lines begin with "[rank0]" or "[2024-…]".
bool beginsJson(std::string_view text) {
    if (text.front() == '{')
        return true;
    const std::string_view inside = trimmed(text.substr(1, 200));
    return text.front() == '[' &&
           (inside.empty() || std::string_view("{[\"]").find(inside.front()) != std::string_view::npos);
}

} // namespace

Neighbour nameNeighbour(std::string_view text) {
    const bool pickle = text.size() > 1 && text[0] == '\x80' && text[1] >= 2 && text[1] <= 5;
    if (pickle || startsWith(text, "PK\x03\x04") ||
        text.substr(0, 65536).find('\0') != std::string_view::npos)
        return nameBinary(text);
    const std::string_view content = trimmed(text.substr(0, std::min<size_t>(text.size(), 65536)));
    if (content.empty())
        return {"a file with nothing but white space", std::string(kCapture)};
    if (beginsJson(content)) {
        for (const Sign& sign : kJsonSigns) {
            if (content.find(sign.text) != std::string_view::npos)
                return fromSign(sign);
        }
        return {"JSON of another kind", std::string(kCapture)};
    }
    for (const Sign& sign : kTextSigns) {
        if (content.find(sign.text) != std::string_view::npos)
            return fromSign(sign);
    }
    return {"plain text", "no line of it is a node of an FX graph; " + std::string(kCapture)};
}

} // namespace gs

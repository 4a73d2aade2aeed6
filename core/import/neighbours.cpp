#include "import/neighbours.h"

#include "import/call_text.h"
#include "import/text_lines.h"

#include <algorithm>

namespace gs {

namespace {

constexpr std::string_view kCapture =
    "open the text of gm.print_readable(print_output=False, include_stride=True, include_device=True), a "
    "TORCH_LOGS=aot_graphs log, a TORCH_TRACE log or the graph JSON of the bridge";

struct Sign {
    std::string_view text; ///< occurs in such files
    std::string_view what;
    std::string_view hint;
};

constexpr std::string_view kAsCosts =
    "it is a source of costs: open the graph first, then add this file with --costs";
constexpr std::string_view kMeasured =
    "it holds measurements and is a source of costs: open the FX graph of the run, then add it with --costs";

// Signs of JSON files, most telling first.
constexpr Sign kJsonSigns[] = {
    {"\"gatherscope.costs\"", "a cost file of Gatherscope", kAsCosts},
    {"\"gatherscope.analysis\"", "an analysis that Gatherscope wrote", "open the graph that it names"},
    {"\"gatherscope.schedule\"", "a schedule that Gatherscope wrote", "open the graph that it names"},
    {"\"gatherscope.graph\"", "a graph JSON whose head is damaged", "copy the file again"},
    {"\"Stream\": 0x", "output of NCCL's example profiler plugin (not valid JSON)",
     "record the run with torch.profiler and add that trace with --costs"},
    {"ncclFloat", "output of NCCL's example profiler plugin (not valid JSON)",
     "record the run with torch.profiler and add that trace with --costs"},
    {"chakra", "a Chakra or PyTorch execution trace (JSON)",
     "it has operators and no program order; open the FX graph of the same run"},
    {"\"workload_graph\"", "a Chakra or PyTorch execution trace (JSON)",
     "it has operators and no program order; open the FX graph of the same run"},
    {"\"ctrl_deps\"", "a Chakra or PyTorch execution trace (JSON)",
     "it has operators and no program order; open the FX graph of the same run"},
    {"\"traceEvents\"", "a Kineto or Chrome trace (JSON)", kMeasured},
    {"\"deviceProperties\"", "a Kineto or Chrome trace (JSON)", kMeasured},
    {"\"ph\":", "a Kineto or Chrome trace (JSON)", kMeasured},
    {"\"estimated_runtime_ns\"", "Inductor's runtime estimates (JSON)", kAsCosts},
    {"\"collective_benchmarks\"", "Inductor's benchmarks of collectives (JSON)", kAsCosts},
    {"graph_execution_order", "an execution order of compiled graphs (JSON)",
     "open the TORCH_TRACE log that it was taken from"},
    {"\"pg_config\"", "a dump of NCCL's flight recorder (JSON)",
     "it lists what each rank issued; open the FX graph that the rank ran"},
    {"\"graph_module\"", "a model that torch.export wrote (JSON)",
     "load it with torch.export and print its graph with print_readable"},
    {"\"string_table\"", "the records of a tlparse run (JSON)", "open the folder that it lies in"},
    {"\"artifacts\"", "the directory of tlparse's output (JSON)", "open the folder that it lies in"},
    {"torch.ops.", "a list of operators (JSON)", "open the graph that the list was made from"},
};

// Signs of other texts.
constexpr Sign kTextSigns[] = {
    {"HloModule", "an XLA HLO module", "XLA has its own scheduler; open an FX graph of PyTorch"},
    {"cost_us:", "costs of XLA's scheduler (PGLE)", "XLA has its own scheduler; open an FX graph of PyTorch"},
    {"SchedulerNode(", "Inductor's scheduler IR without a whole node", "copy the whole ir_post_fusion.txt"},
    {"async_compile", "Inductor's output code without its call function",
     "copy the whole output_code.py, or open fx_graph_readable.py of the same compilation"},
    {"Repro is not generated", "an fx_graph_runnable file in which PyTorch wrote no graph",
     "open another artifact of the same compilation, such as before_post_grad_graph"},
    {"Group Size", "a table of estimated collective times", kAsCosts},
    {"ESTLINE", "a log with estimate lines", kAsCosts},
    {"FSDP overlap placement", "a log of the placements of another scheduler", kAsCosts},
    {"Collective Key,", "Inductor's estimates of collectives (CSV)", kAsCosts},
    {"Node,Benchmarked Est(us)", "Inductor's estimates of compute nodes (CSV)", kAsCosts},
    {"opcode  ", "a graph printed with print_tabular, of which no row can be read",
     "print it with print_readable instead"},
    {"ProcessGroupNCCL", "a log of NCCL's watchdog",
     "it tells which collective hung; open the graph that ran it"},
    {"(t: ", "a trace of DebugMode", "it lists operators without their data flow; open the FX graph"},
    {"(dt: ", "a trace of DebugMode", "it lists operators without their data flow; open the FX graph"},
    {"*c10d_functional.", "a table of CommDebugMode", "it counts collectives only; open the FX graph"},
    {"CUPTI_ACTIVITY_KIND", "notes on the database of Nsight Systems", "open the FX graph of the run"},
    {"ncclDevKernel", "a report or list of kernels", "open the FX graph of the run"},
    {"<!DOCTYPE html", "a web page", "save the text of the graph, not the page around it"},
    {"<html", "a web page", "save the text of the graph, not the page around it"},
};

Neighbour fromSign(const Sign& sign) {
    return {std::string(sign.what), std::string(sign.hint)};
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

/// Most lines are an operator's name and nothing else.
bool isOperatorList(std::string_view text) {
    size_t lines = 0, names = 0;
    for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find('\n', at), text.size());
        const std::string_view line = trimmed(text.substr(at, end - at));
        at = end + 1;
        if (line.empty() || line.front() == '#')
            continue;
        ++lines;
        const bool name =
            line.find('.') != std::string_view::npos &&
            std::all_of(line.begin(), line.end(), [](char c) { return isNameChar(c) || c == '.'; });
        names += name ? 1 : 0;
    }
    return names > 1 && names * 2 > lines;
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
    if (isOperatorList(content))
        return {"a list of operators without a graph", std::string("what it lists is not known to be in one "
                                                                   "graph; ") +
                                                           std::string(kCapture)};
    return {std::string(kPlainText), "no line of it is a node of an FX graph; " + std::string(kCapture)};
}

} // namespace gs

// Units of Inductor's scheduler as its debug texts describe them, and the graph made of them.
#pragma once

#include "import/importer.h"

#include <string>
#include <string_view>
#include <vector>

namespace gs {

/// One buffer that a unit defines. Names are those of the text ("buf5").
struct InductorBuffer {
    std::string name;
    std::string kind;   ///< "ComputedBuffer", "MutationOutput", …
    std::string tensor; ///< annotation "bfloat16[1, 16][16, 1]cuda:0"; empty = no tensor of its own
    std::vector<std::string> mutates;
    bool returned = false; ///< used by the graph's output
};

/// One scheduler node: a kernel, a fused kernel, a collective or a wait.
struct InductorUnit {
    std::string name; ///< "op3", "op1_op2_op4"
    std::string kind; ///< "ExternKernelSchedulerNode", "FusedSchedulerNode", …
    std::string node; ///< "_CollectiveKernel", "ComputedBuffer", …
    std::string
        kernel; ///< "torch.ops._c10d_functional.all_reduce_.default", "extern_kernels.mm"; may be empty
    std::vector<InductorBuffer> buffers;
    std::vector<std::string> reads;   ///< buffers and inputs it needs
    std::vector<std::string> weak;    ///< buffers of WeakDeps: advisory
    std::vector<std::string> members; ///< units fused into it
    uint32_t line = 0;
};

/// A list of units as one text states it.
struct InductorUnits {
    std::vector<InductorUnit> units;
    std::vector<std::pair<std::string, std::string>> tensors; ///< annotation of an input by its name
    uint32_t last_line = 0;
    bool cut = false; ///< the text ends inside a unit
};

/// Reads the units in the lines of an entry.
InductorUnits readInductorUnits(const InputText& input, const GraphEntry& entry);

/// Target as gatherscope.graph names it at level scheduler: the operator of an extern kernel, "fused" for
/// fused units, else the class of its IR node.
std::string targetOfUnit(const InductorUnit& unit);

/// Builds the graph: a node per unit, a placeholder per name that no unit defines.
Result<GraphPtr> buildUnitGraph(const InductorUnits& units, const InputText& input, const GraphEntry& entry,
                                Diagnostics& diagnostics);

} // namespace gs

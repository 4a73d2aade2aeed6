// One way to write what an operator reads, for graphs, traces and tables alike:
//
//     bf16[8192,4096],bf16[4096,6144]        with element types
//     [8192,4096],[4096,6144]                without; tensors without dimensions are left out
//     ([2,3];[4]),f32[8]                     a list of tensors, always without types
//
// Only tensors, in the order of the arguments: scalars hardly change the time, and traces write them as "".
#pragma once

#include "graph/graph.h"

#include <string>
#include <string_view>
#include <vector>

namespace gs {

struct SignatureItem {
    bool list = false;
    DType dtype = DType::Unknown;
    std::vector<std::vector<int64_t>> shapes; ///< one, or those of a list
};
using Signature = std::vector<SignatureItem>;

/// "aten.mm" for "aten.mm.default", "aten::mm", "torch.ops.aten.mm" and "extern_kernels.mm".
std::string opPacket(std::string_view name);

Signature nodeSignature(const Graph& graph, NodeId id);
/// `text` = "Input Dims" and "Input type" of a trace with the character 0x1f between them; the types may be
/// missing. Items that are no tensors are left out.
Signature traceSignature(std::string_view text);

std::string signatureText(const Signature& items, bool with_types);

} // namespace gs

// Names of collectives as profilers, libraries and kernels write them.
#pragma once

#include "graph/op_traits.h"
#include "graph/tensor_meta.h"

#include <optional>
#include <string_view>

namespace gs {

/// Kind of a range: "c10d::_allgather_base_", "nccl:_all_gather_base",
/// "_c10d_functional::all_gather_into_tensor". Coalesced forms have the plain kind, point-to-point forms are
/// Other. None without such a namespace, so for "aten::gather", "GatherBackward0" and annotations of the
/// user's own such as "## reduce_scatter_base_bw (all_gather) ##".
CollectiveKind collectiveOfRange(std::string_view name);

/// The same for names that stand alone: a profiler's "Collective name" ("_allgather_base", "allreduce"), a
/// table's column. None for "wait".
CollectiveKind collectiveOfName(std::string_view name);

/// What a kernel's name says. It is no proof: an all-gather may run as SendRecv, a Generic kernel runs
/// anything.
struct KernelClass {
    bool communication = false;                 ///< a kernel of NCCL or RCCL, or of another transport
    CollectiveKind kind = CollectiveKind::None; ///< None if the name does not tell
    std::string_view shown;                     ///< "AllGather", "SendRecv", "Generic", …
};
KernelClass classifyKernel(std::string_view name);

/// Same kind without "coalesced".
CollectiveKind plainKind(CollectiveKind kind);

/// Element type by any name that PyTorch's profiler uses: "c10::BFloat16", "float", "long int", "Float",
/// "Half", … or of print_readable. Unknown for none.
DType dtypeOfTrace(std::string_view name);

} // namespace gs

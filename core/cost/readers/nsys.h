// Nsight Systems' SQLite export.
#pragma once

#include "cost/readers/trace_events.h"

namespace gs {

/// Reads kernels, copies, launches and NVTX ranges of an export. Tables and columns differ by version, so
/// what is there is looked up first; names are ids into StringIds or texts. Ranges that emit_nvtx() of
/// PyTorch writes ("aten::mm, seq = 5, sizes = [[2, 3], [3, 4]]") become operators, NCCL's own
/// ("ncclAllGather") annotations. Ids of launches hold the process, since they are unique in one only.
/// Errors: "no-kernel-table" (with the tables that are there), "bad-database", "cancelled".
/// Source: NVIDIA's documentation of the export, "exported_data" and "Common SQLite examples".
Result<TraceEvents> readNsys(const std::string& path, const JobContext& job);
/// The same for the bytes of a database.
Result<TraceEvents> readNsysBytes(const std::string& path, std::string bytes, const JobContext& job);

} // namespace gs

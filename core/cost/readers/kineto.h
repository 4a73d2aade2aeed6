// Kineto and Chrome traces: JSON written by torch.profiler, HTA and others.
#pragma once

#include "base/diagnostics.h"
#include "cost/readers/byte_source.h"
#include "cost/readers/trace_events.h"

namespace gs {

/// Reads a trace block by block: {"traceEvents": […], …} or a bare array. It keeps operators, annotations,
/// launches and device work, in memory of about a seventh of the text. A file that is cut or broken is read
/// up to there; TraceEvents::stopped says where. Errors: "not-a-trace" (no events where they should be),
/// "cancelled".
///
/// Field names: those of libkineto's output_json.cpp and of HTA's event args; older files write "Operator",
/// "Kernel" and "Runtime" for the categories and have no metadata of collectives.
/// `block` = bytes that are read at once.
Result<TraceEvents> readKineto(const std::string& path, ByteSource& bytes, const JobContext& job,
                               size_t block = size_t{4} << 20);

} // namespace gs

// What a trace says of one collective: from metadata, the operators around it, annotations, the kernel.
#pragma once

#include "cost/readers/trace_link.h"

namespace gs {

struct CommSources {
    const DeviceWork* work = nullptr;     ///< its first kernel or annotation; may be null
    std::vector<const HostRange*> ranges; ///< from the innermost outwards
};

/// Kind, sizes, element type and group; times are left at 0. The group's size is what the sizes of a gather
/// or reduce-scatter say, else the metadata, else the list of ranks, else the file's table of groups;
/// `conflicts` goes up by one if the stated size or list contradicts.
CollectiveCall describeCollective(const TraceEvents& events, const CommSources& sources, size_t& conflicts);

/// Number of ranks in "[0, 1, 2]"; 0 if the list is shortened with dots, empty or no list.
int64_t countRanks(std::string_view text);

} // namespace gs

// What NCCL's watchdog says of collectives that hung, and which collectives of a graph those are.
#pragma once

#include "graph/collectives.h"

#include <string>
#include <string_view>
#include <vector>

namespace gs {

/// "[rank7]:[E… ProcessGroupNCCL.cpp:632] [Rank 7] Watchdog caught collective operation timeout:
/// WorkNCCL(SeqNum=460631, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for …".
/// Source: PyTorch, ProcessGroupNCCL.cpp (WorkNCCL's operator<<).
struct WatchdogTimeout {
    int32_t rank = -1;  ///< -1 = not stated
    std::string group;  ///< name of the process group; empty = the line does not state it
    int64_t number = 0; ///< n-th collective of its group since the job began, from 1
    std::string op;     ///< "ALLREDUCE", "_ALLGATHER_BASE", …
    int64_t elements_in = -1;
    int64_t elements_out = -1;
    uint32_t line = 0; ///< of the log
};

/// The timeouts of a log, one for each rank, group and number, in its order.
std::vector<WatchdogTimeout> watchdogTimeouts(std::string_view log);
/// True if the text has any.
bool hasWatchdogTimeouts(std::string_view log);

/// Where a timeout lies in a graph.
struct WatchdogMatch {
    std::vector<NodeId> launches; ///< of fitting kind, size and group; one = it is this one
    /// The launch whose place on its group is the timeout's number, if each step issues exactly the
    /// collectives of this graph, and if it fits; else kNoNode.
    NodeId by_number = kNoNode;
    size_t place = 0; ///< of by_number on its group, from 1
    size_t of = 0;    ///< collectives of that group in the graph
};
WatchdogMatch matchTimeout(const WatchdogTimeout& timeout, const Graph& graph, const CollectiveTable& table);
/// A sentence about it: "rank 7 waited in vain for collective 460,631 of its group (ALLREDUCE, 1 element):
/// …".
std::string timeoutText(const WatchdogTimeout& timeout, const Graph& graph, const WatchdogMatch& match);

} // namespace gs

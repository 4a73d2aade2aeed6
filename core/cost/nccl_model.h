// Analytical time of NCCL collectives: ring and tree × LL, LL128 and Simple, within and between nodes.
// Source: torch/_inductor/comm_analysis.py of PyTorch 2.15, which follows NCCL's src/graph/tuning.cc; the
// corrections for InfiniBand are PyTorch's. Agrees with golden/comm/nccl_estimate*.
#pragma once

#include "graph/op_traits.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace gs {

/// Row of NCCL's tuning tables.
enum class NcclGeneration : uint8_t { Volta, Ampere, Hopper, Blackwell };
enum class NcclCollective : uint8_t { AllReduce, AllGather, ReduceScatter, AllToAll, PointToPoint };
enum class NcclAlgorithm : uint8_t { Tree, Ring };
enum class NcclProtocol : uint8_t { LL, LL128, Simple };
/// The slowest link of a group.
enum class Interconnect : uint8_t {
    NvlinkV100,
    NvlinkA100,
    NvlinkH100,
    NvlinkB200,
    InfinibandHdr, ///< 200 Gb/s
    InfinibandNdr, ///< 400 Gb/s, or RoCE
    Pcie
};

/// "VOLTA", "AMPERE", …
std::string_view ncclGenerationName(NcclGeneration generation);
/// By that name in any case; nothing if it is none of the four.
std::optional<NcclGeneration> ncclGenerationFromName(std::string_view name);
std::string_view ncclAlgorithmName(NcclAlgorithm algorithm);  ///< "ring", "tree"
std::string_view ncclProtocolName(NcclProtocol protocol);     ///< "LL", "LL128", "Simple"
std::string_view interconnectName(Interconnect interconnect); ///< "NVLINK_H100", "IB_NDR", …
/// Nothing for kinds that the model does not know (broadcast, other).
std::optional<NcclCollective> ncclCollective(CollectiveKind kind);

/// The machine. Bandwidths are per GPU in GB/s (10^9 bytes/s).
struct NcclSystem {
    NcclGeneration generation = NcclGeneration::Hopper;
    bool nvlink = true; ///< false: GPUs of one node talk over PCIe
    int32_t gpus_per_node = 8;
    std::optional<double> intra_node_gbps; ///< replaces the table's number
    std::optional<double> inter_node_gbps;
};

/// A process group as the model sees it.
struct NcclGroup {
    int32_t ranks = 1;
    /// Nodes that the ranks are on; 0 = as few as possible, which is what PyTorch assumes.
    int32_t nodes = 0;
};

struct NcclEstimate {
    double us = 0;
    NcclAlgorithm algorithm = NcclAlgorithm::Ring;
    NcclProtocol protocol = NcclProtocol::LL;
};

/// Nodes of a group, at least 1.
int32_t ncclNodes(const NcclSystem& system, const NcclGroup& group);
Interconnect detectInterconnect(const NcclSystem& system, const NcclGroup& group);
double intraNodeGbps(const NcclSystem& system);
double interNodeGbps(const NcclSystem& system);

/// Time of one algorithm and protocol in µs, or nothing where NCCL would not use them. `bytes` is the size
/// of the message as PyTorch counts it from a graph: inputs plus outputs.
std::optional<double> ncclTime(const NcclSystem& system, const NcclGroup& group, NcclCollective collective,
                               int64_t bytes, NcclAlgorithm algorithm, NcclProtocol protocol);

/// The fastest combination. A group of one rank takes no time. Nothing if no combination is possible
/// (a bandwidth of 0), the group is empty or `bytes` is negative.
std::optional<NcclEstimate> ncclEstimate(const NcclSystem& system, const NcclGroup& group,
                                         NcclCollective collective, int64_t bytes);

} // namespace gs

#include "cost/nccl_model.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cmath>

namespace gs {

namespace {

// Tables of ncclTunerConstantsDefaults (NCCL src/graph/tuning.cc). Order of rows: generation, or algorithm
// (tree, ring); order of columns: protocol (LL, LL128, Simple), or number of nodes (1, 2, more).
using PerProtocol = std::array<double, 3>;
using PerNodes = std::array<double, 3>;

constexpr std::array<PerProtocol, 2> kBaseLatencyUs = {{{6.8, 14.0, 8.4}, {6.6, 14.0, 8.4}}};

enum class Hardware : uint8_t { Nvlink, Pci, Net };
constexpr std::array<std::array<PerProtocol, 2>, 3> kHardwareLatencyUs = {{
    {{{0.6, 1.25, 4.0}, {0.6, 1.9, 3.4}}},
    {{{1.0, 1.9, 4.0}, {1.0, 2.5, 5.7}}},
    {{{5.0, 8.5, 14.0}, {2.7, 4.0, 14.0}}},
}};

struct GenerationRow {
    std::string_view name;
    PerNodes ll_max_gbps;
    PerNodes channel_ring_ll128_gbps;
    PerNodes channel_tree_ll128_gbps;
    PerNodes channel_tree_gbps;
    double channels;
    double nvlink_gbps;     ///< bus bandwidth (NCCL src/graph/topo.h)
    double inter_node_gbps; ///< one network card a GPU
    Interconnect intra;
    Interconnect inter;
};

constexpr std::array<GenerationRow, 4> kGenerations = {{
    {"VOLTA",
     {39.0, 39.0, 20.4},
     {20.0, 20.0, 20.0},
     {20.0, 20.0, 20.0},
     {26.5, 18.5, 10.0},
     2,
     120.0,
     12.0,
     Interconnect::NvlinkV100,
     Interconnect::InfinibandHdr},
    {"AMPERE",
     {87.7, 22.5, 19.0},
     {20.0, 20.0, 20.0},
     {20.0, 20.0, 20.0},
     {24.0, 23.6, 17.8},
     8,
     240.0,
     25.0,
     Interconnect::NvlinkA100,
     Interconnect::InfinibandHdr},
    {"HOPPER",
     {141.0, 45.0, 35.0},
     {36.7, 36.7, 36.7},
     {36.7, 36.7, 29.0},
     {38.7, 41.4, 36.0},
     16,
     370.0,
     50.0,
     Interconnect::NvlinkH100,
     Interconnect::InfinibandNdr},
    {"BLACKWELL",
     {282.0, 90.0, 70.0},
     {40.0, 40.0, 40.0},
     {55.6, 31.67, 20.0},
     {70.0, 42.8, 24.0},
     32,
     720.0,
     50.0,
     Interconnect::NvlinkB200,
     Interconnect::InfinibandNdr},
}};

constexpr double kPcieGbps = 24.0;

/// Tree all-reduce of medium messages: share of the bandwidth by log2(bytes / 64), 64 B to 256 MiB.
constexpr std::array<std::array<double, 24>, 3> kTreeCorrection = {{
    {1.0, 1.0, 1.0, 1.0, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1.0, 1.0, 1.0, 1.0, 1.0},
    {1.0, 1.0, 1.0, 1.0, 1.0, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1.0, 1.0, 1.0},
    {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9, .9},
}};

const GenerationRow& rowOf(NcclGeneration generation) {
    return kGenerations[static_cast<size_t>(generation)];
}

int floorLog2(int64_t value) {
    return value <= 0 ? 0 : std::bit_width(static_cast<uint64_t>(value)) - 1;
}

/// One question to the model, with what every step of it needs.
struct Query {
    const GenerationRow& row;
    NcclCollective collective;
    NcclAlgorithm algorithm;
    NcclProtocol protocol;
    double ranks;
    double nodes;
    int64_t bytes;
    Interconnect interconnect;

    bool tree() const { return algorithm == NcclAlgorithm::Tree; }
    bool allReduce() const { return collective == NcclCollective::AllReduce; }
    bool infiniband() const {
        return interconnect == Interconnect::InfinibandHdr || interconnect == Interconnect::InfinibandNdr;
    }
    size_t nodeColumn() const { return nodes <= 2 ? static_cast<size_t>(nodes) - 1 : 2; }
    double steps() const {
        switch (collective) {
        case NcclCollective::AllReduce:
        case NcclCollective::AllToAll:
            return 2 * (ranks - 1);
        case NcclCollective::AllGather:
        case NcclCollective::ReduceScatter:
            return ranks - 1;
        case NcclCollective::PointToPoint:
            return 1;
        }
        return 1;
    }
};

/// Bus bandwidth of the link in GB/s, before the protocol takes its share.
double linkGbps(const Query& query, const NcclSystem& system) {
    if (query.nodes == 1)
        return intraNodeGbps(system);
    double gbps = query.infiniband() || query.nodes > 2 ? interNodeGbps(system) : intraNodeGbps(system);
    if (!query.infiniband())
        return gbps;
    // Fewer nodes leave some network cards idle; larger messages use more of them.
    gbps *= 0.77 + 0.23 * std::min(1.0, (query.nodes - 1) / 7);
    if (query.nodes > 2) {
        constexpr double kReferenceBytes = 50'000'000;
        gbps *= std::pow(std::max(static_cast<double>(query.bytes), kReferenceBytes) / kReferenceBytes, 0.17);
    }
    return gbps;
}

double busGbps(const Query& query, double link) {
    const size_t column = query.nodeColumn();
    // Between nodes NCCL's LL limit is that of the first generation, whatever the GPU.
    const GenerationRow& ll_row = query.nodes == 1 ? query.row : kGenerations[0];
    switch (query.protocol) {
    case NcclProtocol::LL:
        return std::min(ll_row.ll_max_gbps[column], link * (query.tree() ? 1.0 / 3.8 : 0.5));
    case NcclProtocol::LL128:
        if (query.tree())
            return std::min(link * (query.nodes == 1 ? 7.0 / 9.0 : 120.0 / 128.0),
                            query.row.channels * query.row.channel_tree_ll128_gbps[column]);
        return std::min(link * (120.0 / 128.0),
                        query.row.channels * query.row.channel_ring_ll128_gbps[column]);
    case NcclProtocol::Simple:
        if (query.tree() && query.allReduce())
            return std::min(link * 0.92, query.row.channels * query.row.channel_tree_gbps[column]);
        return link;
    }
    return link;
}

double latencyUs(const Query& query) {
    const auto algorithm = static_cast<size_t>(query.algorithm);
    const auto protocol = static_cast<size_t>(query.protocol);
    const auto hardware = [&](Hardware hw) {
        return kHardwareLatencyUs[static_cast<size_t>(hw)][algorithm][protocol];
    };
    const double overhead = query.nodes <= 1 ? 0.0 : (query.protocol == NcclProtocol::Simple ? 3.0 : 1.0);
    const double intra = std::max(
        hardware(query.interconnect == Interconnect::Pcie ? Hardware::Pci : Hardware::Nvlink), overhead);
    const double inter = hardware(Hardware::Net);
    double latency = kBaseLatencyUs[algorithm][protocol];
    if (!query.tree()) {
        const double inter_steps = (query.allReduce() ? 2 : 1) * (query.nodes - 1);
        latency += (query.steps() - inter_steps) * intra + inter_steps * inter;
    } else if (query.allReduce()) {
        const double per_node = std::floor(query.ranks / query.nodes);
        latency += 2 * ((per_node - 1) * intra + floorLog2(static_cast<int64_t>(query.nodes)) * inter);
    }
    return latency;
}

} // namespace

std::string_view ncclGenerationName(NcclGeneration generation) {
    return rowOf(generation).name;
}

std::optional<NcclGeneration> ncclGenerationFromName(std::string_view name) {
    const auto same = [](char a, char b) {
        return std::toupper(static_cast<unsigned char>(a)) == static_cast<unsigned char>(b);
    };
    for (size_t i = 0; i < kGenerations.size(); ++i) {
        const std::string_view known = kGenerations[i].name;
        if (std::equal(name.begin(), name.end(), known.begin(), known.end(), same))
            return static_cast<NcclGeneration>(i);
    }
    return std::nullopt;
}

std::string_view ncclAlgorithmName(NcclAlgorithm algorithm) {
    return algorithm == NcclAlgorithm::Tree ? "tree" : "ring";
}

std::string_view ncclProtocolName(NcclProtocol protocol) {
    constexpr std::array<std::string_view, 3> kNames = {"LL", "LL128", "Simple"};
    return kNames[static_cast<size_t>(protocol)];
}

std::string_view interconnectName(Interconnect interconnect) {
    constexpr std::array<std::string_view, 7> kNames = {
        "NVLINK_V100", "NVLINK_A100", "NVLINK_H100", "NVLINK_B200", "IB_HDR", "IB_NDR", "PCIE"};
    return kNames[static_cast<size_t>(interconnect)];
}

std::optional<NcclCollective> ncclCollective(CollectiveKind kind) {
    switch (kind) {
    case CollectiveKind::AllGather:
    case CollectiveKind::AllGatherCoalesced:
        return NcclCollective::AllGather;
    case CollectiveKind::ReduceScatter:
    case CollectiveKind::ReduceScatterCoalesced:
        return NcclCollective::ReduceScatter;
    case CollectiveKind::AllReduce:
    case CollectiveKind::AllReduceCoalesced:
        return NcclCollective::AllReduce;
    case CollectiveKind::AllToAll:
        return NcclCollective::AllToAll;
    default:
        return std::nullopt;
    }
}

int32_t ncclNodes(const NcclSystem& system, const NcclGroup& group) {
    const int32_t ranks = std::max(group.ranks, 1);
    if (group.nodes > 0)
        return std::min(group.nodes, ranks);
    const int32_t per_node = std::max(system.gpus_per_node, 1);
    return (ranks - 1) / per_node + 1;
}

Interconnect detectInterconnect(const NcclSystem& system, const NcclGroup& group) {
    if (ncclNodes(system, group) > 1)
        return rowOf(system.generation).inter;
    return system.nvlink ? rowOf(system.generation).intra : Interconnect::Pcie;
}

double intraNodeGbps(const NcclSystem& system) {
    return system.intra_node_gbps.value_or(system.nvlink ? rowOf(system.generation).nvlink_gbps : kPcieGbps);
}

double interNodeGbps(const NcclSystem& system) {
    return system.inter_node_gbps.value_or(rowOf(system.generation).inter_node_gbps);
}

std::optional<double> ncclTime(const NcclSystem& system, const NcclGroup& group, NcclCollective collective,
                               int64_t bytes, NcclAlgorithm algorithm, NcclProtocol protocol) {
    if (group.ranks < 2 || bytes < 0)
        return std::nullopt;
    const Query query{rowOf(system.generation),
                      collective,
                      algorithm,
                      protocol,
                      static_cast<double>(group.ranks),
                      static_cast<double>(ncclNodes(system, group)),
                      bytes,
                      detectInterconnect(system, group)};
    // PyTorch calibrated LL128 within a node only.
    if (protocol == NcclProtocol::LL128 && query.nodes > 1 && (query.nodes > 2 || query.infiniband()))
        return std::nullopt;
    const double link = linkGbps(query, system);
    if (!(link > 0) || !std::isfinite(link))
        return std::nullopt;
    const double bus = busGbps(query, link);
    double gbps = query.tree() ? bus * 0.5 : bus * (query.ranks / query.steps());
    if (query.tree() && query.allReduce()) {
        const int size = bytes >= 64 ? floorLog2(bytes >> 6) : 0;
        if (size < static_cast<int>(kTreeCorrection[0].size()))
            gbps *= kTreeCorrection[static_cast<size_t>(protocol)][static_cast<size_t>(size)];
    }
    return latencyUs(query) + static_cast<double>(bytes) / (1000.0 * gbps);
}

std::optional<NcclEstimate> ncclEstimate(const NcclSystem& system, const NcclGroup& group,
                                         NcclCollective collective, int64_t bytes) {
    if (group.ranks < 1 || bytes < 0)
        return std::nullopt;
    if (group.ranks == 1)
        return NcclEstimate{};
    std::optional<NcclEstimate> best;
    for (NcclAlgorithm algorithm : {NcclAlgorithm::Tree, NcclAlgorithm::Ring}) {
        if (algorithm == NcclAlgorithm::Tree && collective != NcclCollective::AllReduce)
            continue;
        for (NcclProtocol protocol : {NcclProtocol::LL, NcclProtocol::LL128, NcclProtocol::Simple}) {
            const auto us = ncclTime(system, group, collective, bytes, algorithm, protocol);
            if (us && (!best || *us < best->us))
                best = NcclEstimate{*us, algorithm, protocol};
        }
    }
    return best;
}

} // namespace gs

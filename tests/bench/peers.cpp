// Our schedulers against PyTorch's on the same corpus graphs, in one run: median of ours, the reference's
// time of golden/timing.json, and with --python PATH (a Python with torch) the wheel's own scheduler measured
// here and now by peer_scheduler.py. Before that the peak memory of the overlap schedulers at 100,000 nodes
// and 2,000 collectives. Exit status 1 if document 003's scheduler is less than 100 times as fast as the
// reference on a graph of over 1,000 nodes, or if a scheduler needs 1 GiB or more.
#include "analysis/settings.h"
#include "cost/cost_sources.h"
#include "import/importer.h"
#include "passes/pass.h"
#include "schedule/scheduler.h"
#include "support/layered_graph.h"
#include "support/test_data.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

using namespace gs;
using Json = nlohmann::json;

namespace {

constexpr double kLeastRatio = 100;
constexpr size_t kLeastNodes = 1000;
constexpr double kMostMib = 1024;

/// What is compared: our run with the settings of the reference's, and its time in golden/timing.json.
struct Peer {
    const char* title;
    const char* scheduler; ///< by name in the registry; null = the FSDP bucketing pass
    const char* timing;    ///< key in golden/timing.json
    std::vector<std::pair<const char*, const char*>> settings;
    bool asserted;
};

const std::vector<Peer> kPeers = {
    {"document 003's overlap scheduler",
     "overlap-scheduler",
     "overlap003_s",
     {{"max_in_flight_gb", "2"}, {"max_coll_distance", "1000"}},
     true},
    {"torch 2.15's overlap scheduler, no bucketing, no memory budget",
     "overlap-scheduler-upstream",
     "overlap215_s",
     {{"max_in_flight_gb", "5"},
      {"max_coll_distance", "200"},
      {"max_memory_increase_gb", "none"},
      {"max_memory_increase_ratio", "none"},
      {"collective_bucketing", "false"}},
     false},
    {"FSDP bucketing at 25 MB with its merges",
     nullptr,
     "fsdp_pre_bucket_25mb_s",
     {{"bucket_mode", "fsdp"}, {"bucket_cap_mib", "25"}},
     false},
};

struct Loaded {
    std::string name;
    GraphPtr graph;
    std::unique_ptr<CollectiveTable> collectives;
    CostTablePtr costs;
};

CostTablePtr price(const Graph& graph, const CollectiveTable& collectives,
                   const std::vector<std::string>& files) {
    Diagnostics diagnostics;
    const Result<CostChain> chain = makeCostChain(files, Settings(), diagnostics);
    return priceGraph(graph, collectives, chain.value());
}

std::optional<Loaded> load(const std::string& name) {
    const auto path = test::corpusPath("graphs/" + name + ".json");
    const auto costs = test::corpusPath("costs/" + name + ".roofline.json");
    if (!path || !costs)
        return std::nullopt;
    Diagnostics diagnostics;
    const Result<ImportedGraph> imported = importGraph(*path, -1, -1, diagnostics, {});
    if (!imported)
        return std::nullopt;
    Loaded item{name, imported->graph, std::make_unique<CollectiveTable>(*imported->graph), nullptr};
    item.costs = price(*item.graph, *item.collectives, {*costs});
    return item;
}

Settings settingsOf(const Peer& peer) {
    Settings settings;
    for (const auto& [name, value] : peer.settings) {
        if (const Status status = settings.set(name, value); !status)
            std::printf("%s\n", status.error().message.c_str());
    }
    return settings;
}

void runOurs(const Peer& peer, const Loaded& item, const Settings& settings) {
    if (peer.scheduler)
        findScheduler(peer.scheduler)->run({*item.graph, *item.collectives, *item.costs, settings, {}});
    else
        bucketFsdp(item.graph, settings);
}

/// Median of at least 5 runs and 0.2 s.
double medianMs(const Peer& peer, const Loaded& item) {
    using Clock = std::chrono::steady_clock;
    const Settings settings = settingsOf(peer);
    std::vector<double> times;
    double sum = 0;
    while (times.size() < 5 || (sum < 200 && times.size() < 1001)) {
        const auto begin = Clock::now();
        runOurs(peer, item, settings);
        times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
        sum += times.back();
    }
    std::nth_element(times.begin(), times.begin() + static_cast<ptrdiff_t>(times.size() / 2), times.end());
    return times[times.size() / 2];
}

bool known(const Peer& peer) {
    return !peer.scheduler || findScheduler(peer.scheduler);
}

bool compareWithTiming(const Peer& peer, const Json& timing) {
    std::printf("\n%s\n%-42s %8s %11s %14s %10s\n", peer.title, "graph", "nodes", "ours, ms", "reference, ms",
                "ratio");
    double least = INFINITY;
    std::string least_name;
    for (const auto& [name, row] : timing.items()) {
        const auto reference = row.find(peer.timing);
        const auto item = reference == row.end() || reference->is_null() ? std::nullopt : load(name);
        if (!item)
            continue;
        const double ours = medianMs(peer, *item);
        const double theirs = reference->get<double>() * 1000;
        const bool counts = item->graph->size() > kLeastNodes;
        std::printf("%-42s %8zu %11.3f %14.1f %9.0f×%s\n", name.c_str(), item->graph->size(), ours, theirs,
                    theirs / ours, counts ? "" : " (small)");
        std::fflush(stdout);
        if (counts && theirs / ours < least) {
            least = theirs / ours;
            least_name = name;
        }
    }
    if (least_name.empty())
        return true;
    std::printf("least over %zu nodes: %.0f× (%s)\n", kLeastNodes, least, least_name.c_str());
    return !peer.asserted || least >= kLeastRatio;
}

/// Highest resident size of the process so far, in MiB.
double peakMib() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("VmHWM:"))
            return std::stod(line.substr(6)) / 1024;
    }
    return INFINITY; // the system does not tell: no proof
}

/// In a process of its own, so that nothing else counts. False at kMostMib or if it fails.
bool checkMemory(const Peer& peer) {
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        const GraphPtr graph = test::layeredGraph(100'000);
        Loaded item{"layers", graph, std::make_unique<CollectiveTable>(*graph), nullptr};
        item.costs = price(*graph, *item.collectives, {});
        const auto begin = std::chrono::steady_clock::now();
        runOurs(peer, item, settingsOf(peer));
        const double ms =
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
        const double mib = peakMib();
        std::printf("%-42s %8zu nodes, %zu collectives: %.0f ms, peak %.0f MiB\n", peer.scheduler,
                    graph->size(), item.collectives->size(), ms, mib);
        std::fflush(stdout);
        _exit(mib < kMostMib ? 0 : 1);
    }
    int status = 1;
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// The wheel's scheduler here and now: peer_scheduler.py prints "name seconds" a line.
void compareWithWheel(const std::string& python, const Json& timing) {
    const Peer& peer = kPeers[1];
    if (!known(peer)) {
        std::printf("\nNOT RUN: the wheel's scheduler, since this build has no %s\n", peer.scheduler);
        return;
    }
    std::printf("\ntorch's own scheduler, measured now with %s\n%-42s %8s %11s %14s %10s\n", python.c_str(),
                "graph", "nodes", "ours, ms", "torch, ms", "ratio");
    for (const auto& [name, row] : timing.items()) {
        constexpr size_t kMostNodes = 6000; // minutes beyond it
        if (row.at("nodes") > kMostNodes || !row.contains(peer.timing) || row.at(peer.timing).is_null())
            continue;
        const auto item = load(name);
        if (!item)
            continue;
        const std::string command =
            fmt::format("'{}' '{}/peer_scheduler.py' '{}' '{}'", python, GATHERSCOPE_BENCH_DIR,
                        *test::corpusPath("graphs/" + name + ".json"),
                        *test::corpusPath("costs/" + name + ".roofline.json"));
        FILE* pipe = popen(command.c_str(), "r");
        double seconds = -1;
        if (!pipe || std::fscanf(pipe, "%lf", &seconds) != 1 || pclose(pipe) != 0 || seconds < 0) {
            std::printf("%-42s %8zu torch's scheduler fails on it\n", name.c_str(), item->graph->size());
            continue;
        }
        const double ours = medianMs(peer, *item);
        std::printf("%-42s %8zu %11.3f %14.1f %9.0f×\n", name.c_str(), item->graph->size(), ours,
                    seconds * 1000, seconds * 1000 / ours);
        std::fflush(stdout);
    }
}

} // namespace

int main(int argc, char** argv) {
    std::string python;
    for (int i = 1; i < argc; ++i) {
        if (std::strcmp(argv[i], "--python") == 0 && i + 1 < argc) {
            python = argv[++i];
        } else {
            std::fprintf(stderr, "usage: %s [--python PATH]\n", argv[0]);
            return 2;
        }
    }
    bool good = true;
    std::printf("memory\n");
    for (const Peer& peer : kPeers) {
        if (peer.scheduler && known(peer))
            good = checkMemory(peer) && good;
    }
    const auto path = test::corpusPath("golden/timing.json");
    const Json timing = path ? Json::parse(test::readAll(*path)).at("graphs") : Json::object();
    for (const Peer& peer : kPeers) {
        if (known(peer))
            good = compareWithTiming(peer, timing) && good;
        else
            std::printf("\nNOT RUN: %s, since this build has no scheduler %s\n", peer.title, peer.scheduler);
    }
    if (!python.empty())
        compareWithWheel(python, timing);
    std::printf("\n%s\n", good ? "all conditions hold" : "FAILED: a condition does not hold");
    return good ? 0 : 1;
}

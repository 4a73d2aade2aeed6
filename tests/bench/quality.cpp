// How far every scheduler is from the lower bound, per corpus graph, cost table and memory budget (passes.md
// §10). Prints; asserts that `two-sided` is never above the best reference that fits the same peak bytes.
//
//   quality [--short] [--contention X] [--graph PART] [--verbose]
//
// Budgets are the peaks of document 003 at 0.1 and 2 GiB in flight and of upstream's scheduler at its
// defaults (PyTorch 2.15: 5 GiB, 200 candidates); the budget and the peaks are one measure:
// Timeline::peak_held_bytes.
#include "cost/cost_sources.h"
#include "import/importer.h"
#include "passes/pass.h"
#include "schedule/scheduler.h"
#include "simulate/timeline.h"
#include "support/test_data.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <map>
#include <set>

using namespace gs;

namespace {

constexpr double kGoalGap = 0.02;   ///< within this of the bound counts as reached
constexpr double kGoalShare = 0.80; ///< of all rows

struct Options {
    bool short_run = false;
    bool verbose = false;
    double contention = 1.0;
    std::string graph_part;
};

/// One scheduler with the settings that this table runs it at.
struct Reference {
    std::string label;
    std::string scheduler;
    std::vector<std::pair<Setting, std::string>> settings;
    bool sets_budget = false;
};

const std::vector<Reference> kReferences = {
    {"program", "program-order", {}, false},
    {"sweep", "latest-safe-launch", {}, false},
    {"jit", "just-in-time", {}, false},
    {"002", "parameter-prefetch", {}, false},
    {"003@0.1", "overlap-scheduler", {{Setting::MaxInFlightGb, "0.1"}}, true},
    {"003@2", "overlap-scheduler", {{Setting::MaxInFlightGb, "2"}}, true},
    {"upstream",
     "overlap-scheduler-upstream",
     {{Setting::MaxInFlightGb, "5"}, {Setting::MaxCollDistance, "200"}},
     true},
};

struct Outcome {
    std::string label;
    int64_t step_ns = 0;
    int64_t peak_bytes = 0;
    double ms = 0;
    std::string why; ///< the scheduler's own account of its gap
};

struct Instance {
    std::string name;
    GraphPtr graph;
    CollectiveTablePtr collectives;
    CostTablePtr costs;
    SimulationSettings simulation;
    int64_t bound_ns = 0;
};

struct Tally {
    size_t rows = 0;
    size_t near = 0;  ///< rows within kGoalGap
    size_t above = 0; ///< rows above the best reference
    size_t unsound = 0;
    double slowest_ms = 0;
    std::string slowest;
    std::vector<std::string> rest; ///< rows further away, with the reason
};

Settings settingsFor(const Options& options) {
    Settings settings;
    (void)settings.set(Setting::Contention, fmt::format("{}", options.contention));
    return settings;
}

Outcome runOne(const Instance& instance, const std::string& label, const SchedulerInfo& info,
               const Settings& settings, Tally& tally) {
    Outcome out;
    out.label = label;
    const auto begin = std::chrono::steady_clock::now();
    const Schedule schedule =
        info.run({*instance.graph, *instance.collectives, *instance.costs, settings, JobContext()});
    out.ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    const TimelinePtr timeline = simulate(*instance.graph, *instance.collectives, *instance.costs,
                                          schedule.order, instance.simulation);
    out.step_ns = timeline->step_ns;
    out.peak_bytes = timeline->peak_held_bytes;
    for (const Diagnostic& item : schedule.diagnostics.all()) {
        if (item.code == "bound-gap")
            out.why = item.message;
    }
    if (const auto broken = findBrokenEdge(*instance.graph, schedule.order)) {
        std::printf("BROKEN ORDER %s %s\n", instance.name.c_str(), label.c_str());
        ++tally.unsound;
    }
    if (out.step_ns < instance.bound_ns) {
        std::printf("BOUND ABOVE RESULT %s %s: %lld < %lld\n", instance.name.c_str(), label.c_str(),
                    static_cast<long long>(out.step_ns), static_cast<long long>(instance.bound_ns));
        ++tally.unsound;
    }
    return out;
}

std::vector<Outcome> runReferences(const Instance& instance, const Options& options, Tally& tally) {
    std::vector<Outcome> outcomes;
    for (const Reference& reference : kReferences) {
        const SchedulerInfo* info = findScheduler(reference.scheduler);
        if (!info)
            continue;
        Settings settings = settingsFor(options);
        for (const auto& [key, value] : reference.settings)
            (void)settings.set(key, value);
        outcomes.push_back(runOne(instance, reference.label, *info, settings, tally));
    }
    return outcomes;
}

double ratio(const Instance& instance, int64_t step_ns) {
    return instance.bound_ns > 0 ? static_cast<double>(step_ns) / static_cast<double>(instance.bound_ns) : 1;
}

/// `two-sided` inside the peak of one reference, against the best reference that fits it.
void runRow(const Instance& instance, const Options& options, const SchedulerInfo& info,
            const std::vector<Outcome>& references, const Outcome* budget, Tally& tally) {
    Settings settings = settingsFor(options);
    if (budget)
        (void)settings.set(Setting::GatherBudgetMib,
                           fmt::format("{}", static_cast<double>(budget->peak_bytes) / 1048576.0));
    const std::string label = budget ? "= " + budget->label : std::string("none");
    const Outcome ours = runOne(instance, "two-sided " + label, info, settings, tally);
    const Outcome* best = nullptr;
    for (const Outcome& item : references) {
        if ((!budget || item.peak_bytes <= budget->peak_bytes) && (!best || item.step_ns < best->step_ns))
            best = &item;
    }
    const bool over_budget = budget && ours.peak_bytes > budget->peak_bytes;
    const bool above = over_budget || (best && ours.step_ns > best->step_ns);
    const double gap = ratio(instance, ours.step_ns) - 1;
    std::printf("    two-sided %-10s %7.4f  peak %9.1f MiB  best reference %7.4f (%s)  %6.1f ms%s%s\n",
                label.c_str(), gap + 1, static_cast<double>(ours.peak_bytes) / 1048576.0,
                best ? ratio(instance, best->step_ns) : 0, best ? best->label.c_str() : "none fits", ours.ms,
                above ? "  ABOVE" : "", over_budget ? " BUDGET" : "");
    tally.above += above ? 1 : 0;
    if (ours.ms > tally.slowest_ms) {
        tally.slowest_ms = ours.ms;
        tally.slowest = instance.name;
    }
    if (!budget)
        return;
    ++tally.rows;
    if (gap <= kGoalGap)
        ++tally.near;
    else
        tally.rest.push_back(
            fmt::format("{:<48} {:<10} {:.4f}  {}", instance.name, label, gap + 1, ours.why));
}

void runInstance(const Instance& instance, const Options& options, Tally& tally) {
    const std::vector<Outcome> references = runReferences(instance, options, tally);
    std::printf("%s: %zu nodes, %zu collectives, bound %.3f ms\n", instance.name.c_str(),
                instance.graph->size(), instance.collectives->size(),
                static_cast<double>(instance.bound_ns) / 1e6);
    std::printf("   ");
    for (const Outcome& item : references)
        std::printf(" %s %.4f", item.label.c_str(), ratio(instance, item.step_ns));
    std::printf("\n");
    if (options.verbose) {
        for (const Outcome& item : references)
            std::printf("      %-10s peak %9.1f MiB  %6.1f ms\n", item.label.c_str(),
                        static_cast<double>(item.peak_bytes) / 1048576.0, item.ms);
    }
    if (const SchedulerInfo* info = findScheduler("two-sided")) {
        for (const Outcome& item : references) {
            const auto reference =
                std::find_if(kReferences.begin(), kReferences.end(),
                             [&](const Reference& other) { return other.label == item.label; });
            if (reference->sets_budget)
                runRow(instance, options, *info, references, &item, tally);
        }
        runRow(instance, options, *info, references, nullptr, tally);
    }
    std::fflush(stdout);
}

void runGraph(const std::string& name, const Options& options, Tally& tally) {
    for (const char* table : {"roofline", "commheavy", "commlight"}) {
        const auto path = test::corpusPath("graphs/" + name + ".json");
        const auto costs = test::corpusPath("costs/" + name + "." + table + ".json");
        if (!path || !costs)
            continue;
        Diagnostics diagnostics;
        Result<ImportedGraph> imported = importGraph(*path, -1, -1, diagnostics, JobContext());
        Result<CostChain> chain = makeCostChain({*costs}, Settings(), diagnostics);
        if (!imported || !chain) {
            std::printf("UNREADABLE %s\n", name.c_str());
            ++tally.unsound;
            continue;
        }
        Instance instance;
        instance.name = name + " " + table;
        instance.graph = imported.value().graph;
        instance.collectives = std::make_shared<CollectiveTable>(*instance.graph);
        if (instance.collectives->size() == 0)
            return;
        instance.costs = priceGraph(*instance.graph, *instance.collectives, chain.value());
        instance.simulation.contention = options.contention;
        instance.bound_ns =
            stepLowerBound(*instance.graph, *instance.collectives, *instance.costs, instance.simulation);
        runInstance(instance, options, tally);
    }
}

bool parse(int argc, char** argv, Options& options) {
    for (int i = 1; i < argc; ++i) {
        const std::string_view arg = argv[i];
        if (arg == "--short")
            options.short_run = true;
        else if (arg == "--verbose")
            options.verbose = true;
        else if (arg == "--contention" && i + 1 < argc)
            options.contention = std::max(1.0, std::strtod(argv[++i], nullptr));
        else if (arg == "--graph" && i + 1 < argc)
            options.graph_part = argv[++i];
        else
            return false;
    }
    return true;
}

/// Small graphs of the share in tests/data, one of each family.
const std::set<std::string> kShort = {"aot_lm2_fsdp8_joint",      "aot_lm2_fsdp8_bwd",
                                      "aot_mlp_fsdp8_fwd",        "coalesced3x3_fsdp8_fwd",
                                      "llama3_debug_fsdp8_joint", "ind_mlp_hsdp2x4_postgrad_bwd"};

} // namespace

int main(int argc, char** argv) {
    Options options;
    if (!parse(argc, argv, options)) {
        std::printf("usage: quality [--short] [--contention X] [--graph PART] [--verbose]\n");
        return 2;
    }
    Tally tally;
    for (const std::string& name : test::corpusGraphs()) {
        if (options.short_run && kShort.count(name) == 0)
            continue;
        if (name.find(options.graph_part) != std::string::npos && !name.starts_with("tagged_"))
            runGraph(name, options, tally);
    }
    std::printf("\nFurther than 2 %% from the bound:\n");
    for (const std::string& line : tally.rest)
        std::printf("  %s\n", line.c_str());
    const double share = tally.rows ? static_cast<double>(tally.near) / static_cast<double>(tally.rows) : 0;
    std::printf("\n%zu rows; above the best reference at the same peak: %zu; within 2 %% of the bound: %zu "
                "(%.1f %%, goal %.0f %%); broken orders or bounds: %zu; slowest two-sided %.0f ms (%s)\n",
                tally.rows, tally.above, tally.near, 100 * share, 100 * kGoalShare, tally.unsound,
                tally.slowest_ms, tally.slowest.c_str());
    return tally.above + tally.unsound == 0 ? 0 : 1;
}

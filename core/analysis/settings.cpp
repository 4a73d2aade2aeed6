#include "analysis/settings.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>

namespace gs {

namespace {

using enum Setting;
using enum SettingType;

const std::vector<SettingSpec> kSpecs = {
    {Scheduler,
     "scheduler",
     "Scheduler",
     Text,
     "latest-safe-launch",
     0,
     0,
     {},
     "",
     "which scheduler places the launches (`list schedulers` names them)",
     Stage::Schedule},
    {Gathers,
     "gathers",
     "Gathers",
     Choice,
     "weight",
     0,
     0,
     {"weight", "all"},
     "",
     "which all-gathers are candidates: those of one parameter each, or all",
     Stage::Schedule},
    {Contention,
     "contention",
     "Contention",
     Number,
     "1.5",
     1,
     10,
     {},
     "×",
     "how much slower a transfer is while compute runs; need = comm × contention + slack",
     Stage::Schedule},
    {SlackNs,
     "slack_ns",
     "Slack",
     Number,
     "5000",
     0,
     1e9,
     {},
     "ns",
     "headroom added to each transfer: absorbs estimator error and launch latency",
     Stage::Schedule},
    {Carry,
     "carry",
     "Carry",
     Flag,
     "true",
     0,
     1,
     {},
     "",
     "compute that one gather's window leaves over starts the next one's",
     Stage::Schedule},
    {MovePrepChain,
     "move_prep_chain",
     "Move preparation",
     Flag,
     "true",
     0,
     1,
     {},
     "",
     "the private cast, pad and view of a shard move together with its launch",
     Stage::Schedule},
    {GatherBudgetMib,
     "gather_budget_mib",
     "Gather budget",
     Text,
     "none",
     0,
     0,
     {},
     "MiB",
     "limit on gathered bytes alive at once, for schedulers that honour one; none = no limit",
     Stage::Schedule},
    {SearchSteps,
     "search_steps",
     "Search steps",
     Integer,
     "300",
     0,
     1e6,
     {},
     "",
     "two-sided: simulations that its local search may use",
     Stage::Schedule},
    {MaxInFlightGb,
     "max_in_flight_gb",
     "In-flight limit",
     Number,
     "2",
     0.001,
     10000,
     {},
     "GiB",
     "overlap-scheduler (-upstream): input (and output) bytes of collectives in flight, at the limit the "
     "oldest wait is forced (PyTorch 2.15 itself: 5); "
     "parameter-prefetch: gathered bytes launched early and not yet read",
     Stage::Schedule},
    {ComputeOverlapMultipler,
     "compute_overlap_multipler",
     "Compute multiplier",
     Number,
     "1",
     0,
     100,
     {},
     "×",
     "scale of the compute time that hides collectives",
     Stage::Schedule},
    {MaxCollDistance,
     "max_coll_distance",
     "Collective distance",
     Integer,
     "1000",
     0,
     1e9,
     {},
     "nodes",
     "how far from a compute node a collective may stand to be launched beside it; upstream: how many "
     "candidates a compute node or a bucket has (PyTorch 2.15 itself: 200)",
     Stage::Schedule},
    {MaxComputePreFetch,
     "max_compute_pre_fetch",
     "Compute to look ahead",
     Integer,
     "200",
     0,
     1e9,
     {},
     "",
     "overlap-scheduler-upstream: compute nodes that may lie between a launch and the one it is for",
     Stage::Schedule},
    {MaxMemoryIncreaseGb,
     "max_memory_increase_gb",
     "Memory increase",
     Text,
     "1",
     0,
     0,
     {},
     "GiB",
     "overlap-scheduler-upstream: peak memory allowed above the input order's, each value a storage of its "
     "own; none = only the ratio counts",
     Stage::Schedule},
    {MaxMemoryIncreaseRatio,
     "max_memory_increase_ratio",
     "Memory increase, share",
     Text,
     "0.05",
     0,
     0,
     {},
     "",
     "overlap-scheduler-upstream: the same as a share of that peak; the larger of the two counts; none = "
     "only "
     "GiB, both none = no limit",
     Stage::Schedule},
    {CollectiveBucketing,
     "collective_bucketing",
     "Bucket what overlaps",
     Flag,
     "false",
     0,
     1,
     {},
     "",
     "overlap-scheduler (-upstream): afterwards merge collectives as long as all of them stay hidden as they "
     "are (buckets up to 1 GiB, upstream 2 GiB)",
     Stage::Schedule},
    {ForwardDepth,
     "forward_depth",
     "Forward depth",
     Integer,
     "1",
     0,
     1000,
     {},
     "",
     "parameter-prefetch: consumers to look ahead in forward; 0 launches nothing early",
     Stage::Schedule},
    {BackwardDepth,
     "backward_depth",
     "Backward depth",
     Integer,
     "1",
     0,
     1000,
     {},
     "",
     "parameter-prefetch: consumers to look ahead in backward; 0 launches nothing early",
     Stage::Schedule},
    {ComputeSlowdown,
     "compute_slowdown",
     "Compute slow-down",
     Number,
     "1",
     1,
     10,
     {},
     "×",
     "how much slower compute is while a transfer runs (in simulation and `two-sided`)",
     Stage::Schedule},
    {SimulatedContention,
     "simulated_contention",
     "Simulated contention",
     Number,
     "0",
     0,
     10,
     {},
     "×",
     "how much slower a transfer is while compute runs in simulation and for `two-sided`, whatever the other "
     "schedulers reckon with; 0 = as contention",
     Stage::Schedule},
    {SharedLinks,
     "shared_links",
     "Shared links",
     Text,
     "none",
     0,
     0,
     {},
     "",
     "groups whose transfers share one link's bandwidth, as \"0+1,2+3\"; none = each has its own",
     Stage::Schedule},
    {Lowering,
     "lowering",
     "Lower redistributes",
     Flag,
     "true",
     0,
     1,
     {},
     "",
     "turn redistributes of weights into gathers before anything else",
     Stage::Passes},
    {Mesh,
     "mesh",
     "Mesh",
     Text,
     "auto",
     0,
     0,
     {},
     "",
     "device mesh for graphs that state none: \"8\", or \"replicate=2,shard=4\"; auto = from the graph",
     Stage::Passes},
    {BucketMode,
     "bucket_mode",
     "Buckets",
     Choice,
     "none",
     0,
     0,
     {"none", "coalesced", "fsdp"},
     "",
     "none: every gather by itself; coalesced: one launch per region, group and dtype; fsdp: gathers and "
     "reduce-scatters merged up to the cap",
     Stage::Passes},
    {BucketCapMib,
     "bucket_cap_mib",
     "Bucket cap",
     Text,
     "none",
     0,
     0,
     {},
     "MiB",
     "largest bucket, in MiB: of local shards (coalesced; none = no limit), or of what a collective moves "
     "(fsdp; none = what saturates the link)",
     Stage::Passes},
    {BucketRegion,
     "bucket_region",
     "Bucket region",
     Choice,
     "boundary",
     0,
     0,
     {"boundary", "module", "adjacent"},
     "",
     "what one bucket may span: between two boundary ops, one module layer, or adjacent launches",
     Stage::Passes},
    {BucketBoundary,
     "bucket_boundary",
     "Region boundary",
     Text,
     "attention",
     0,
     0,
     {},
     "",
     "ops that end a region: \"attention\", or a part of the op's name",
     Stage::Passes},
    {BucketLayer,
     "bucket_layer",
     "Module depth",
     Integer,
     "2",
     1,
     16,
     {},
     "",
     "parts of the module path that make a region when bucket_region = module",
     Stage::Passes},
    {FsdpDedup,
     "fsdp_dedup",
     "Sum before scattering",
     Flag,
     "false",
     0,
     1,
     {},
     "",
     "bucket_mode = fsdp: gradients of shared weights are summed before one reduce-scatter, not after "
     "several",
     Stage::Passes},
    {CostSources,
     "cost_sources",
     "Cost sources",
     Text,
     "auto",
     0,
     0,
     {},
     "",
     "where costs come from, in order: file, analytical; auto = file alone if one is given, else "
     "analytical",
     Stage::Costs},
    {Device,
     "device",
     "Device",
     Text,
     "h100",
     0,
     0,
     {},
     "",
     "device preset of the analytical model (`list devices` names them)",
     Stage::Costs},
    {InFlightNs,
     "in_flight_ns",
     "In flight at entry",
     Text,
     "none",
     0,
     0,
     {},
     "ns",
     "duration of collectives that were launched before the graph: one number for all, or "
     "\"NAME=ns,NAME=ns\" "
     "by wait or graph input; none = from the cost files",
     Stage::Costs},
    {InFlightElapsedNs,
     "in_flight_elapsed_ns",
     "Elapsed at entry",
     Text,
     "none",
     0,
     0,
     {},
     "ns",
     "how long these collectives have run when the graph starts, in the same form; none = not at all",
     Stage::Costs},
    {CommScale,
     "comm_scale",
     "Transfer time",
     Number,
     "1",
     0.001,
     1000,
     {},
     "×",
     "what-if: every transfer takes so many times what the cost sources say; 0.5 = a network twice as fast",
     Stage::Costs},
    {CommunicatingOps,
     "communicating_ops",
     "Communicating ops",
     Text,
     "none",
     0,
     0,
     {},
     "",
     "operators that communicate although nothing says so: patterns with commas between "
     "(mylib.*all_reduce*), "
     "! in front takes some out; they come on top of the built-in list",
     Stage::Lint},
    {HeldLimitMib,
     "held_limit_mib",
     "Held memory limit",
     Text,
     "auto",
     0,
     0,
     {},
     "MiB",
     "lint warns where collectives in flight or in use hold more; auto = a quarter of the device's memory, "
     "none = no limit",
     Stage::Lint},
};

std::string describeRange(const SettingSpec& spec) {
    switch (spec.type) {
    case SettingType::Number:
        return fmt::format("a number from {} to {}", spec.minimum, spec.maximum);
    case SettingType::Integer:
        return fmt::format("a whole number from {} to {}", spec.minimum, spec.maximum);
    case SettingType::Flag:
        return "true or false";
    case SettingType::Choice:
        return fmt::format("one of {}", fmt::join(spec.choices, ", "));
    case SettingType::Text:
        return "a text";
    }
    return {};
}

/// The value in its one canonical spelling, or nothing if it does not fit.
bool normalise(const SettingSpec& spec, std::string_view value, std::string& out) {
    switch (spec.type) {
    case SettingType::Number:
    case SettingType::Integer: {
        double number = 0;
        const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
        if (error != std::errc() || end != value.data() + value.size() || !std::isfinite(number) ||
            number < spec.minimum || number > spec.maximum)
            return false;
        if (spec.type == SettingType::Integer && number != std::floor(number))
            return false;
        out = fmt::format("{}", number);
        return true;
    }
    case SettingType::Flag:
        if (value == "true" || value == "on" || value == "yes" || value == "1")
            out = "true";
        else if (value == "false" || value == "off" || value == "no" || value == "0")
            out = "false";
        else
            return false;
        return true;
    case SettingType::Choice:
        if (std::find(spec.choices.begin(), spec.choices.end(), value) == spec.choices.end())
            return false;
        out = value;
        return true;
    case SettingType::Text:
        out = value;
        return true;
    }
    return false;
}

} // namespace

const std::vector<SettingSpec>& settingSpecs() {
    return kSpecs;
}

const SettingSpec& settingSpec(Setting key) {
    const auto& specs = settingSpecs();
    return *std::find_if(specs.begin(), specs.end(),
                         [&](const SettingSpec& spec) { return spec.key == key; });
}

const SettingSpec* findSetting(std::string_view name) {
    const auto& specs = settingSpecs();
    const auto found =
        std::find_if(specs.begin(), specs.end(), [&](const SettingSpec& spec) { return spec.name == name; });
    return found == specs.end() ? nullptr : &*found;
}

Settings::Settings() {
    for (const SettingSpec& spec : settingSpecs())
        normalise(spec, spec.fallback, values_[static_cast<size_t>(spec.key)]);
}

Status Settings::set(Setting key, std::string_view value) {
    const SettingSpec& spec = settingSpec(key);
    std::string text;
    if (!normalise(spec, value, text))
        return Error{"bad-setting",
                     fmt::format("{} takes {}, not \"{}\"", spec.name, describeRange(spec), value),
                     {},
                     std::string(spec.meaning)};
    values_[static_cast<size_t>(key)] = std::move(text);
    return Unit{};
}

Status Settings::set(std::string_view name, std::string_view value) {
    const SettingSpec* spec = findSetting(name);
    if (!spec)
        return Error{"unknown-setting",
                     fmt::format("there is no setting \"{}\"", name),
                     {},
                     "`gatherscope-cli list settings` names them all"};
    return set(spec->key, value);
}

double Settings::number(Setting key) const {
    const std::string& value = text(key);
    double number = 0;
    std::from_chars(value.data(), value.data() + value.size(), number);
    return number;
}

int64_t Settings::integer(Setting key) const {
    return static_cast<int64_t>(number(key));
}

bool Settings::flag(Setting key) const {
    return text(key) == "true";
}

bool Settings::isDefault(Setting key) const {
    std::string fallback;
    normalise(settingSpec(key), settingSpec(key).fallback, fallback);
    return text(key) == fallback;
}

} // namespace gs

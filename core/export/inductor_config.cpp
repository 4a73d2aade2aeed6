// Settings as options of Inductor (torch._inductor.config.aten_distributed_optimizations), by torch version,
// and as flags of torchtitan. Which fields a version has is data: resources/inductor_keys.json.
#include "base/resources.h"
#include "base/version.h"
#include "export/config_text.h"
#include "export/exporters.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gs {

namespace {

using Json = nlohmann::ordered_json;

const Json& versions() {
    static const Json kVersions = Json::parse(resourceText("inductor_keys.json")).at("versions");
    return kVersions;
}

std::vector<std::string> torchTargets() {
    std::vector<std::string> out;
    for (const Json& version : versions())
        out.push_back("torch-" + version.at("version").get<std::string>());
    return out;
}

const Json& versionFor(const std::string& target) {
    for (const Json& version : versions()) {
        if ("torch-" + version.at("version").get<std::string>() == target)
            return version;
    }
    return versions().back();
}

std::string python(bool flag) {
    return flag ? "True" : "False";
}

/// Values for one version; what it has no field for goes to `lacking`.
class InductorOptions {
public:
    InductorOptions(const Analysis& analysis, const Json& version)
        : analysis_(analysis), settings_(analysis.request.settings), keys_(version.at("keys")) {
        scheduler();
        buckets();
        using enum Setting;
        for (std::string& line :
             notExpressed(analysis, {Scheduler, BucketMode, BucketCapMib, CollectiveBucketing, MaxInFlightGb,
                                     ComputeOverlapMultipler, MaxCollDistance, MaxComputePreFetch,
                                     MaxMemoryIncreaseGb, MaxMemoryIncreaseRatio}))
            lacking.push_back(std::move(line));
    }

    std::vector<ConfigLine> lines;
    std::vector<std::string> lacking;

private:
    /// Only fields that the version has are ever written. `default_here`: the field's absence means the same.
    void set(const std::string& key, const std::string& value, std::string comment,
             bool default_here = false) {
        if (keys_.contains(key))
            lines.push_back({key, value, std::move(comment)});
        else if (!default_here)
            lacking.push_back(
                fmt::format("{} = {}: this version has no such option ({})", key, value, comment));
    }

    void scheduler() {
        const std::string& name = settings_.text(Setting::Scheduler);
        const bool overlap = name == "overlap-scheduler" || name == "overlap-scheduler-upstream";
        set("enable_overlap_scheduling", python(overlap),
            overlap ? "the overlap scheduler" : "the order is not Inductor's to choose", !overlap);
        set("enable_simple_overlap", "False", "nothing else moves collectives", true);
        if (!overlap) {
            if (name != "program-order")
                lacking.push_back(
                    fmt::format("scheduler = {}: apply its schedule (`export --format schedule`) "
                                "with the bridge",
                                name));
            return;
        }
        if (name == "overlap-scheduler")
            lacking.emplace_back(
                "scheduler = overlap-scheduler is document 001's; Inductor's own differs from it "
                "(overlap-scheduler-upstream is 2.15's)");
        overlapLimits(name == "overlap-scheduler-upstream");
    }

    void overlapLimits(bool upstream) {
        set("collective_bucketing", python(settings_.flag(Setting::CollectiveBucketing)),
            "merge collectives as long as they stay hidden");
        set("max_in_flight_gb", settings_.text(Setting::MaxInFlightGb), "GiB of collectives in flight");
        set("compute_overlap_multipler", settings_.text(Setting::ComputeOverlapMultipler),
            "scale of the compute that hides");
        set("max_coll_distance", settings_.text(Setting::MaxCollDistance), "candidates looked at");
        if (!upstream)
            return;
        set("max_compute_pre_fetch", settings_.text(Setting::MaxComputePreFetch),
            "compute nodes to look ahead");
        for (const auto& [key, name] :
             {std::pair(Setting::MaxMemoryIncreaseGb, "max_memory_increase_gb"),
              std::pair(Setting::MaxMemoryIncreaseRatio, "max_memory_increase_ratio")}) {
            if (settings_.limit(key))
                set(name, settings_.text(key), "memory allowed above the input order's peak");
            else
                lacking.push_back(
                    fmt::format("{} = none: None means Inductor's default, not no limit", name));
        }
    }

    void buckets() {
        const std::string& mode = settings_.text(Setting::BucketMode);
        set("pre_bucketing_fsdp_collectives", python(mode == "fsdp"),
            "merge FSDP collectives before scheduling", mode != "fsdp");
        if (mode == "fsdp" && settings_.limit(Setting::BucketCapMib))
            set("pre_bucketing_fsdp_collectives_bucket_cap_mb", settings_.text(Setting::BucketCapMib),
                "cap of a bucket");
        if (mode == "coalesced")
            lacking.emplace_back(
                "bucket_mode = coalesced, changed: Inductor makes no coalesced gathers of its own");
    }

    const Analysis& analysis_;
    const Settings& settings_;
    const Json& keys_;
};

Result<std::string> writeInductor(const Analysis& analysis, const ExportOptions& options) {
    const Json& version = versionFor(options.target);
    const InductorOptions made(analysis, version);
    std::string out = fmt::format(
        "# Inductor options for {}, by {} {}.\n# For torch {} (fields read from {}). Call apply() before "
        "torch.compile; an unknown name is an error.\n\nSETTINGS = {{\n",
        oneLine(analysis.after.graph->info().name), kProgramName, programVersion(),
        version.at("version").get<std::string>(), version.at("checked").get<std::string>());
    for (const ConfigLine& line : made.lines)
        out += fmt::format("    \"aten_distributed_optimizations.{}\": {},  # {}\n", line.option, line.value,
                           line.comment);
    out += "}\n\n\ndef apply():\n    import torch._inductor.config as inductor\n\n"
           "    for name, value in SETTINGS.items():\n        setattr(inductor, name, value)\n\n\n"
           "# Left as they are, with what they come to:\n";
    size_t left = 0;
    for (const auto& [key, field] : version.at("keys").items()) {
        const bool is_set = std::any_of(made.lines.begin(), made.lines.end(),
                                        [&](const ConfigLine& line) { return line.option == key; });
        if (is_set)
            continue;
        out += fmt::format("#   {} = {}{}\n", key, field.at("default").get<std::string>(),
                           field.contains("effective")
                               ? fmt::format(" (comes to {})", field.at("effective").get<std::string>())
                               : std::string());
        ++left;
    }
    if (left == 0)
        out += "#   (this version has none)\n";
    if (version.at("keys").contains("profile_guided_estimations_profile_path"))
        out += "# With our costs instead of Inductor's estimates: `export --format pge --out profile.json`, "
               "then set\n"
               "#   profile_guided_estimations_profile_path = \"profile.json\"\n";
    return out + notExpressedSection(made.lacking, analysisOnly(analysis));
}

std::vector<std::string> warnInductor(const Analysis& analysis, const ExportOptions& options) {
    std::vector<std::string> out;
    for (const std::string& line : InductorOptions(analysis, versionFor(options.target)).lacking) {
        const bool is_default = line.find(" = ") != std::string::npos &&
                                line.find(", changed") == std::string::npos &&
                                line.find(": ") == std::string::npos;
        if (!is_default)
            out.push_back("not expressed: " + line);
    }
    return out;
}

/// torchtitan's flags choose passes; none takes a number of ours. Sources: compile configs of its experiments
/// simple_fsdp (graph_passes) and graph_trainer (disable_passes).
std::vector<std::string> titanTargets() {
    return {"simple_fsdp", "graph_trainer"};
}

struct TitanFlags {
    std::vector<ConfigLine> lines;
    std::vector<std::string> lacking;
};

TitanFlags titanFlags(const Analysis& analysis, const std::string& target) {
    const Settings& settings = analysis.request.settings;
    const std::string& name = settings.text(Setting::Scheduler);
    const bool overlap = name == "overlap-scheduler" || name == "overlap-scheduler-upstream";
    TitanFlags out;
    if (target == "simple_fsdp" && overlap) {
        out.lines.push_back(
            {"--compile.graph_passes", "auto_bucketing", "Inductor's overlap scheduler with buckets"});
        if (!settings.flag(Setting::CollectiveBucketing))
            out.lacking.emplace_back("collective_bucketing = false: auto_bucketing always merges");
    } else if (target != "simple_fsdp") {
        out.lines.push_back({"--compile.disable_passes", "joint_transformer_block_bucketing_reordering_pass",
                             "it would bucket and reorder what the schedule places"});
    }
    const bool said = (target == "simple_fsdp" && overlap) || name == "program-order";
    if (!said)
        out.lacking.push_back(fmt::format(
            "scheduler = {}: apply its schedule (`export --format schedule`) with the bridge", name));
    using enum Setting;
    for (std::string& line : notExpressed(analysis, {Scheduler, CollectiveBucketing}))
        out.lacking.push_back(std::move(line));
    return out;
}

Result<std::string> writeTitan(const Analysis& analysis, const ExportOptions& options) {
    const std::string target = options.target.empty() ? titanTargets().back() : options.target;
    const TitanFlags flags = titanFlags(analysis, target);
    std::string out =
        fmt::format("# torchtitan flags for {}, by {} {}.\n# For its experiment {}.\n",
                    oneLine(analysis.after.graph->info().name), kProgramName, programVersion(), target);
    for (const ConfigLine& line : flags.lines)
        out += fmt::format("\n# {}\n{} {}\n", line.comment, line.option, line.value);
    if (flags.lines.empty())
        out += "\n# No flag is needed.\n";
    return out + notExpressedSection(flags.lacking, analysisOnly(analysis));
}

} // namespace

Exporter inductorExporter() {
    return {"inductor", "Inductor options (Python)", "py", writeInductor, warnInductor, torchTargets};
}

Exporter torchtitanExporter() {
    return {"torchtitan",
            "torchtitan flags",
            "txt",
            writeTitan,
            [](const Analysis& analysis, const ExportOptions& options) {
                std::vector<std::string> out;
                const TitanFlags flags =
                    titanFlags(analysis, options.target.empty() ? titanTargets().back() : options.target);
                for (const std::string& line : flags.lacking) {
                    if (line.find(": ") != std::string::npos || line.find(", changed") != std::string::npos)
                        out.push_back("not expressed: " + line);
                }
                return out;
            },
            titanTargets};
}

} // namespace gs

// Document 000's options as environment lines. MagiCompiler reads a field of its CompileConfig from the
// variable with the field's name in capitals after MAGI_COMPILE_ (documented in its config module).
#include "base/version.h"
#include "export/exporters.h"

#include <cctype>
#include <fmt/format.h>

namespace gs {

namespace {

struct Line {
    std::string_view option;
    std::string value; ///< empty: not set
    std::string comment;
};

/// Only plain numbers and words are written unquoted into a shell.
std::string shellWord(const std::string& value) {
    const bool plain =
        value.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "._-") == std::string::npos;
    if (plain && !value.empty())
        return value;
    std::string quoted = "'";
    for (char c : value)
        quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

std::string variableName(std::string_view option) {
    std::string name = "MAGI_COMPILE_";
    for (char c : option)
        name += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return name;
}

/// A comment must not end early, whatever a graph is called.
std::string oneLine(std::string text) {
    for (char& c : text) {
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F)
            c = ' ';
    }
    return text;
}

std::vector<Line> configuration(const Settings& settings) {
    const std::string& mode = settings.text(Setting::BucketMode);
    const std::string& cap = settings.text(Setting::BucketCapMib);
    const bool capped = mode == "coalesced" && cap != "none" && !cap.empty();
    return {
        {"disable_graph_split", "True", "the whole graph goes to Inductor in one piece"},
        {"cudagraph_mode", "NONE", "the overlap pass needs it"},
        {"enable_fsdp_fullgraph_overlap", "True", "lowering, buckets and reorder"},
        {"fsdp_fullgraph_bucket_mode", mode == "coalesced" ? mode : "none", "none or coalesced"},
        {"fsdp_fullgraph_bucket_size_mib", capped ? cap : "",
         capped ? "cap of a bucket, MiB of local shard" : "no cap"},
        {"fsdp_overlap_cost_mode", "profile_sync", "costs measured in lockstep, equal on every rank"},
        {"fsdp_overlap_slack_ns", settings.text(Setting::SlackNs), "headroom of each collective"},
        {"fsdp_overlap_comm_contention_factor", settings.text(Setting::Contention),
         "isolated to in-situ time of a collective"},
    };
}

/// What the analysis does and these options cannot say.
std::vector<std::string> differences(const Analysis& analysis) {
    const Settings& settings = analysis.request.settings;
    std::vector<std::string> notes;
    if (settings.text(Setting::Scheduler) != "latest-safe-launch")
        notes.push_back(fmt::format("the analysis used the scheduler {}; these options select the sweep",
                                    settings.text(Setting::Scheduler)));
    if (settings.text(Setting::BucketMode) == "fsdp")
        notes.emplace_back("the analysis merged collectives as PyTorch's FSDP bucketing does; there is no "
                           "option for it");
    if (settings.text(Setting::BucketMode) == "coalesced" && !settings.isDefault(Setting::BucketRegion))
        notes.push_back(fmt::format("the analysis cut buckets by {}; there is no option for it",
                                    settings.text(Setting::BucketRegion)));
    if (!settings.flag(Setting::Carry) || !settings.flag(Setting::MovePrepChain))
        notes.emplace_back(
            "carry and moving preparation chains are no options; newer versions always do both");
    return notes;
}

Result<std::string> writeEnvironment(const Analysis& analysis, const ExportOptions&) {
    const Settings& settings = analysis.request.settings;
    std::string text =
        fmt::format("# MagiCompiler options for {}, by {} {}.\n", oneLine(analysis.after.graph->info().name),
                    kProgramName, programVersion());
    text += "# Assumed: a field of CompileConfig is read from MAGI_COMPILE_ and its name in capitals; a\n"
            "# config_patch in the code wins over these lines. Newer versions group the fsdp fields in a\n"
            "# config of their own: then set the same names there.\n";
    for (const std::string& note : differences(analysis))
        text += "# Note: " + oneLine(note) + ".\n";
    for (const Line& line : configuration(settings)) {
        text += fmt::format("\n# {}: {}\n", line.option, line.comment);
        text += line.value.empty()
                    ? fmt::format("unset {}\n", variableName(line.option))
                    : fmt::format("export {}={}\n", variableName(line.option), shellWord(line.value));
    }
    return text;
}

} // namespace

Exporter magiEnvironment() {
    return {"magi-env", "MagiCompiler options (environment)", "sh", writeEnvironment};
}

} // namespace gs

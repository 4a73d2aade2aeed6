// Document 000's options as environment lines, Python and YAML. MagiCompiler reads a field of its
// CompileConfig from the variable with the field's name in capitals after MAGI_COMPILE_ (documented in its
// config module).
#include "base/version.h"
#include "export/config_text.h"
#include "export/exporters.h"

#include <cctype>
#include <fmt/format.h>

namespace gs {

namespace {

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

bool isNumber(const std::string& value) {
    return !value.empty() && value.find_first_not_of("0123456789.+-e") == std::string::npos;
}

std::vector<ConfigLine> configuration(const Settings& settings) {
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

std::vector<std::string> lacking(const Analysis& analysis) {
    const Settings& settings = analysis.request.settings;
    const bool sweep = settings.text(Setting::Scheduler) == "latest-safe-launch";
    const bool fsdp = settings.text(Setting::BucketMode) == "fsdp";
    using enum Setting;
    std::vector<std::string> out =
        notExpressed(analysis, {Scheduler, BucketMode, BucketCapMib, SlackNs, Contention});
    if (fsdp)
        out.insert(out.begin(),
                   "bucket_mode = fsdp, changed: collectives merged as PyTorch's FSDP bucketing does");
    if (!sweep)
        out.insert(out.begin(),
                   fmt::format("scheduler = {}, changed: these options select latest-safe-launch",
                               settings.text(Setting::Scheduler)));
    return out;
}

std::string heading(const Analysis& analysis, std::string_view how) {
    return fmt::format(
        "# MagiCompiler options for {}, by {} {}.\n{}"
        "# Newer versions group the fsdp fields in a config of their own: then set the same names there.\n",
        oneLine(analysis.after.graph->info().name), kProgramName, programVersion(), how);
}

std::string closing(const Analysis& analysis) {
    return notExpressedSection(lacking(analysis), analysisOnly(analysis));
}

Result<std::string> writeEnvironment(const Analysis& analysis, const ExportOptions&) {
    std::string text =
        heading(analysis, "# Assumed: a field of CompileConfig is read from MAGI_COMPILE_ and its name in "
                          "capitals; a\n# config_patch in the code wins over these lines.\n");
    for (const ConfigLine& line : configuration(analysis.request.settings)) {
        text += fmt::format("\n# {}: {}\n", line.option, line.comment);
        text += line.value.empty()
                    ? fmt::format("unset {}\n", variableName(line.option))
                    : fmt::format("export {}={}\n", variableName(line.option), shellWord(line.value));
    }
    return text + closing(analysis);
}

Result<std::string> writePython(const Analysis& analysis, const ExportOptions&) {
    std::string text =
        heading(analysis, "# Fields of CompileConfig, for a config_patch.\n") + "\nCOMPILE_CONFIG = {\n";
    for (const ConfigLine& line : configuration(analysis.request.settings)) {
        const std::string value = line.value.empty()                             ? "None"
                                  : line.value == "True" || isNumber(line.value) ? line.value
                                                                                 : "\"" + line.value + "\"";
        text += fmt::format("    \"{}\": {},  # {}\n", line.option, value, line.comment);
    }
    return text + "}\n" + closing(analysis);
}

Result<std::string> writeYaml(const Analysis& analysis, const ExportOptions&) {
    std::string text = heading(analysis, "# Fields of CompileConfig.\n") + "compile_config:\n";
    for (const ConfigLine& line : configuration(analysis.request.settings)) {
        const std::string value = line.value.empty()     ? "null"
                                  : line.value == "True" ? "true"
                                  : isNumber(line.value) ? line.value
                                                         : "\"" + line.value + "\"";
        text += fmt::format("  {}: {}  # {}\n", line.option, value, line.comment);
    }
    return text + closing(analysis);
}

std::vector<std::string> warn(const Analysis& analysis, const ExportOptions&) {
    std::vector<std::string> out;
    for (const std::string& line : lacking(analysis)) {
        if (line.find(", changed") != std::string::npos || line.find("by hand") != std::string::npos)
            out.push_back("not expressed: " + line);
    }
    return out;
}

} // namespace

Exporter magiEnvironment() {
    return {"magi-env", "MagiCompiler options (environment)", "sh", writeEnvironment, warn};
}

Exporter magiPython() {
    return {"magi-python", "MagiCompiler options (Python)", "py", writePython, warn};
}

Exporter magiYaml() {
    return {"magi-yaml", "MagiCompiler options (YAML)", "yaml", writeYaml, warn};
}

} // namespace gs

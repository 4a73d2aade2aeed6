#include "app/rank/rank_options.h"

#include "base/hash.h"
#include "import/importer.h"

#include <charconv>
#include <fmt/format.h>
#include <functional>
#include <map>

namespace gs {

namespace {

Error usageError(std::string message) {
    return {"usage", std::move(message), {}, "gatherscope-rank --help names the options"};
}

template <typename T>
Status readNumber(const std::string& name, const std::string& text, T least, T& out) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < least || value > 1'000'000)
        return usageError(fmt::format("{} takes a whole number from {}, not \"{}\"", name, least, text));
    out = value;
    return Unit{};
}

Status readWhat(const std::string& text, RankOptions& out) {
    out.compute = out.collectives = out.contention = false;
    for (size_t at = 0; at <= text.size();) {
        const size_t end = std::min(text.find(',', at), text.size());
        const std::string word = text.substr(at, end - at);
        at = end + 1;
        if (word == "compute")
            out.compute = true;
        else if (word == "collectives")
            out.collectives = true;
        else if (word == "contention")
            out.contention = true;
        else
            return usageError(fmt::format("--what takes compute, collectives, contention, not \"{}\"", word));
    }
    return Unit{};
}

Status readSetting(const std::string& text, Settings& settings) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
        return usageError(fmt::format("--set takes KEY=VALUE, not \"{}\"", text));
    return settings.set(text.substr(0, equals), text.substr(equals + 1));
}

using TakeValue = std::function<Status(const std::string&)>;

std::map<std::string, TakeValue> valueOptions(RankOptions& out) {
    AnalysisRequest& request = out.request;
    const auto text = [](std::string& slot) {
        return [&slot](const std::string& value) -> Status {
            slot = value;
            return Unit{};
        };
    };
    const auto number = [](const char* name, int32_t least, int32_t& slot) {
        return [=, &slot](const std::string& value) { return readNumber(name, value, least, slot); };
    };
    return {
        {"--backend", text(out.backend)},
        {"--stage", text(request.stage)},
        {"--shapes", text(request.shapes_file)},
        {"--graph", number("--graph", 0, request.graph_index)},
        {"--rank", number("--rank", 0, request.rank)},
        {"--iterations", number("--iterations", 1, out.plan.iterations)},
        {"--warmups", number("--warmups", 0, out.plan.warmups)},
        {"--time-limit", number("--time-limit", 1, out.time_limit_s)},
        {"--what", [&out](const std::string& value) { return readWhat(value, out); }},
        {"--set", [&request](const std::string& value) { return readSetting(value, request.settings); }},
        {"--benchmark-inputs",
         [&out](const std::string& value) -> Status {
             out.benchmark_inputs.push_back(value);
             return Unit{};
         }},
        {"--edit",
         [&request](const std::string& value) -> Status {
             const Result<Edit> edit = parseEdit(value);
             if (!edit)
                 return edit.error();
             request.edits = withEdit(std::move(request.edits), edit.value());
             return Unit{};
         }},
    };
}

} // namespace

std::string rankUsage() {
    return "Usage: mpirun -n N gatherscope-rank --backend NAME [options] FILE…\n"
           "       gatherscope-rank --probe\n"
           "Measures the operators and collectives of a graph on N ranks in lockstep and says what it finds "
           "as\n"
           "JSON lines. `gatherscope-cli profile` starts it. FILE: one graph for all ranks, or one a "
           "rank.\n\n"
           "  --backend NAME      what measures; --probe names all with their devices\n"
           "  --iterations N      timed runs of each operator (10)\n"
           "  --warmups N         runs before them (3)\n"
           "  --cache-cold        flush the caches before each timed run\n"
           "  --what LIST         of compute, collectives, contention (all)\n"
           "  --benchmark-inputs FILE   how inputs of operators are made, and which of them communicate;\n"
           "                      may be given several times\n"
           "  --set KEY=VALUE     setting, as of gatherscope-cli analyze\n"
           "  --edit EDIT         change by hand, as of gatherscope-cli analyze\n"
           "  --graph N --rank R --stage NAME --shapes FILE   which graph of the file\n"
           "  --time-limit S      longest time for one operator or collective (600)\n"
           "  --launched          stdin comes from a launcher\n"
           "  --probe             backends and devices as JSON, without MPI\n"
           "  --version, --help\n";
}

Result<RankOptions> parseRankOptions(const std::vector<std::string>& arguments) {
    RankOptions out;
    const auto values = valueOptions(out);
    const std::map<std::string, bool*> flags = {{"--launched", &out.launched},
                                                {"--probe", &out.probe},
                                                {"--help", &out.help},
                                                {"--version", &out.version},
                                                {"--cache-cold", &out.plan.cache_cold}};
    for (size_t i = 0; i < arguments.size(); ++i) {
        const std::string& argument = arguments[i];
        if (const auto flag = flags.find(argument); flag != flags.end()) {
            *flag->second = true;
        } else if (const auto option = values.find(argument); option != values.end()) {
            if (++i == arguments.size())
                return usageError(fmt::format("{} needs a value", argument));
            if (const Status status = option->second(arguments[i]); !status)
                return status.error();
        } else if (argument.starts_with("--")) {
            return usageError(fmt::format("there is no option {}", argument));
        } else {
            out.files.push_back(argument);
        }
    }
    if (!out.probe && !out.help && !out.version && (out.files.empty() || out.backend.empty()))
        return usageError("--backend and a graph file are needed");
    return out;
}

std::string RankOptions::settingsText() const {
    std::string text = fmt::format(
        "iterations={}\nwarmups={}\ncache_cold={}\nwhat={}{}{}\ngraph={}\nstage={}\n", plan.iterations,
        plan.warmups, plan.cache_cold, compute ? "compute " : "", collectives ? "collectives " : "",
        contention ? "contention" : "", request.graph_index, request.stage);
    for (const std::string& file : benchmark_inputs) {
        Diagnostics said; // a file that cannot be read is an error when its rows are
        const Result<InputText> rows = readInput(file, said);
        text += fmt::format("benchmark_inputs={}\n",
                            rows ? hexDigits(Hash64().text(rows->text).value()) : "unreadable");
    }
    for (const SettingSpec& spec : settingSpecs())
        text += fmt::format("{}={}\n", spec.name, request.settings.text(spec.key));
    return text;
}

} // namespace gs

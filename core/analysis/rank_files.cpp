#include "analysis/rank_files.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace gs {

namespace {

/// Runs of the graphs in a row that are looked at: a loop repeats itself.
constexpr size_t kMaxRuns = 64;

/// Later stages have higher numbers; 0 = no stage of compilation.
int stageOf(const std::string& name) {
    static constexpr std::pair<std::string_view, int> kStages[] = {
        {"after_post_grad", 9},  {"inductor_post_grad", 9}, {"before_post_grad", 8}, {"aot_inference", 7},
        {"aot_forward", 7},      {"aot_backward", 7},       {"after_joint", 6},      {"aot_joint", 6},
        {"before_joint", 5},     {"after_pre_grad", 4},     {"before_pre_grad", 3},  {"dynamo_output", 2},
        {"fx_graph_runnable", 1}};
    for (const auto& [part, stage] : kStages) {
        if (name.find(part) != std::string::npos)
            return stage;
    }
    return 0;
}

/// A value of a log line's JSON head as text: a number, or a quoted text without the quotes.
std::string_view valueAfter(std::string_view head, std::string_view key) {
    const size_t at = head.find(key);
    if (at == std::string_view::npos)
        return {};
    size_t begin = at + key.size();
    while (begin < head.size() && (head[begin] == ' ' || head[begin] == ':' || head[begin] == '"'))
        ++begin;
    return head.substr(begin, head.find_first_of(",\"}", begin) - begin);
}

std::string withoutPrefix(std::string target) {
    if (target.starts_with("torch.ops."))
        target.erase(0, 10);
    return target;
}

void readPayload(std::string_view name, std::string_view head, const std::string& payload, uint32_t line,
                 RankProgram& program) {
    const auto json = nlohmann::json::parse(payload, nullptr, false);
    if (json.is_discarded())
        return;
    if (name == "inductor_collective_schedule" && json.is_array()) {
        RankArtifact artifact;
        artifact.compile_id =
            fmt::format("{}/{}", valueAfter(head, "\"frame_id\""), valueAfter(head, "\"frame_compile_id\""));
        artifact.line = line;
        for (const auto& target : json) {
            if (target.is_string())
                artifact.targets.push_back(withoutPrefix(target.get<std::string>()));
        }
        program.schedules.push_back(std::move(artifact));
    } else if (name == "graph_execution" && json.is_object()) {
        const auto order = json.find("graph_execution_order");
        if (order == json.end() || !order->is_array())
            return;
        program.execution_order.clear();
        for (const auto& item : *order) {
            if (item.is_object() && item.contains("compile_id") && item["compile_id"].is_string())
                program.execution_order.push_back(item["compile_id"].get<std::string>());
        }
    }
}

/// The artifacts of a TORCH_TRACE log: a head line with JSON, then its payload in lines that begin with a
/// tab.
void readArtifacts(const std::string& text, RankProgram& program) {
    uint32_t line = 0;
    for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find('\n', at), text.size());
        const std::string_view head(text.data() + at, end - at);
        at = end + 1;
        ++line;
        const size_t json = head.find("{\"artifact\"");
        if (json == std::string_view::npos)
            continue;
        const std::string_view name = valueAfter(head.substr(json), "\"name\"");
        if (name != "inductor_collective_schedule" && name != "graph_execution")
            continue;
        std::string payload;
        const uint32_t head_line = line;
        while (at < text.size() && text[at] == '\t') {
            const size_t stop = std::min(text.find('\n', at), text.size());
            payload.append(text, at + 1, stop - at);
            at = stop + 1;
            ++line;
        }
        readPayload(name, head.substr(json), payload, head_line, program);
    }
}

/// One file or folder: the programs of its ranks.
Result<std::vector<RankProgram>> readFile(const std::string& path, Diagnostics& diagnostics,
                                          const JobContext& job) {
    Result<ImportedGraph> first = importGraph(path, -1, -1, diagnostics, job);
    if (!first)
        return first.error();
    const std::vector<size_t> chosen = graphsThatRun(first->entries);
    std::set<int32_t> stated;
    for (const size_t index : chosen)
        stated.insert(first->entries[index].rank);
    const int32_t of_name = rankOfFileName(path);
    std::map<int32_t, RankProgram> by_rank;
    for (const size_t index : chosen) {
        const GraphEntry& entry = first->entries[index];
        GraphPtr graph = first->graph;
        if (index != first->chosen) {
            Result<ImportedGraph> other = importGraph(path, static_cast<int>(index), -1, diagnostics, job);
            if (!other)
                return other.error();
            graph = other->graph;
        }
        int32_t rank = stated.size() > 1 ? entry.rank : of_name >= 0 ? of_name : entry.rank;
        if (rank < 0 && first->reader == "gatherscope-json")
            rank = graph->info().rank;
        by_rank[rank].graphs.push_back({entry.name, compileIdOf(entry), graph});
    }
    std::vector<RankProgram> out;
    for (auto& [rank, program] : by_rank) {
        program.rank = rank;
        program.file = path;
        out.push_back(std::move(program));
    }
    std::error_code error;
    if (out.size() == 1 && std::filesystem::is_regular_file(path, error)) {
        Diagnostics again; // the same text was read before
        if (const Result<InputText> input = readInput(path, again); input.ok())
            readArtifacts(input->text, out.front());
    }
    return out;
}

/// Graphs as they ran, where that is known for all of them.
void putInOrder(RankProgram& program) {
    std::vector<RankGraph> ran;
    for (const std::string& id : program.execution_order) {
        const size_t before = ran.size();
        for (const RankGraph& graph : program.graphs) {
            if (graph.compile_id == id)
                ran.push_back(graph);
        }
        if (ran.size() == before)
            return;
        if (ran.size() >= kMaxRuns)
            break;
    }
    if (!ran.empty())
        program.graphs = std::move(ran);
}

std::string fileName(const std::string& path) {
    return std::filesystem::path(path).filename().string();
}

/// Every program a name of its own.
void nameThem(std::vector<RankProgram>& programs) {
    std::map<int32_t, size_t> count;
    for (const RankProgram& program : programs)
        ++count[program.rank];
    for (RankProgram& program : programs) {
        program.label = program.rank >= 0 && count[program.rank] == 1 ? fmt::format("rank {}", program.rank)
                                                                      : fileName(program.file);
        if (count[program.rank] > 1)
            program.rank = -1;
    }
    std::map<std::string, size_t> taken;
    for (RankProgram& program : programs) {
        if (const size_t before = taken[program.label]++; before > 0)
            program.label += fmt::format(" ({})", before + 1);
    }
}

} // namespace

std::string compileIdOf(const GraphEntry& entry) {
    const size_t open = entry.name.rfind('['), close = entry.name.rfind(']');
    return open == std::string::npos || close == std::string::npos || close < open
               ? std::string()
               : entry.name.substr(open + 1, close - open - 1);
}

int32_t rankOfFileName(const std::string& path) {
    const std::string name = fileName(path);
    for (size_t at = name.rfind("rank"); at != std::string::npos;
         at = at == 0 ? std::string::npos : name.rfind("rank", at - 1)) {
        size_t digit = at + 4;
        if (digit < name.size() && (name[digit] == '_' || name[digit] == '-'))
            ++digit;
        int32_t rank = -1;
        for (int digits = 0; digit < name.size() && name[digit] >= '0' && name[digit] <= '9' && digits < 6;
             ++digits)
            rank = std::max(rank, 0) * 10 + (name[digit++] - '0');
        if (rank >= 0)
            return rank;
    }
    return -1;
}

std::vector<size_t> graphsThatRun(const std::vector<GraphEntry>& entries) {
    std::map<std::pair<std::string, int32_t>, int> latest;
    for (const GraphEntry& entry : entries) {
        int& stage = latest[{compileIdOf(entry), entry.rank}];
        stage = std::max(stage, stageOf(entry.name));
    }
    std::vector<size_t> chosen;
    for (size_t i = 0; i < entries.size(); ++i) {
        if (stageOf(entries[i].name) == latest[{compileIdOf(entries[i]), entries[i].rank}])
            chosen.push_back(i);
    }
    return chosen;
}

Result<std::vector<RankProgram>> readRanks(const std::vector<std::string>& files, Diagnostics& diagnostics,
                                           const JobContext& job) {
    std::vector<RankProgram> all;
    std::set<int32_t> stated;
    for (const std::string& file : files) {
        if (job.cancelled())
            return Error{"cancelled", "reading the ranks was cancelled", {}, ""};
        Result<std::vector<RankProgram>> read = readFile(file, diagnostics, job);
        if (!read)
            return read.error();
        for (RankProgram& program : read.value()) {
            stated.insert(program.rank);
            all.push_back(std::move(program));
        }
    }
    std::vector<RankProgram> programs;
    std::map<int32_t, size_t> by_rank;
    for (RankProgram& program : all) {
        const auto [at, is_new] = by_rank.try_emplace(program.rank, programs.size());
        if (is_new || program.rank < 0 || stated.size() == 1) {
            programs.push_back(std::move(program));
            continue;
        }
        RankProgram& known = programs[at->second];
        std::move(program.graphs.begin(), program.graphs.end(), std::back_inserter(known.graphs));
        std::move(program.schedules.begin(), program.schedules.end(), std::back_inserter(known.schedules));
    }
    for (RankProgram& program : programs)
        putInOrder(program);
    std::stable_sort(programs.begin(), programs.end(),
                     [](const RankProgram& a, const RankProgram& b) { return a.rank < b.rank; });
    nameThem(programs);
    return programs;
}

} // namespace gs

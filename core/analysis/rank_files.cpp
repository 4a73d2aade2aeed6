#include "analysis/rank_files.h"

#include "analysis/bundle_ranks.h"

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
int stageOf(const GraphEntry& entry) {
    static constexpr std::pair<std::string_view, int> kStages[] = {
        {"after_post_grad", 9},   {"inductor_post_grad", 9}, {"transformed", 9},      {"before_post_grad", 8},
        {"fx_graph_readable", 8}, {"aot_inference", 7},      {"aot_forward", 7},      {"aot_backward", 7},
        {"after_joint", 6},       {"aot_joint", 6},          {"before_joint", 5},     {"after_pre_grad", 4},
        {"before_pre_grad", 3},   {"dynamo_output", 2},      {"fx_graph_runnable", 1}};
    if (entry.level != GraphLevel::Fx)
        return -1; // the same program as code, where there is a graph of it
    const std::string& name = entry.stage.empty() ? entry.name : entry.stage;
    for (const auto& [part, stage] : kStages) {
        if (name.find(part) != std::string::npos)
            return stage;
    }
    return 0;
}

std::string withoutPrefix(std::string target) {
    if (target.starts_with("torch.ops."))
        target.erase(0, 10);
    return target;
}

void readSchedule(const nlohmann::json& json, const Companion& companion, RankProgram& program) {
    if (!json.is_array())
        return;
    RankArtifact artifact{companion.compile_id, {}, companion.line};
    for (const auto& target : json) {
        if (target.is_string())
            artifact.targets.push_back(withoutPrefix(target.get<std::string>()));
    }
    program.schedules.push_back(std::move(artifact));
}

void readExecutionOrder(const nlohmann::json& json, RankProgram& program) {
    if (!json.is_object() || !json.contains("graph_execution_order"))
        return;
    program.execution_order.clear();
    for (const auto& item : json["graph_execution_order"]) {
        if (item.is_object() && item.contains("compile_id") && item["compile_id"].is_string())
            program.execution_order.push_back(item["compile_id"].get<std::string>());
    }
}

/// What the compiler wrote down for this rank: in its log, else in files beside it.
void readArtifacts(const std::vector<Companion>& companions, bool several_ranks, RankProgram& program) {
    const bool inside = std::any_of(companions.begin(), companions.end(), [&](const Companion& item) {
        return item.file == program.file && item.kind == Companion::Kind::CollectiveSchedule;
    });
    InputText text;
    for (const Companion& item : companions) {
        const bool schedule = item.kind == Companion::Kind::CollectiveSchedule;
        if ((!schedule && item.kind != Companion::Kind::ExecutionOrder) ||
            (several_ranks && item.rank != program.rank) || (inside && item.file != program.file))
            continue;
        if (text.path != item.file) {
            Diagnostics ignored;
            Result<InputText> read = readInput(item.file, ignored);
            if (!read)
                continue;
            text = std::move(read).value();
            text.path = item.file;
        }
        const std::string_view whole = text.text;
        const auto json = nlohmann::json::parse(
            whole.substr(std::min(item.offset, whole.size()), item.length > 0 ? item.length : whole.npos),
            nullptr, false);
        if (json.is_discarded())
            continue;
        if (schedule)
            readSchedule(json, item, program);
        else
            readExecutionOrder(json, program);
    }
}

/// Timeouts that NCCL's watchdog wrote into a file.
std::vector<WatchdogTimeout> timeoutsOf(const std::string& path) {
    Diagnostics ignored;
    const Result<InputText> text = readInput(path, ignored);
    return text ? watchdogTimeouts(text->text) : std::vector<WatchdogTimeout>();
}

const GraphReader& readerOf(const GraphList& list, size_t index) {
    const auto& readers = graphReaders();
    return *std::find_if(readers.begin(), readers.end(),
                         [&](const GraphReader& reader) { return reader.name == list.readers[index]; });
}

/// One file or folder: the programs of its ranks, none for a log of the watchdog only.
Result<std::vector<RankProgram>> readFile(const std::string& path, std::vector<WatchdogTimeout>& timeouts,
                                          Diagnostics& diagnostics, const JobContext& job) {
    Result<std::vector<RankProgram>> of_bundle = readBundleRanks(path);
    if (!of_bundle || !of_bundle->empty())
        return of_bundle;
    const Result<GraphList> list = listGraphs(path, diagnostics, job);
    if (!list && list.error().code == "not-a-graph") {
        timeouts = timeoutsOf(path);
        if (!timeouts.empty())
            return std::vector<RankProgram>();
    }
    if (!list)
        return list.error();
    for (const Companion& item : list->companions) {
        if (item.kind != Companion::Kind::Timeouts)
            continue;
        std::vector<WatchdogTimeout> found = timeoutsOf(item.file);
        std::move(found.begin(), found.end(), std::back_inserter(timeouts));
    }
    const std::vector<size_t> chosen = graphsThatRun(list->graphs);
    std::set<int32_t> stated;
    for (const size_t index : chosen)
        stated.insert(list->graphs[index].rank);
    const int32_t of_name = rankOfFileName(path);
    std::map<int32_t, RankProgram> by_rank;
    InputText text;
    for (const size_t index : chosen) {
        const GraphEntry& entry = list->graphs[index];
        const std::string& file = entry.file.empty() ? path : entry.file;
        if (text.path != file) {
            Diagnostics said; // by listGraphs() already
            Result<InputText> input = readInput(file, said);
            if (!input)
                return input.error();
            text = std::move(input).value();
        }
        const GraphReader& reader = readerOf(list.value(), index);
        const Result<GraphPtr> graph = reader.read(text, entry, diagnostics, job);
        if (!graph)
            return graph.error();
        int32_t rank = stated.size() > 1 ? entry.rank : of_name >= 0 ? of_name : entry.rank;
        if (rank < 0 && reader.name == "gatherscope-json")
            rank = graph.value()->info().rank;
        by_rank[rank].graphs.push_back({entry.name, entry.compile_id, graph.value()});
    }
    std::vector<RankProgram> out;
    for (auto& [rank, program] : by_rank) {
        program.rank = rank;
        program.file = path;
        out.push_back(std::move(program));
    }
    for (RankProgram& program : out)
        readArtifacts(list->companions, out.size() > 1, program);
    return out;
}

/// Timeouts go to the rank that reports them; of ranks without a graph here, to the first rank.
void placeTimeouts(std::vector<WatchdogTimeout> timeouts, std::vector<RankProgram>& programs) {
    for (WatchdogTimeout& timeout : timeouts) {
        const auto of = std::find_if(programs.begin(), programs.end(), [&](const RankProgram& program) {
            return program.rank == timeout.rank;
        });
        if (!programs.empty())
            (of == programs.end() ? programs.front() : *of).timeouts.push_back(std::move(timeout));
    }
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
        int& stage = latest.try_emplace({entry.compile_id, entry.rank}, -1).first->second;
        stage = std::max(stage, stageOf(entry));
    }
    std::vector<size_t> chosen;
    for (size_t i = 0; i < entries.size(); ++i) {
        if (stageOf(entries[i]) == latest[{entries[i].compile_id, entries[i].rank}])
            chosen.push_back(i);
    }
    return chosen;
}

Result<std::vector<RankProgram>> readRanks(const std::vector<std::string>& files, Diagnostics& diagnostics,
                                           const JobContext& job) {
    std::vector<RankProgram> all;
    std::vector<WatchdogTimeout> timeouts;
    std::set<int32_t> stated;
    for (const std::string& file : files) {
        if (job.cancelled())
            return Error{"cancelled", "reading the ranks was cancelled", {}, ""};
        std::vector<WatchdogTimeout> hung;
        Result<std::vector<RankProgram>> read = readFile(file, hung, diagnostics, job);
        if (!read)
            return read.error();
        std::move(hung.begin(), hung.end(), std::back_inserter(timeouts));
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
    placeTimeouts(std::move(timeouts), programs);
    nameThem(programs);
    return programs;
}

RanksResult compareRankFiles(const std::vector<std::string>& files, std::string_view communicating,
                             const JobContext& job) {
    Diagnostics reading;
    Result<std::vector<RankProgram>> programs = readRanks(files, reading, job);
    if (!programs)
        return {nullptr, programs.error()};
    if (programs->size() < 2)
        return {nullptr, Error{"one-rank",
                               "these files hold the graphs of one rank only",
                               {},
                               "add the file of another rank"}};
    return {compareRanks(std::move(programs).value(), communicating), std::nullopt};
}

} // namespace gs

#include "support/golden_count.h"

#include "support/test_data.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace gs::test {

namespace {

fs::path countFolder() {
    return fs::path(GATHERSCOPE_GOLDEN_COUNTS);
}

Json parse(const std::string& file) {
    return Json::parse(readAll(*corpusPath(file)));
}

/// Names of the JSON files of a golden's folder, in all places where the corpus may be.
std::set<std::string> goldenFiles(const std::string& kind) {
    std::set<std::string> names;
    for (const char* root : {GATHERSCOPE_SHARED_DIR, GATHERSCOPE_TEST_DATA}) {
        std::error_code error;
        for (const auto& entry : fs::directory_iterator(fs::path(root) / "corpus/golden" / kind, error)) {
            const std::string file = entry.path().filename().string();
            if (const size_t end = file.find(".json"); end != std::string::npos)
                names.insert("golden/" + kind + "/" + file.substr(0, end) + ".json");
        }
    }
    return names;
}

size_t runRows(const std::string& kind) {
    size_t rows = 0;
    for (const std::string& file : goldenFiles(kind))
        rows += parse(file).at("runs").size();
    return rows;
}

size_t launchRows() {
    size_t rows = 0;
    for (const char* name : {"chains", "random", "corpus"}) {
        if (const auto path = corpusPath(std::string("golden/latest_safe_launch/") + name + ".jsonl")) {
            for (const std::string& line : readLines(*path))
                rows += Json::parse(line).at("results").size();
        }
    }
    return rows;
}

/// Per graph the classification, the deduplication, and each composition and each merge.
size_t fsdpRows() {
    size_t rows = 0;
    for (const std::string& file : goldenFiles("fsdp")) {
        const Json golden = parse(file);
        rows += 2 + golden.at("bucket_compositions").size() + golden.at("pre_bucket").size();
    }
    return rows;
}

size_t commRows() {
    size_t rows = 0;
    if (const auto path = corpusPath("golden/comm/nccl_estimate.csv"))
        rows += readLines(*path).size() - 1;
    for (const auto& [file, lists] :
         {std::pair<std::string, std::vector<const char*>>{"nccl_estimate_more", {"overrides", "algo_times"}},
          {"saturation", {"saturation", "caps", "efficiency"}}}) {
        if (!corpusPath("golden/comm/" + file + ".json"))
            continue;
        const Json golden = parse("golden/comm/" + file + ".json");
        for (const char* list : lists)
            rows += golden.at(list).size();
    }
    if (corpusPath("golden/comm/roofline_fx.json")) {
        const Json golden = parse("golden/comm/roofline_fx.json");
        for (const auto& [name, graph] : golden.at("graphs").items())
            rows += graph.at("roofline_ms").size() + graph.at("nccl_ms").size();
    }
    return rows;
}

/// Per graph the runs of document 003's scheduler, and one for fsdp.py.
size_t fuzzRows() {
    size_t rows = 0;
    if (const auto path = corpusPath("golden/fuzz/fuzz.jsonl")) {
        for (const std::string& line : readLines(*path))
            rows += Json::parse(line).at("overlap003").size() + 1;
    }
    return rows;
}

} // namespace

std::map<std::string, size_t> goldenRows() {
    return {{"latest_safe_launch", launchRows()},
            {"overlap003", runRows("overlap003")},
            {"overlap215", runRows("overlap215")},
            {"fsdp", fsdpRows()},
            {"comm", commRows()},
            {"param_gather", runRows("param_gather")},
            {"fuzz", fuzzRows()}};
}

void reportGoldens(const std::string& kind, const std::string& part, const GoldenCount& count) {
    fs::create_directories(countFolder());
    const Json row = {{"kind", kind},
                      {"part", part},
                      {"compared", count.compared},
                      {"errors", count.errors},
                      {"not_run", count.not_run}};
    std::ofstream(countFolder() / (kind + "." + part + ".json")) << row.dump() << "\n";
}

std::map<std::string, std::map<std::string, GoldenCount>> takeGoldenCounts() {
    std::map<std::string, std::map<std::string, GoldenCount>> all;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(countFolder(), error)) {
        std::ifstream file(entry.path());
        const Json row = Json::parse(file);
        all[row.at("kind")][row.at("part")] = {row.at("compared"), row.at("errors"),
                                               row.at("not_run").get<std::map<std::string, size_t>>()};
    }
    fs::remove_all(countFolder(), error);
    return all;
}

} // namespace gs::test

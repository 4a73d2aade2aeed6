#include "export/bundle_ranks.h"

#include "export/graph_json.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

namespace gs {

namespace {

using Json = nlohmann::ordered_json;

std::string dump(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

class Writer {
public:
    explicit Writer(const Analysis& analysis)
        : analysis_(analysis), own_text_(textOf(*analysis.source.graph)) {}

    std::string run() {
        std::string programs;
        for (const ComparedRank& rank : analysis_.ranks->ranks)
            programs += (programs.empty() ? "\n" : ",\n") + dump(program(rank.program));
        return "{\"graphs\":[" + graphs_ + "],\"programs\":[" + programs + "]}";
    }

private:
    static std::string textOf(const Graph& graph) {
        std::string text = writeGraphJson(graph, true);
        text.erase(text.find_last_not_of('\n') + 1);
        return text;
    }

    /// Opened again, the bundle's own graph is of the file that it was read from.
    std::string fileOf(const RankProgram& program) const {
        return program.file == analysis_.request.graph_file ? analysis_.source.graph->info().source_file
                                                            : program.file;
    }

    Json program(const RankProgram& program) {
        Json graphs = Json::array(), schedules = Json::array(), timeouts = Json::array();
        std::vector<GraphPtr> written; // execution_order tells how often each runs
        for (const RankGraph& item : program.graphs) {
            if (std::find(written.begin(), written.end(), item.graph) != written.end())
                continue;
            written.push_back(item.graph);
            graphs.push_back({{"label", item.label},
                              {"compile_id", item.compile_id},
                              {"file", item.graph->info().source_file},
                              {"graph", numberOf(*item.graph)}});
        }
        for (const RankArtifact& item : program.schedules)
            schedules.push_back(
                {{"compile_id", item.compile_id}, {"line", item.line}, {"targets", item.targets}});
        for (const WatchdogTimeout& item : program.timeouts)
            timeouts.push_back({{"rank", item.rank},
                                {"group", item.group},
                                {"number", item.number},
                                {"op", item.op},
                                {"elements_in", item.elements_in},
                                {"elements_out", item.elements_out},
                                {"line", item.line}});
        return {{"rank", program.rank},
                {"file", fileOf(program)},
                {"graphs", std::move(graphs)},
                {"schedules", std::move(schedules)},
                {"execution_order", program.execution_order},
                {"timeouts", std::move(timeouts)}};
    }

    /// Ranks that run the same share one text.
    int numberOf(const Graph& graph) {
        std::string text = textOf(graph);
        if (text == own_text_)
            return -1;
        const auto [found, added] = numbers_.try_emplace(std::move(text), static_cast<int>(numbers_.size()));
        if (added)
            graphs_ += (graphs_.empty() ? "\n" : ",\n") + found->first;
        return found->second;
    }

    const Analysis& analysis_;
    std::string own_text_;
    std::string graphs_;
    std::map<std::string, int> numbers_;
};

} // namespace

std::string bundleRanks(const Analysis& analysis) {
    return analysis.ranks ? Writer(analysis).run() : "null";
}

} // namespace gs

#include "analysis/bundle_ranks.h"

#include "analysis/bundle_request.h"
#include "import/bundle_json.h"
#include "import/importer.h"
#include "import/json_graph.h"
#include "import/json_nodes.h"

#include <fmt/format.h>
#include <map>

namespace gs {

namespace {

namespace dom = simdjson::dom;

class Reader {
public:
    Reader(std::string path, const dom::object& root) : path_(std::move(path)), root_(root) {}

    Result<std::vector<RankProgram>> run(const dom::object& ranks) {
        dom::array programs;
        if (ranks["graphs"].get(graphs_) != simdjson::SUCCESS ||
            ranks["programs"].get(programs) != simdjson::SUCCESS)
            return fault("\"ranks\" has no graphs or no programs");
        std::vector<RankProgram> out;
        for (const dom::element item : programs) {
            dom::object object;
            if (item.get(object) != simdjson::SUCCESS)
                return fault("the program of a rank is no object");
            Result<RankProgram> program = readProgram(object);
            if (!program)
                return program.error();
            out.push_back(std::move(program).value());
        }
        return out;
    }

private:
    Error fault(std::string_view what) const {
        return {"bad-bundle", fmt::format("{}: {}", path_, what), {path_, 1, 0}, "export it again"};
    }

    /// One of the graphs, -1 = the bundle's own, as read from `file`; null if it is none.
    GraphPtr graphOf(int64_t number, const std::string& file) {
        GraphPtr& known = known_[{number, file}];
        dom::element stated;
        dom::object graph;
        dom::array nodes;
        const simdjson::error_code found = number == -1 ? root_["graph"].get(stated)
                                           : number < 0 ? simdjson::INDEX_OUT_OF_BOUNDS
                                                        : graphs_.at(static_cast<size_t>(number)).get(stated);
        Diagnostics again; // was said when the bundle was made
        if (!known && found == simdjson::SUCCESS && stated.get(graph) == simdjson::SUCCESS &&
            graph["nodes"].get(nodes) == simdjson::SUCCESS)
            known = graphOfJson(graph, nodes, file, again);
        return known;
    }

    static std::vector<std::string> texts(const dom::object& holder, std::string_view key) {
        std::vector<std::string> out;
        dom::array items;
        if (holder[key].get(items) == simdjson::SUCCESS) {
            for (const dom::element item : items) {
                std::string_view text;
                if (item.get(text) == simdjson::SUCCESS)
                    out.emplace_back(text);
            }
        }
        return out;
    }

    /// Calls `read` with every object of the member `key`.
    template <typename Read>
    static void each(const dom::object& holder, std::string_view key, Read read) {
        dom::array items;
        if (holder[key].get(items) != simdjson::SUCCESS)
            return;
        for (const dom::element item : items) {
            dom::object object;
            if (item.get(object) == simdjson::SUCCESS)
                read(object);
        }
    }

    Result<RankProgram> readProgram(const dom::object& stated) {
        RankProgram program;
        program.rank = static_cast<int32_t>(intOr(stated, "rank", -1));
        program.file = stringOr(stated, "file", path_);
        program.execution_order = texts(stated, "execution_order");
        bool complete = true;
        each(stated, "graphs", [&](const dom::object& item) {
            RankGraph graph{std::string(stringOr(item, "label")), std::string(stringOr(item, "compile_id")),
                            graphOf(intOr(item, "graph", -2), std::string(stringOr(item, "file", path_)))};
            complete = complete && graph.graph;
            program.graphs.push_back(std::move(graph));
        });
        if (!complete || program.graphs.empty())
            return fault("a rank names a graph that the bundle does not hold");
        each(stated, "schedules", [&](const dom::object& item) {
            program.schedules.push_back({std::string(stringOr(item, "compile_id")), texts(item, "targets"),
                                         static_cast<uint32_t>(intOr(item, "line", 0))});
        });
        each(stated, "timeouts", [&](const dom::object& item) {
            program.timeouts.push_back(
                {static_cast<int32_t>(intOr(item, "rank", -1)), std::string(stringOr(item, "group")),
                 intOr(item, "number", 0), std::string(stringOr(item, "op")), intOr(item, "elements_in", -1),
                 intOr(item, "elements_out", -1), static_cast<uint32_t>(intOr(item, "line", 0))});
        });
        return program;
    }

    std::string path_;
    const dom::object& root_;
    dom::array graphs_;
    std::map<std::pair<int64_t, std::string>, GraphPtr> known_;
};

} // namespace

Result<std::vector<RankProgram>> readBundleRanks(const std::string& path) {
    if (!isBundle(path))
        return std::vector<RankProgram>();
    Diagnostics of_file; // reading the graph says it again
    const Result<InputText> input = readInput(path, of_file);
    if (!input)
        return input.error();
    dom::parser parser;
    dom::object root, ranks;
    if (parser.parse(input->text).get(root) != simdjson::SUCCESS ||
        root["ranks"].get(ranks) != simdjson::SUCCESS)
        return std::vector<RankProgram>(); // none, or what reading the graph will say
    if (const Status status = checkBundleVersion(root, path); !status)
        return status.error();
    return Reader(path, root).run(ranks);
}

} // namespace gs

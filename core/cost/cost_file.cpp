#include "cost/cost_file.h"

#include "base/units.h"
#include "cost/readers/cost_reader.h"
#include "import/importer.h"
#include "import/json_scan.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <unordered_set>

namespace gs {

namespace {

using Json = nlohmann::json;

/// Texts as keys that can be looked up by view.
struct ViewHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};
using CostMap = std::unordered_map<std::string, int64_t, ViewHash, std::equal_to<>>;

/// Collects header and entries while the file is parsed; unlike a parsed tree it sees repeated names and
/// integers beyond 64 bits.
class CostHandler : public nlohmann::json_sax<Json> {
public:
    struct Entry {
        std::string name;
        double number = 0; ///< approximate
        int64_t ns = 0;    ///< exact
        bool is_integer = false;
        std::string fault; ///< what it is instead of a number
    };

    std::string format, unit, graph, model;
    std::optional<int64_t> version;
    bool has_nodes = false;
    bool is_object = false;
    std::vector<Entry> entries;

    bool null() override { return value("null"); }
    bool boolean(bool flag) override { return value(flag ? "true" : "false"); }
    bool number_integer(number_integer_t number) override { return integer(number); }
    bool number_unsigned(number_unsigned_t number) override {
        if (number > INT64_MAX)
            return real(static_cast<double>(number));
        return integer(static_cast<int64_t>(number));
    }
    bool number_float(number_float_t number, const string_t&) override { return real(number); }
    bool string(string_t& text) override {
        if (depth_ == 1) {
            std::string* field = key_ == "format"  ? &format
                                 : key_ == "unit"  ? &unit
                                 : key_ == "graph" ? &graph
                                 : key_ == "model" ? &model
                                                   : nullptr;
            if (field)
                *field = text;
        }
        return value("a text");
    }
    bool binary(binary_t&) override { return value("binary data"); }
    bool start_object(std::size_t) override {
        if (depth_ == 0)
            is_object = true;
        if (depth_ == 1 && key_ == "nodes") {
            in_nodes_ = true;
            has_nodes = true;
        } else {
            value("an object");
        }
        ++depth_;
        return true;
    }
    bool key(string_t& text) override {
        key_ = text;
        return true;
    }
    bool end_object() override {
        --depth_;
        in_nodes_ = in_nodes_ && depth_ > 1;
        return true;
    }
    bool start_array(std::size_t) override {
        value("an array");
        ++depth_;
        return true;
    }
    bool end_array() override {
        --depth_;
        return true;
    }
    bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
        return false;
    }

private:
    bool entryHere() const { return in_nodes_ && depth_ == 2; }
    bool integer(int64_t number) {
        if (depth_ == 1 && key_ == "version")
            version = number;
        if (entryHere())
            entries.push_back({key_, static_cast<double>(number), number, true, {}});
        return true;
    }
    bool real(double number) {
        if (entryHere())
            entries.push_back({key_, number, 0, false, {}});
        return true;
    }
    bool value(const char* what) {
        if (entryHere())
            entries.push_back({key_, 0, 0, false, what});
        return true;
    }

    std::string key_;
    int depth_ = 0;
    bool in_nodes_ = false;
};

/// Line and column of a key's first occurrence behind `from`, for messages.
SourcePos findKey(const std::string& path, const std::string& text, const std::string& key, size_t from = 0) {
    const size_t at = text.find("\"" + key + "\"", from);
    if (at == std::string::npos)
        return {path, 1, 1};
    const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    const size_t start = text.rfind('\n', at);
    const size_t column = start == std::string::npos ? at : at - start - 1;
    return {path, static_cast<uint32_t>(line) + 1, static_cast<uint32_t>(column) + 1};
}

Error fileError(const char* code, SourcePos where, const std::string& message, std::string hint) {
    std::string text = fmt::format("{}:{}:{}: {}", where.file, where.line, where.column, message);
    return {code, std::move(text), std::move(where), std::move(hint)};
}

std::optional<Error> checkHeader(const CostHandler& file, const std::string& path, const std::string& text) {
    if (!file.is_object || file.format != "gatherscope.costs")
        return fileError("not-a-cost-file", findKey(path, text, "format"),
                         file.format.empty() ? "no \"format\": \"gatherscope.costs\" at the top of the file"
                                             : fmt::format("the format is \"{}\", \"gatherscope.costs\" was "
                                                           "expected",
                                                           file.format),
                         "choose a cost file; graphs are opened as graphs");
    if (file.version != 1)
        return fileError("unsupported-version", findKey(path, text, "version"),
                         file.version ? fmt::format("version {} of the format, this program reads version 1",
                                                    *file.version)
                                      : "\"version\" is missing or no integer",
                         "write the file with \"version\": 1");
    if (file.unit != "ns")
        return fileError("unsupported-unit", findKey(path, text, "unit"),
                         file.unit.empty() ? "\"unit\" is missing"
                                           : fmt::format("the unit is \"{}\"", file.unit),
                         "write the times as whole nanoseconds, with \"unit\": \"ns\"");
    if (!file.has_nodes)
        return fileError("not-a-cost-file", findKey(path, text, "nodes"),
                         "\"nodes\" is missing or no object of name → ns", "write one entry per node");
    return std::nullopt;
}

/// The entry in whole nanoseconds, or what is wrong with it.
std::optional<int64_t> acceptEntry(const CostHandler::Entry& entry, std::string& problem) {
    if (!entry.fault.empty())
        problem = fmt::format("the cost is {}", entry.fault);
    else if (entry.number < 0)
        problem = fmt::format("the cost is negative ({:.17g} ns)", entry.number);
    else if (entry.number > static_cast<double>(kMaxFileCostNs))
        problem = fmt::format("the cost is more than an hour ({:.4g} ns)", entry.number);
    else if (!entry.is_integer && entry.number != std::floor(entry.number))
        problem = fmt::format("the cost is no whole number ({:.17g} ns)", entry.number);
    else
        return entry.is_integer ? entry.ns : static_cast<int64_t>(entry.number);
    return std::nullopt;
}

class CostFileModel : public CostModel {
public:
    std::string path, file_name, graph_name, model;
    CostMap costs;

    std::string name() const override { return "file"; }
    std::string source() const override { return file_name; }

    std::optional<CostEstimate> estimate(const Graph& graph, const CollectiveTable&,
                                         NodeId id) const override {
        if (const auto found = costs.find(graph.name(id)); found != costs.end())
            return CostEstimate{found->second, Provenance::Imported, model};
        const auto origins = graph.origins(id);
        if (graph.node(id).kind != NodeKind::Launch || origins.empty())
            return std::nullopt;
        int64_t sum = 0;
        size_t known = 0;
        for (StringId origin : origins) {
            if (const auto found = costs.find(graph.text(origin)); found != costs.end()) {
                sum += found->second;
                ++known;
            }
        }
        if (known == 0)
            return std::nullopt;
        return CostEstimate{sum, Provenance::Interpolated,
                            fmt::format("no entry of its own: sum of {} of the {} nodes it was made from",
                                        known, origins.size())};
    }

    void check(const Graph& graph, Diagnostics& diagnostics) const override {
        std::unordered_set<std::string_view> made_from;
        for (NodeId id = 0; id < graph.size(); ++id) {
            for (StringId origin : graph.origins(id))
                made_from.insert(graph.text(origin));
        }
        std::vector<std::string_view> lacking;
        for (const auto& [name, ns] : costs) {
            if (!graph.find(name) && !made_from.count(name))
                lacking.push_back(name);
        }
        std::sort(lacking.begin(), lacking.end());
        const SourcePos where{path, 0, 0};
        const std::string of = graph_name.empty() ? "" : fmt::format(" (it is for \"{}\")", graph_name);
        if (!costs.empty() && lacking.size() == costs.size()) {
            diagnostics.add({Severity::Error, "costs-of-another-graph", where, std::string(),
                             fmt::format("none of the {} names of {} is in the graph \"{}\"{}",
                                         formatCount(static_cast<int64_t>(costs.size())), file_name,
                                         graph.info().name, of),
                             "choose the cost file of this graph"});
        } else if (!lacking.empty()) {
            constexpr size_t kExamples = 5;
            std::string examples;
            for (size_t i = 0; i < std::min(kExamples, lacking.size()); ++i)
                examples += fmt::format("{}{}", i == 0 ? "" : ", ", lacking[i]);
            diagnostics.add({Severity::Warning, "unknown-cost-names", where, std::string(),
                             fmt::format("{} of {} names of {} are not in the graph{}: {}{}",
                                         formatCount(static_cast<int64_t>(lacking.size())),
                                         formatCount(static_cast<int64_t>(costs.size())), file_name, of,
                                         examples, lacking.size() > kExamples ? ", …" : ""),
                             "these entries are not used; check that graph and costs belong together"});
        }
    }
};

} // namespace

Result<CostModelPtr> readNamedCosts(const std::string& path, Diagnostics& diagnostics, const JobContext&) {
    Result<InputText> input = readInput(path, diagnostics);
    if (!input)
        return input.error();
    const std::string& text = input->text;
    CostHandler file;
    if (!Json::sax_parse(text, &file)) {
        const JsonFault fault = findJsonFault(text);
        return fileError("bad-json", {path, std::max(fault.line, 1U), std::max(fault.column, 1U)},
                         fault.found() ? fault.message : "this is no JSON", "correct the file at this place");
    }
    if (auto error = checkHeader(file, path, text))
        return *error;
    auto model = std::make_shared<CostFileModel>();
    model->path = path;
    model->file_name = std::filesystem::path(path).filename().string();
    model->graph_name = file.graph;
    model->model = file.model;
    model->costs.reserve(file.entries.size());
    const size_t nodes_at = text.find("\"nodes\"");
    for (const CostHandler::Entry& entry : file.entries) {
        std::string problem;
        const auto ns = acceptEntry(entry, problem);
        if (ns && !model->costs.emplace(entry.name, *ns).second)
            problem = "the name occurs twice; the first entry counts";
        if (!problem.empty())
            diagnostics.add({Severity::Warning, ns ? "duplicate-cost" : "bad-cost",
                             findKey(path, text, entry.name, nodes_at), entry.name, problem,
                             "the entry is ignored"});
    }
    if (model->costs.empty())
        diagnostics.add({Severity::Warning,
                         "no-costs",
                         {path, 0, 0},
                         std::string(),
                         fmt::format("{} has no usable entry", model->file_name),
                         "check how it was written"});
    return CostModelPtr(std::move(model));
}

CostReader gatherscopeCostReader() {
    return {"gatherscope-costs", "Costs per node of Gatherscope (JSON)",
            [](std::string_view head) {
                // Any other JSON is read too, to say what is wrong with it.
                return head.find("\"gatherscope.costs\"") != std::string_view::npos ? 96 : 10;
            },
            readNamedCosts};
}

} // namespace gs

// The costs of a bundle that came from files when it was made: node by node, with the provenance they had.
// What the model of the device said is not among them: the chain asks that model again.
#include "cost/readers/cost_reader.h"
#include "import/bundle_json.h"
#include "import/json_nodes.h"

#include <algorithm>
#include <fmt/format.h>
#include <unordered_map>

namespace gs {

namespace {

namespace dom = simdjson::dom;

struct BundleEntry {
    std::string key;
    CostEstimate estimate;
};

class BundleCostModel : public CostModel {
public:
    explicit BundleCostModel(std::string file) : file_(std::move(file)) {}

    std::string name() const override { return "file"; }
    std::string source() const override { return file_; }

    std::optional<CostEstimate> estimate(const Graph& graph, const CollectiveTable& collectives,
                                         NodeId id) const override {
        const std::string key = structuralKey(graph, collectives, id);
        if (const auto named = by_name_.find(std::string(graph.name(id))); named != by_name_.end()) {
            for (const size_t index : named->second) {
                const BundleEntry& entry = entries_[index];
                if (entry.key == key) // what no file knew then, none knows now
                    return entry.estimate.provenance == Provenance::Missing ? std::nullopt
                                                                            : std::optional(entry.estimate);
            }
        }
        // A node that this bundle never had: as its equals, if those agree.
        const auto equal = by_key_.find(key);
        if (equal != by_key_.end() && equal->second != kSeveral)
            return entries_[equal->second].estimate;
        return sumOfMembers(graph, id);
    }

    void add(const dom::object& item) {
        const std::string_view word = stringOr(item, "provenance");
        CostEstimate estimate{intOr(item, "ns", -1),
                              Provenance::Missing,
                              std::string(stringOr(item, "note")),
                              intOr(item, "samples", 0),
                              intOr(item, "spread_ns", -1),
                              intOr(item, "rank_skew_ns", -1),
                              std::string(stringOr(item, "source"))};
        for (const Provenance provenance : {Provenance::Measured, Provenance::Reused, Provenance::Imported,
                                            Provenance::Interpolated, Provenance::Extrapolated}) {
            if (provenanceName(provenance) == word)
                estimate.provenance = provenance;
        }
        const std::string key(stringOr(item, "key"));
        const bool from_file = estimate.provenance != Provenance::Missing && estimate.ns >= 0;
        const auto [place, added] = by_key_.try_emplace(key, from_file ? entries_.size() : kSeveral);
        if (!added && !(from_file && sameAs(place->second, estimate)))
            place->second = kSeveral;
        if (!from_file)
            estimate.provenance = Provenance::Missing;
        dom::array nodes;
        if (item["nodes"].get(nodes) == simdjson::SUCCESS) {
            for (const dom::element node : nodes) {
                std::string_view name;
                if (node.get(name) == simdjson::SUCCESS)
                    by_name_[std::string(name)].push_back(entries_.size());
            }
        }
        entries_.push_back({key, std::move(estimate)});
    }

private:
    static constexpr size_t kSeveral = SIZE_MAX;

    bool sameAs(size_t index, const CostEstimate& estimate) const {
        return index != kSeveral && entries_[index].estimate.ns == estimate.ns &&
               entries_[index].estimate.provenance == estimate.provenance;
    }

    /// A launch that a pass made of gathers which this bundle knows.
    std::optional<CostEstimate> sumOfMembers(const Graph& graph, NodeId id) const {
        int64_t sum = 0;
        size_t known = 0;
        if (graph.node(id).kind != NodeKind::Launch)
            return std::nullopt;
        for (const StringId origin : graph.origins(id)) {
            const auto found = by_name_.find(std::string(graph.text(origin)));
            if (found == by_name_.end() ||
                entries_[found->second.front()].estimate.provenance == Provenance::Missing)
                continue;
            sum += std::min(entries_[found->second.front()].estimate.ns, kMaxCostNs);
            ++known;
        }
        if (known == 0)
            return std::nullopt;
        return CostEstimate{sum, Provenance::Interpolated,
                            fmt::format("no entry of its own: sum of {} of the {} nodes it was made from",
                                        known, graph.origins(id).size())};
    }

    std::string file_;
    std::vector<BundleEntry> entries_;
    std::unordered_map<std::string, std::vector<size_t>> by_name_;
    std::unordered_map<std::string, size_t> by_key_;
};

Result<CostModelPtr> read(const std::string& path, Diagnostics& diagnostics, const JobContext&) {
    Result<InputText> input = readInput(path, diagnostics);
    if (!input)
        return input.error();
    dom::parser parser;
    dom::object root, costs;
    if (parser.parse(input->text).get(root) != simdjson::SUCCESS ||
        root["costs"].get(costs) != simdjson::SUCCESS)
        return Error{"bad-bundle",
                     fmt::format("{}: the bundle has no readable costs", path),
                     {path, 1, 0},
                     "export it again"};
    if (const Status status = checkBundleVersion(root, path); !status)
        return status.error();
    auto model = std::make_shared<BundleCostModel>(path);
    for (const char* program : {"after", "before"}) {
        dom::array items;
        if (costs[program].get(items) != simdjson::SUCCESS)
            continue;
        for (const dom::element item : items) {
            dom::object object;
            if (item.get(object) == simdjson::SUCCESS)
                model->add(object);
        }
    }
    readDiagnostics(root, "cost_diagnostics", diagnostics);
    static constexpr std::array<std::string_view, 2> kParts{"costs", "cost_diagnostics"};
    checkBundleParts(root, kParts, path, diagnostics);
    return CostModelPtr(std::move(model));
}

} // namespace

CostReader bundleCostReader() {
    return {"gatherscope-bundle", "Gatherscope bundle",
            [](std::string_view head) { return looksLikeBundle(head) ? 100 : 0; }, read};
}

} // namespace gs

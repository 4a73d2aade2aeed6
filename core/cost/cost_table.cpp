#include "cost/cost_table.h"

#include "cost/cost_model.h"
#include "cost/operands.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <unordered_map>

namespace gs {

namespace {

/// Mixes words into 64 bits (the finisher of splitmix64 after each).
class StructureHash {
public:
    void mix(uint64_t word) {
        state_ += 0x9e3779b97f4a7c15ULL + word;
        state_ = (state_ ^ (state_ >> 30)) * 0xbf58476d1ce4e5b9ULL;
        state_ = (state_ ^ (state_ >> 27)) * 0x94d049bb133111ebULL;
        state_ ^= state_ >> 31;
    }
    uint64_t value() const { return state_; }

private:
    uint64_t state_ = 0;
};

void mixArgument(StructureHash& hash, const Graph& graph, const Arg& arg) {
    hash.mix(static_cast<uint64_t>(arg.kind) << 32 | arg.count);
    switch (arg.kind) {
    case Arg::Kind::None:
    case Arg::Kind::Device:
        break;
    case Arg::Kind::Node:
        hash.mix(graph.node(arg.node()).value);
        break;
    case Arg::Kind::Int:
    case Arg::Kind::Bool:
    case Arg::Kind::Symbol:
    case Arg::Kind::Float: {
        uint64_t bits = 0;
        std::memcpy(&bits, &arg.integer, sizeof bits);
        hash.mix(bits);
        break;
    }
    case Arg::Kind::List:
    case Arg::Kind::Dict:
    case Arg::Kind::Slice:
        for (const Arg& child : graph.children(arg))
            mixArgument(hash, graph, child);
        break;
    default:
        hash.mix(arg.text);
    }
}

/// What decides a node's key, and a little more: nodes of one class have one key.
uint64_t classHash(const Graph& graph, NodeId id) {
    const Node& node = graph.node(id);
    StructureHash hash;
    hash.mix(uint64_t{node.target} << 32 | node.value);
    hash.mix(uint64_t{node.traits} << 8 | static_cast<uint64_t>(node.op));
    hash.mix(static_cast<uint64_t>(node.flops));
    for (NodeId input : graph.inputs(id)) {
        hash.mix(graph.node(input).value);
        // A wait without a shape is read as what it waits for.
        if (graph.node(input).kind == NodeKind::Wait)
            hash.mix(reinterpret_cast<uintptr_t>(&readValue(graph, input)));
    }
    mixArgument(hash, graph, node.args);
    mixArgument(hash, graph, node.kwargs);
    return hash.value();
}

constexpr int32_t kBySetting = -2;

struct Price {
    int64_t ns = 0;
    Provenance provenance = Provenance::Missing;
    int32_t source = -1; ///< index of the model; -1 = edited, kBySetting
    std::string note;
    int64_t samples = 0;
    int64_t spread_ns = -1;
    int64_t rank_skew_ns = -1;
    std::string source_name = {}; ///< CostEstimate::source
};

} // namespace

/// Builds a table: classes of equal nodes, their keys, a price per node, entries per (key, price).
class CostTableBuilder {
public:
    CostTableBuilder(const Graph& graph, const CollectiveTable& collectives, const CostChain& chain)
        : graph_(graph), collectives_(collectives), chain_(chain), table_(std::make_shared<CostTable>()) {
        for (const CostModelPtr& model : chain.models)
            addModels(models_, model);
        asked_in_turn_ = models_.size();
        for (const CostModelPtr& model : chain.others)
            addModels(models_, model);
        addModels(analytical_, chain.analytical);
        table_->ns_.assign(graph.size(), 0);
        table_->entry_of_.assign(graph.size(), -1);
    }

    CostTablePtr build() {
        findNodeOverrides();
        for (NodeId id = 0; id < graph_.size(); ++id) {
            if (isStructuralZero(graph_.node(id).kind) && (!node_overrides_.count(id) || isInFlight(id)))
                continue;
            const uint32_t of = classOf(id);
            addToEntry(id, of, scaled(id, priceOf(id, of)));
        }
        for (size_t i = 0; i < collectives_.size() && collectives_.inFlightCount() > 0; ++i) {
            if (collectives_[i].inFlightAtEntry())
                priceInFlight(i);
        }
        return std::move(table_);
    }

private:
    /// Nodes with the same structure. Two classes may share a key, e.g. if only symbols' names differ.
    struct NodeClass {
        uint32_t key = 0;
        std::vector<std::optional<Price>> asked; ///< answers of structural models, by model
        std::vector<bool> known;                 ///< … that are filled in
    };

    void addModels(std::vector<CostModelPtr>& models, const CostModelPtr& model) const {
        if (!model)
            return;
        std::vector<CostModelPtr> bound = model->boundTo(model, graph_, collectives_);
        if (bound.empty())
            bound.push_back(model);
        models.insert(models.end(), bound.begin(), bound.end());
    }

    void findNodeOverrides() {
        for (const auto& [name, ns] : chain_.node_overrides) {
            if (const auto id = graph_.find(name))
                node_overrides_[*id] = ns;
        }
    }

    bool isInFlight(NodeId id) const {
        const int32_t index = collectives_.indexOf(id);
        return index >= 0 && collectives_[static_cast<size_t>(index)].inFlightAtEntry();
    }

    uint32_t classOf(NodeId id) {
        const auto [found, added] =
            class_ids_.try_emplace(classHash(graph_, id), static_cast<uint32_t>(classes_.size()));
        if (!added)
            return found->second;
        std::string text = structuralKey(graph_, collectives_, id);
        if (text.empty()) // an override of a node that costs nothing by itself
            text = std::string(graph_.targetText(id));
        const auto [key, new_key] =
            key_ids_.try_emplace(std::move(text), static_cast<uint32_t>(keys_.size()));
        if (new_key)
            keys_.push_back(&key->first);
        NodeClass& item = classes_.emplace_back();
        item.key = key->second;
        item.asked.resize(models_.size());
        item.known.resize(models_.size());
        return found->second;
    }

    static int64_t cut(int64_t ns) { return std::clamp<int64_t>(ns, 0, kMaxCostNs); }

    static Price priceOf(size_t model, CostEstimate found) {
        return {cut(found.ns), found.provenance, static_cast<int32_t>(model), std::move(found.note),
                found.samples, found.spread_ns,  found.rank_skew_ns,          std::move(found.source)};
    }

    std::optional<Price> ask(size_t model, NodeId id) const {
        const CostModelPtr& source = models_[model];
        if (isStructuralZero(graph_.node(id).kind))
            return std::nullopt;
        auto found = source->estimate(graph_, collectives_, id);
        if (!found || found->ns < 0)
            return std::nullopt;
        return priceOf(model, *std::move(found));
    }

    Price priceOf(NodeId id, uint32_t of) {
        if (const auto found = node_overrides_.find(id); found != node_overrides_.end())
            return {cut(found->second), Provenance::User, -1, "set for this node"};
        NodeClass& item = classes_[of];
        if (!chain_.overrides.empty()) {
            if (const auto found = chain_.overrides.find(*keys_[item.key]); found != chain_.overrides.end())
                return {cut(found->second), Provenance::User, -1, "set for all equal nodes"};
        }
        if (const std::string* pin = pinOf(item)) {
            for (size_t model = 0; model < models_.size(); ++model) {
                if (models_[model]->name() != *pin)
                    continue;
                if (auto price = askOnce(model, id, item)) {
                    price->note += fmt::format("{}pinned to {}", price->note.empty() ? "" : "; ", *pin);
                    return *std::move(price);
                }
            }
        }
        for (size_t model = 0; model < asked_in_turn_; ++model) {
            if (auto price = askOnce(model, id, item))
                return *std::move(price);
        }
        return {};
    }

    /// Name of the source that a key is pinned to, or null.
    const std::string* pinOf(const NodeClass& item) const {
        if (chain_.pins.empty())
            return nullptr;
        const auto found = chain_.pins.find(*keys_[item.key]);
        return found == chain_.pins.end() ? nullptr : &found->second;
    }

    /// Equal nodes need one question to a structural model.
    std::optional<Price> askOnce(size_t model, NodeId id, NodeClass& item) const {
        if (!models_[model]->structural())
            return ask(model, id);
        if (!item.known[model]) {
            item.asked[model] = ask(model, id);
            item.known[model] = true;
        }
        return item.asked[model];
    }

    /// No stream runs the input itself, so its ns() stays 0; the times stand in in_flight_.
    void priceInFlight(size_t index) {
        const Collective& item = collectives_[index];
        const uint32_t of = classOf(item.input);
        const Price price = scaled(item.input, inFlightPrice(item, of));
        addToEntry(item.input, of, price);
        table_->ns_[item.input] = 0;
        table_->in_flight_.resize(collectives_.size());
        InFlightTime& time = table_->in_flight_[index];
        time.duration_ns = price.ns;
        const int64_t elapsed = chain_.in_flight_elapsed.namedNs(graph_, item);
        time.elapsed_ns = cut(elapsed >= 0 ? elapsed : chain_.in_flight_elapsed.all_ns);
    }

    Price inFlightPrice(const Collective& item, uint32_t of) const {
        if (const int64_t ns = chain_.in_flight.namedNs(graph_, item); ns >= 0)
            return {cut(ns), Provenance::User, kBySetting, {}};
        std::vector<NodeId> nodes = item.waits;
        nodes.push_back(item.input);
        for (const NodeId id : nodes) {
            if (const auto found = node_overrides_.find(id); found != node_overrides_.end())
                return {cut(found->second), Provenance::User, -1, "set for this node"};
        }
        if (const auto found = chain_.overrides.find(*keys_[classes_[of].key]);
            found != chain_.overrides.end())
            return {cut(found->second), Provenance::User, -1, "set for all equal nodes"};
        if (chain_.in_flight.all_ns >= 0)
            return {cut(chain_.in_flight.all_ns), Provenance::User, kBySetting, {}};
        for (size_t model = 0; model < asked_in_turn_; ++model) {
            for (const NodeId id : nodes) {
                auto found = models_[model]->estimate(graph_, collectives_, id);
                if (found && found->ns >= 0)
                    return priceOf(model, *std::move(found));
            }
        }
        return {};
    }

    Price scaled(NodeId id, Price price) const {
        if (chain_.comm_scale == 1 || (graph_.node(id).kind != NodeKind::Launch && !isInFlight(id)) ||
            price.provenance == Provenance::Missing)
            return price;
        price.note += fmt::format("{}{} ns × {} (comm_scale)", price.note.empty() ? "" : "; ", price.ns,
                                  chain_.comm_scale);
        price.ns = cut(std::llround(static_cast<double>(price.ns) * chain_.comm_scale));
        return price;
    }

    void addToEntry(NodeId id, uint32_t of, Price price) {
        StructureHash hash;
        hash.mix(classes_[of].key);
        hash.mix(static_cast<uint64_t>(price.ns));
        hash.mix(static_cast<uint64_t>(price.provenance) << 32 | static_cast<uint32_t>(price.source));
        hash.mix(std::hash<std::string>{}(price.source_name));
        const auto [found, added] =
            entry_ids_.try_emplace(hash.value(), static_cast<int32_t>(table_->entries_.size()));
        if (added)
            table_->entries_.push_back(makeEntry(id, of, price));
        table_->ns_[id] = price.ns;
        table_->entry_of_[id] = found->second;
        table_->entries_[static_cast<size_t>(found->second)].nodes.push_back(id);
    }

    CostEntry makeEntry(NodeId id, uint32_t of, Price& price) {
        CostEntry entry;
        entry.key = *keys_[classes_[of].key];
        const int32_t index = collectives_.indexOf(id);
        const bool launch = index >= 0 && (graph_.node(id).kind == NodeKind::Launch ||
                                           collectives_[static_cast<size_t>(index)].input == id);
        entry.kind = launch ? collectiveKindName(collectives_[static_cast<size_t>(index)].kind)
                            : std::string_view("compute");
        entry.label = costLabel(graph_, collectives_, id);
        entry.ns = price.ns;
        entry.provenance = price.provenance;
        entry.samples = price.samples;
        entry.spread_ns = price.spread_ns;
        entry.rank_skew_ns = price.rank_skew_ns;
        if (price.provenance == Provenance::User)
            entry.source = price.source == kBySetting ? "in_flight_ns" : "edited by hand";
        else if (price.source >= 0)
            entry.source = price.source_name.empty() ? models_[static_cast<size_t>(price.source)]->source()
                                                     : std::move(price.source_name);
        entry.note = std::move(price.note);
        for (size_t model = 0; model < analytical_.size() && entry.analytical_ns < 0; ++model) {
            if (isStructuralZero(graph_.node(id).kind))
                break;
            const auto found = analytical_[model]->estimate(graph_, collectives_, id);
            if (found && found->ns >= 0)
                entry.analytical_ns = cut(found->ns);
        }
        return entry;
    }

    const Graph& graph_;
    const CollectiveTable& collectives_;
    const CostChain& chain_;
    std::shared_ptr<CostTable> table_;
    std::vector<CostModelPtr> models_; ///< bound to the graph; first those that are asked in turn
    size_t asked_in_turn_ = 0;
    std::vector<CostModelPtr> analytical_;
    std::unordered_map<NodeId, int64_t> node_overrides_;
    std::unordered_map<uint64_t, uint32_t> class_ids_;
    std::vector<NodeClass> classes_;
    std::unordered_map<std::string, uint32_t> key_ids_;
    std::vector<const std::string*> keys_; ///< keys of key_ids_, whose nodes do not move
    std::unordered_map<uint64_t, int32_t> entry_ids_;
};

std::string_view provenanceName(Provenance provenance) {
    static constexpr std::array<std::string_view, 9> kNames = {"structural",   "user",       "measured",
                                                               "reused",       "imported",   "interpolated",
                                                               "extrapolated", "analytical", "missing"};
    return kNames[static_cast<size_t>(provenance)];
}

size_t CostTable::count(Provenance provenance) const {
    return static_cast<size_t>(std::count_if(entries_.begin(), entries_.end(), [&](const CostEntry& entry) {
        return entry.provenance == provenance;
    }));
}

CostTablePtr priceGraph(const Graph& graph, const CollectiveTable& collectives, const CostChain& chain) {
    return CostTableBuilder(graph, collectives, chain).build();
}

} // namespace gs

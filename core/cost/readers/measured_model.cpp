#include "cost/readers/measured_model.h"

#include "base/units.h"
#include "cost/readers/collective_names.h"
#include "cost/readers/node_places.h"
#include "cost/readers/op_signature.h"

#include <array>
#include <fmt/format.h>
#include <set>

namespace gs {

namespace {

/// Names under which a trace may show a graph's operator; the first is its own.
std::vector<std::string> tracedNames(const std::string& packet) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kAliases = {{
        {"prims.convert_element_type", "aten._to_copy"},
        {"prims.convert_element_type", "aten.to"},
        {"aten._to_copy", "aten.to"},
        {"aten.clone", "aten.contiguous"},
        {"aten.convolution", "aten.cudnn_convolution"},
        {"aten._scaled_dot_product_flash_attention", "aten.scaled_dot_product_attention"},
        {"aten._scaled_dot_product_efficient_attention", "aten.scaled_dot_product_attention"},
    }};
    std::vector<std::string> names{packet};
    for (const auto& [graph, trace] : kAliases) {
        if (graph == packet)
            names.emplace_back(trace);
    }
    if (packet.back() == '_')
        names.push_back(packet.substr(0, packet.size() - 1));
    else
        names.push_back(packet + "_"); // in place: the same work
    return names;
}

NodePlaces::Calls orderedCalls(const MeasuredCosts& costs) {
    NodePlaces::Calls calls;
    for (const auto& [packet, times] : costs.ordered_ops)
        calls[packet] = times.size();
    for (const auto& [kind, times] : costs.ordered_collectives)
        calls[std::string(collectiveKindName(kind))] = times.size();
    return calls;
}

struct Match {
    const MeasuredTime* time = nullptr;
    const std::string* key = nullptr; ///< in one of the maps
};

class MeasuredModel : public CostModel {
public:
    explicit MeasuredModel(MeasuredCosts costs) : costs_(std::move(costs)), places_(orderedCalls(costs_)) {}

    const MeasuredCosts& costs() const { return costs_; }
    std::string name() const override { return "file"; }
    std::string source() const override { return costs_.file_name; }
    bool structural() const override {
        return costs_.ordered_ops.empty() && costs_.ordered_collectives.empty() && costs_.named.empty();
    }

    std::optional<CostEstimate> estimate(const Graph& graph, const CollectiveTable& collectives,
                                         NodeId id) const override {
        if (!costs_.named.empty()) {
            if (const auto found = costs_.named.find(std::string(graph.name(id)));
                found != costs_.named.end())
                return estimateOf(found->second);
        }
        if (graph.node(id).kind != NodeKind::Launch) {
            if (const Match match = findOp(graph, id); match.time)
                return estimateOf(*match.time);
            const auto found = costs_.ordered_ops.find(opPacket(graph.targetText(id)));
            if (found == costs_.ordered_ops.end())
                return std::nullopt;
            return ordered(found->second, placeOf(graph, id));
        }
        const int32_t index = collectives.indexOf(id);
        if (index < 0)
            return std::nullopt;
        const Collective& item = collectives[static_cast<size_t>(index)];
        if (const MeasuredCollective* exact = findCollective(graph, item))
            return estimateOf(exact->time);
        if (auto between = onCurve(graph, item))
            return between;
        const auto found = costs_.ordered_collectives.find(plainKind(item.kind));
        if (found == costs_.ordered_collectives.end())
            return std::nullopt;
        return ordered(found->second, placeOf(graph, id));
    }

    void check(const Graph& graph, Diagnostics& diagnostics) const override;

private:
    CostEstimate estimateOf(const MeasuredTime& time) const {
        CostEstimate out{time.ns, costs_.provenance, time.note};
        out.samples = time.samples;
        out.spread_ns = time.spread_ns;
        out.rank_skew_ns = time.rank_skew_ns;
        return out;
    }

    static Match lookUp(const TimesByKey& times, const std::string& key) {
        const auto found = times.find(key);
        return found == times.end() ? Match{} : Match{&found->second, &found->first};
    }

    Match findOp(const Graph& graph, NodeId id) const {
        if (costs_.typed.empty() && costs_.untyped.empty())
            return {};
        const Signature items = nodeSignature(graph, id);
        const std::string typed = signatureText(items, true);
        const std::string untyped = signatureText(items, false);
        for (const std::string& name : tracedNames(opPacket(graph.targetText(id)))) {
            if (const Match match = lookUp(costs_.typed, measuredKey(name, typed)); match.time)
                return match;
            if (const Match match = lookUp(costs_.untyped, measuredKey(name, untyped)); match.time)
                return match;
            if (const Match match = lookUp(costs_.with_out, measuredKey(name, typed)); match.time)
                return match;
        }
        return {};
    }

    /// Points that belong to the group of a collective: those with its name and size, else those of its size,
    /// else those that state no size.
    std::vector<const MeasuredCollective*> pointsFor(const Graph& graph, const Collective& item) const {
        const CollectiveKind kind = plainKind(item.kind);
        const std::string_view group =
            item.group == kNoGroup ? std::string_view() : graph.text(graph.groups()[item.group].name);
        std::array<std::vector<const MeasuredCollective*>, 3> found;
        for (const MeasuredCollective& point : costs_.collectives) {
            if (point.kind != kind)
                continue;
            const bool size = point.group_size > 0 && point.group_size == item.group_size;
            const bool named = !point.group.empty() && !group.empty();
            if (size && named && point.group == group)
                found[0].push_back(&point);
            if (costs_.strict_groups && named)
                continue;
            if (size)
                found[1].push_back(&point);
            else if (point.group_size == 0)
                found[2].push_back(&point);
        }
        for (auto& points : found) {
            if (!points.empty())
                return std::move(points);
        }
        return {};
    }

    static bool sameSize(const MeasuredCollective& point, const Collective& item) {
        const bool in = point.input_bytes < 0 || point.input_bytes == item.input_bytes;
        const bool out = point.output_bytes < 0 || point.output_bytes == item.output_bytes;
        return in && out;
    }

    const MeasuredCollective* findCollective(const Graph& graph, const Collective& item) const {
        const auto points = pointsFor(graph, item);
        const MeasuredCollective* other_type = nullptr;
        for (const MeasuredCollective* point : points) {
            if (!sameSize(*point, item))
                continue;
            if (point->dtype == DType::Unknown || point->dtype == item.dtype)
                return point;
            other_type = point; // bytes decide, not what they mean
        }
        return other_type;
    }

    std::optional<CostEstimate> onCurve(const Graph& graph, const Collective& item) const {
        std::map<int64_t, int64_t> by_bytes;
        const auto points = pointsFor(graph, item);
        const bool by_input = item.input_bytes > 0;
        const int64_t bytes = by_input ? item.input_bytes : item.output_bytes;
        for (const MeasuredCollective* point : points) {
            const int64_t size = by_input ? point->input_bytes : point->output_bytes;
            if (size > 0)
                by_bytes[size] = std::max(by_bytes[size], point->time.ns);
        }
        if (by_bytes.empty() || bytes <= 0)
            return std::nullopt;
        const CurveTime time = timeOnCurve({by_bytes.begin(), by_bytes.end()}, bytes);
        if (time.factor > costs_.reach)
            return std::nullopt;
        const int64_t least = by_bytes.begin()->first;
        const int64_t most = by_bytes.rbegin()->first;
        const std::string range = fmt::format("{} to {} {}", formatBytes(least), formatBytes(most),
                                              by_input ? "sent per rank" : "received");
        CostEstimate out;
        out.ns = time.ns;
        out.provenance = time.factor > 1 || (time.below && costs_.reach <= 2) ? Provenance::Extrapolated
                                                                              : Provenance::Interpolated;
        if (time.factor > 1)
            out.note = fmt::format("{:.2g} times the largest of the sizes there ({})", time.factor, range);
        else if (time.below)
            out.note = fmt::format("below the smallest of the sizes there ({}): its time", range);
        else
            out.note = fmt::format("between the sizes there ({}), straight in log-log", range);
        return out;
    }

    /// The n-th time of `place.count` in each step.
    std::optional<CostEstimate> ordered(const std::vector<int64_t>& times,
                                        const NodePlaces::Place& place) const {
        const size_t per_step = place.count;
        if (per_step == 0 || place.steps == 0 || times.size() != per_step * place.steps ||
            (costs_.one_step && place.steps != 1))
            return std::nullopt;
        std::vector<int64_t> samples;
        for (size_t i = place.index; i < times.size(); i += per_step)
            samples.push_back(times[i]);
        CostEstimate out = estimateOf(summarizeSamples(std::move(samples)));
        out.note =
            fmt::format("the file states no sizes; call {} of {} in order{}", place.index + 1, per_step,
                        out.samples > 1 ? fmt::format(", median of {} steps", out.samples) : "");
        return out;
    }

    NodePlaces::Place placeOf(const Graph& graph, NodeId id) const { return places_.of(graph, id); }

    struct Tally {
        size_t nodes = 0;
        size_t priced = 0;
        std::map<std::string, size_t> lacking; ///< packet → nodes without a time
    };
    void report(const Graph& graph, const Tally& ops, const Tally& collectives,
                Diagnostics& diagnostics) const;
    void reportUnused(const std::set<const std::string*>& used, const Tally& ops,
                      Diagnostics& diagnostics) const;
    void reportOrder(const Tally& collectives, Diagnostics& diagnostics) const;

    MeasuredCosts costs_;
    NodePlaces places_;
};

/// "aten.mm (12), aten.add (3), …", most frequent first.
std::string examplesOf(const std::map<std::string, size_t>& counts) {
    std::vector<std::pair<size_t, std::string>> items;
    for (const auto& [name, count] : counts)
        items.emplace_back(count, name);
    std::sort(items.begin(), items.end(), [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    std::string text;
    for (size_t i = 0; i < std::min<size_t>(5, items.size()); ++i)
        text += fmt::format("{}{} ({})", i > 0 ? ", " : "", items[i].second,
                            formatCount(static_cast<int64_t>(items[i].first)));
    return items.size() > 5 ? text + ", …" : text;
}

void MeasuredModel::check(const Graph& graph, Diagnostics& diagnostics) const {
    const CollectiveTable table(graph);
    Tally ops;
    Tally collectives;
    std::set<const std::string*> used;
    for (NodeId id = 0; id < graph.size(); ++id) {
        if (isStructuralZero(graph.node(id).kind))
            continue;
        const bool launch = graph.node(id).kind == NodeKind::Launch;
        Tally& tally = launch ? collectives : ops;
        ++tally.nodes;
        const Match match = launch ? Match{} : findOp(graph, id);
        if (match.key)
            used.insert(match.key);
        const bool priced = match.time || estimate(graph, table, id).has_value();
        tally.priced += priced ? 1 : 0;
        if (!priced)
            ++tally.lacking[launch && table.indexOf(id) >= 0
                                ? std::string(
                                      collectiveKindName(table[static_cast<size_t>(table.indexOf(id))].kind))
                                : opPacket(graph.targetText(id))];
    }
    report(graph, ops, collectives, diagnostics);
    reportUnused(used, ops, diagnostics);
    reportOrder(collectives, diagnostics);
}

void MeasuredModel::report(const Graph& graph, const Tally& ops, const Tally& collectives,
                           Diagnostics& diagnostics) const {
    const size_t nodes = ops.nodes + collectives.nodes;
    const size_t priced = ops.priced + collectives.priced;
    const SourcePos where{costs_.path, 0, 0};
    const auto count = [](size_t value) { return formatCount(static_cast<int64_t>(value)); };
    if (nodes > 0 && priced == 0) {
        diagnostics.add(
            {Severity::Error,
             "costs-of-another-graph",
             where,
             {},
             fmt::format("the {} {} has no time for any of the {} operators and collectives of the "
                         "graph \"{}\"",
                         costs_.what, costs_.file_name, count(nodes), graph.info().name),
             "check that graph and costs belong to one model; " + costs_.hint});
        return;
    }
    diagnostics.add({Severity::Info,
                     "matched-costs",
                     where,
                     {},
                     fmt::format("{} has a time for {} of {} compute nodes and {} of {} collectives",
                                 costs_.file_name, count(ops.priced), count(ops.nodes),
                                 count(collectives.priced), count(collectives.nodes)),
                     {}});
    if (priced < nodes) {
        std::map<std::string, size_t> lacking = ops.lacking;
        lacking.insert(collectives.lacking.begin(), collectives.lacking.end());
        diagnostics.add({Severity::Warning,
                         "nodes-without-cost",
                         where,
                         {},
                         fmt::format("{} nodes of the graph have no time in {}: {}", count(nodes - priced),
                                     costs_.file_name, examplesOf(lacking)),
                         costs_.hint});
    }
}

void MeasuredModel::reportUnused(const std::set<const std::string*>& used, const Tally& ops,
                                 Diagnostics& diagnostics) const {
    size_t known = 0;
    std::map<std::string, size_t> unused;
    for (const TimesByKey* times : {&costs_.typed, &costs_.untyped}) {
        for (const auto& [key, time] : *times) {
            if (!time.innermost)
                continue;
            ++known;
            if (used.count(&key) == 0)
                unused[key.substr(0, key.find('('))] += static_cast<size_t>(time.samples);
        }
    }
    size_t count = 0;
    for (const auto& [name, calls] : unused)
        count += calls;
    if (unused.empty() || ops.nodes == 0)
        return;
    diagnostics.add(
        {Severity::Info,
         "unmatched-ops",
         {costs_.path, 0, 0},
         {},
         fmt::format("{} calls in {} match no node of the graph ({} distinct operators and sizes are "
                     "known): {}",
                     formatCount(static_cast<int64_t>(count)), costs_.file_name,
                     formatCount(static_cast<int64_t>(known)), examplesOf(unused)),
         "operators that a matched operator calls, other sizes, and work outside the graph (optimizer, "
         "data) count here too"});
}

void MeasuredModel::reportOrder(const Tally& collectives, Diagnostics& diagnostics) const {
    if (costs_.ordered_collectives.empty() || collectives.priced == collectives.nodes)
        return;
    std::string kinds;
    for (const auto& [kind, times] : costs_.ordered_collectives)
        kinds += fmt::format("{}{} {}", kinds.empty() ? "" : ", ", times.size(), collectiveKindName(kind));
    diagnostics.add(
        {Severity::Warning,
         "collectives-without-sizes",
         {costs_.path, 0, 0},
         {},
         fmt::format("{} states no sizes for {}; their number does not fit the graph's, so they "
                     "cannot be matched by order",
                     costs_.file_name, kinds),
         "record whole steps with a newer PyTorch (2.2 on writes sizes and groups of collectives)"});
}

} // namespace

CostModelPtr makeMeasuredModel(MeasuredCosts costs) {
    return std::make_shared<MeasuredModel>(std::move(costs));
}

const MeasuredCosts* measuredCostsOf(const CostModel& model) {
    const auto* measured = dynamic_cast<const MeasuredModel*>(&model);
    return measured ? &measured->costs() : nullptr;
}

} // namespace gs

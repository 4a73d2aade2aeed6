// Graphs node by node: what differs without harm, and the first node that differs.
#include "base/hash.h"
#include "base/units.h"
#include "explain/rank_parts.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace gs::ranks {

namespace {

/// Distinct graphs that are compared with the first one.
constexpr size_t kMaxGraphClasses = 8;

struct Counts {
    size_t names = 0, devices = 0, symbols = 0, shapes = 0, pads = 0, splits = 0, groups = 0, arguments = 0,
           inputs = 0;
    std::map<std::string, size_t> extra_a, extra_b; ///< by target: nodes on one side only
};

std::vector<uint64_t> nodeKeys(const Graph& graph) {
    std::vector<uint64_t> of_target(graph.targetCount());
    for (TargetId id = 0; id < graph.targetCount(); ++id)
        of_target[id] = Hash64().text(graph.text(graph.targetById(id).text)).value();
    std::vector<uint64_t> keys(graph.size());
    for (NodeId id = 0; id < graph.size(); ++id) {
        const auto op = static_cast<uint64_t>(graph.node(id).op);
        keys[id] = graph.isCall(id) ? of_target[graph.node(id).target] : op + 1;
    }
    return keys;
}

struct ValueDifference {
    bool shape = false, symbols = false, device = false;
};

void compareTensors(const Graph& a, const TensorMeta& x, const Graph& b, const TensorMeta& y,
                    ValueDifference& out) {
    out.device = out.device || a.text(x.device) != b.text(y.device);
    if (x.dtype != y.dtype || x.shape.size() != y.shape.size()) {
        out.shape = true;
        return;
    }
    for (size_t i = 0; i < x.shape.size(); ++i) {
        out.shape = out.shape || x.shape[i].value != y.shape[i].value;
        out.symbols = out.symbols || a.text(x.shape[i].symbol) != b.text(y.shape[i].symbol);
    }
}

void compareValues(const Graph& a, const Value& x, const Graph& b, const Value& y, ValueDifference& out) {
    if (x.kind == Value::Kind::Tensor && y.kind == Value::Kind::Tensor)
        compareTensors(a, x.tensor, b, y.tensor, out);
    else if (x.kind == Value::Kind::Symbol && y.kind == Value::Kind::Symbol)
        out.symbols = out.symbols || a.text(x.text) != b.text(y.text);
    else
        out.shape = out.shape || x.kind != y.kind;
    if (x.items.size() != y.items.size())
        out.shape = true;
    else
        for (size_t i = 0; i < x.items.size(); ++i)
            compareValues(a, x.items[i], b, y.items[i], out);
}

class GraphPair {
public:
    GraphPair(const Graph& a, const Graph& b, Counts& counts)
        : a_(a), b_(b), counts_(counts), partner_(a.size(), kNoNode) {}

    /// Nodes of the first difference; the text says what differs. Empty if there is none.
    std::string run(NodeId& first_a, NodeId& first_b) {
        const std::vector<uint64_t> x = nodeKeys(a_), y = nodeKeys(b_);
        std::string what;
        for (const auto& [i, j] : alignHashes(x, y)) {
            const NodeId in_a = i < 0 ? kNoNode : static_cast<NodeId>(i);
            const NodeId in_b = j < 0 ? kNoNode : static_cast<NodeId>(j);
            const std::string found = comparePair(in_a, in_b);
            if (!what.empty() || found.empty())
                continue;
            what = found;
            first_a = in_a;
            first_b = in_b;
        }
        return what;
    }

private:
    std::string comparePair(NodeId x, NodeId y) {
        if (x == kNoNode || y == kNoNode || !sameTarget(x, y)) {
            if (x != kNoNode)
                ++counts_.extra_a[std::string(a_.targetText(x))];
            if (y != kNoNode)
                ++counts_.extra_b[std::string(b_.targetText(y))];
            return x == kNoNode || y == kNoNode ? "only on one side" : "target";
        }
        partner_[x] = y;
        counts_.names += a_.name(x) != b_.name(y) ? 1 : 0;
        std::string what;
        if (!sameInputs(x, y)) {
            ++counts_.inputs;
            what = "inputs";
        }
        ValueDifference value;
        compareValues(a_, a_.value(x), b_, b_.value(y), value);
        counts_.devices += value.device ? 1 : 0;
        counts_.symbols += value.symbols ? 1 : 0;
        counts_.shapes += value.shape ? 1 : 0;
        if (value.shape)
            what = what.empty() ? "shape" : what;
        if (!sameArg(x, y, a_.node(x).args, b_.node(y).args) ||
            !sameArg(x, y, a_.node(x).kwargs, b_.node(y).kwargs)) {
            countArgument(x);
            what = what.empty() ? "an argument" : what;
        }
        return what;
    }

    bool sameTarget(NodeId x, NodeId y) const {
        return a_.node(x).op == b_.node(y).op && (!a_.isCall(x) || a_.targetText(x) == b_.targetText(y));
    }

    bool sameInputs(NodeId x, NodeId y) const {
        const auto in_a = a_.inputs(x), in_b = b_.inputs(y);
        return std::equal(in_a.begin(), in_a.end(), in_b.begin(), in_b.end(),
                          [&](NodeId i, NodeId j) { return partner_[i] == j; });
    }

    void countArgument(NodeId x) {
        const std::string_view target = a_.targetText(x);
        const CollectiveKind kind = a_.target(x).traits.collective;
        if (group_differs_)
            ++counts_.groups;
        else if (target == "aten.constant_pad_nd.default")
            ++counts_.pads;
        else if (kind == CollectiveKind::AllToAll)
            ++counts_.splits;
        else
            ++counts_.arguments;
        group_differs_ = false;
    }

    bool sameArg(NodeId x, NodeId y, const Arg& p, const Arg& q, bool top = true) {
        if (p.kind != q.kind || p.count != q.count)
            return p.isInt() && q.isInt() && p.integer == q.integer; // a symbol here, its number there
        switch (p.kind) {
        case Arg::Kind::Node: // by inputs
        case Arg::Kind::None:
        case Arg::Kind::Device:
            return true;
        case Arg::Kind::Int:
        case Arg::Kind::Bool:
        case Arg::Kind::Symbol:
        case Arg::Kind::Float:
            return p.integer == q.integer;
        case Arg::Kind::List:
        case Arg::Kind::Dict:
        case Arg::Kind::Slice: {
            const auto in_a = a_.children(p);
            const auto in_b = b_.children(q);
            for (size_t i = 0; i < in_a.size(); ++i) {
                if (!sameArg(x, y, in_a[i], in_b[i], false)) {
                    const auto group = a_.target(x).traits.group_arg;
                    group_differs_ = top && group >= 0 && static_cast<size_t>(group) == i;
                    return false;
                }
            }
            return true;
        }
        default:
            return a_.text(p.text) == b_.text(q.text);
        }
    }

    const Graph& a_;
    const Graph& b_;
    Counts& counts_;
    std::vector<NodeId> partner_; ///< node of b per node of a
    bool group_differs_ = false;
};

std::string listTargets(const std::map<std::string, size_t>& extra) {
    std::string text;
    size_t shown = 0;
    for (const auto& [target, count] : extra) {
        if (shown++ == 3)
            return text + ", …";
        text += fmt::format("{}{} × {}", text.empty() ? "" : ", ", formatCount(static_cast<int64_t>(count)),
                            target);
    }
    return text;
}

size_t total(const std::map<std::string, size_t>& extra) {
    size_t sum = 0;
    for (const auto& [target, count] : extra)
        sum += count;
    return sum;
}

void report(RankComparison& out, const Counts& counts, const std::string& a, const std::string& b) {
    // `one` or `more` goes on after the count.
    const auto add = [&](const char* code, size_t count, const char* noun, const char* one,
                         const char* more) {
        if (count > 0)
            out.harmless.push_back(
                {code, count,
                 fmt::format("{} and {}: {} {}", a, b, counted(count, noun), count == 1 ? one : more)});
    };
    add("node-names", counts.names, "node", "has another name", "have other names");
    add("devices", counts.devices, "value", "is on another device index", "are on another device index");
    add("symbol-names", counts.symbols, "value", "has symbols of other names", "have symbols of other names");
    add("group-names", counts.groups, "collective", "names a group of its own", "name a group of their own");
    add("pad-widths", counts.pads, "pad", "has another width (uneven shards)",
        "have other widths (uneven shards)");
    add("split-lists", counts.splits, "all_to_all split list", "differs", "differ");
    add("local-shapes", counts.shapes, "value", "has another local shape", "have other local shapes");
    add("arguments", counts.arguments, "other scalar argument", "differs", "differ");
    add("wiring", counts.inputs, "node", "has other inputs", "have other inputs");
    for (const auto& [side, extra] : {std::pair(&a, &counts.extra_a), std::pair(&b, &counts.extra_b)}) {
        if (const size_t count = total(*extra); count > 0)
            out.harmless.push_back(
                {"extra-nodes", count,
                 fmt::format("only {}: {} ({})", *side, counted(count, "node"), listTargets(*extra))});
    }
}

} // namespace

void compareNodes(RankComparison& comparison) {
    const int32_t base = comparison.classes.front().ranks.front();
    const auto& graphs = comparison.ranks[static_cast<size_t>(base)].program.graphs;
    std::set<int32_t> seen{comparison.ranks[static_cast<size_t>(base)].graph_class};
    size_t compared = 0;
    for (size_t r = 0; r < comparison.ranks.size() && compared < kMaxGraphClasses; ++r) {
        const ComparedRank& other = comparison.ranks[r];
        // Names and devices do not enter the hash: ranks with equal hashes are looked at for them, too.
        if (static_cast<int32_t>(r) == base || (!seen.insert(other.graph_class).second &&
                                                (comparison.mode != RankMode::Identical || compared > 0)))
            continue;
        ++compared;
        Counts counts;
        const auto rank = static_cast<int32_t>(r);
        for (uint32_t g = 0; g < std::min(graphs.size(), other.program.graphs.size()); ++g) {
            NodeId a = kNoNode, b = kNoNode;
            const std::string what =
                GraphPair(*graphs[g].graph, *other.program.graphs[g].graph, counts).run(a, b);
            if (what.empty() || !comparison.first_what.empty())
                continue;
            comparison.first_what = what;
            comparison.first_a = sideOfNode(comparison, base, g, a);
            comparison.first_b = sideOfNode(comparison, rank, g, b);
        }
        report(comparison, counts, rankLabel(comparison, base), rankLabel(comparison, rank));
    }
}

} // namespace gs::ranks

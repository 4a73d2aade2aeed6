#include "cost/readers/log_model.h"

#include "base/units.h"

#include <cmath>
#include <fmt/format.h>
#include <mutex>

namespace gs {

namespace {

class LogModel : public CostModel {
public:
    explicit LogModel(LogCosts costs) : costs_(std::move(costs)) {}

    std::string name() const override { return "file"; }
    std::string source() const override { return costs_.file_name; }

    std::optional<CostEstimate> estimate(const Graph& graph, const CollectiveTable& collectives,
                                         NodeId id) const override {
        const bool launch = graph.node(id).kind == NodeKind::Launch;
        const std::string label =
            (launch ? "collective|" : "compute|") + estlineField(costLabel(graph, collectives, id));
        auto found = costs_.rows.find(label);
        if (found == costs_.rows.end() || found->second.size() > 1) {
            const std::string key = estlineField(structuralKey(graph, collectives, id));
            if (const auto own = costs_.rows.find(fmt::format("{} {{{}}}", label, key));
                own != costs_.rows.end())
                found = own;
        }
        if (found != costs_.rows.end())
            return fromRows(found->second, graph, collectives, id);
        if (const auto line = costs_.launches.find(std::string(graph.name(id)));
            line != costs_.launches.end())
            return CostEstimate{line->second, Provenance::Imported, "comm of its placement line, to 0.1 µs"};
        return std::nullopt;
    }

    void check(const Graph& graph, Diagnostics& diagnostics) const override {
        const CollectiveTable collectives(graph);
        size_t nodes = 0;
        size_t priced = 0;
        for (NodeId id = 0; id < graph.size(); ++id) {
            if (isStructuralZero(graph.node(id).kind))
                continue;
            ++nodes;
            priced += estimate(graph, collectives, id) ? 1 : 0;
        }
        const auto count = [](size_t value) { return formatCount(static_cast<int64_t>(value)); };
        const SourcePos where{costs_.path, 0, 0};
        if (nodes > 0 && priced == 0)
            diagnostics.add(
                {Severity::Error,
                 "costs-of-another-graph",
                 where,
                 {},
                 fmt::format("no row of {} is about an operator or collective of the graph \"{}\"",
                             costs_.file_name, graph.info().name),
                 "choose the log of this graph"});
        else if (priced < nodes)
            diagnostics.add({Severity::Warning,
                             "nodes-without-cost",
                             where,
                             {},
                             fmt::format("{} of {} nodes of the graph have no row in {}",
                                         count(nodes - priced), count(nodes), costs_.file_name),
                             "the analytical model can fill these: cost_sources=file,analytical"});
    }

private:
    CostEstimate fromRows(const std::vector<LogRow>& rows, const Graph& graph,
                          const CollectiveTable& collectives, NodeId id) const {
        if (rows.size() == 1)
            return fromRow(rows.front());
        const int64_t calls = equalNodes(graph, collectives, id);
        const LogRow* same = nullptr;
        bool several = false;
        double sum = 0;
        int64_t all = 0;
        for (const LogRow& row : rows) {
            several = several || (row.calls == calls && same);
            same = row.calls == calls ? &row : same;
            sum += static_cast<double>(row.ns) * static_cast<double>(row.calls);
            all += row.calls;
        }
        if (same && !several)
            return fromRow(*same);
        CostEstimate out;
        out.ns = all > 0 ? std::llround(sum / static_cast<double>(all)) : rows.front().ns;
        out.provenance = Provenance::Interpolated;
        out.note = fmt::format("mean of {} rows with this label", rows.size());
        return out;
    }

    static CostEstimate fromRow(const LogRow& row) {
        return {row.ns, Provenance::Imported, fmt::format("{} there", row.word)};
    }

    /// Nodes of the graph with this node's key. Rarely asked, so it may take a pass over the graph.
    int64_t equalNodes(const Graph& graph, const CollectiveTable& collectives, NodeId id) const {
        const std::lock_guard lock(mutex_);
        if (graph_ != &graph || hash_ != graph.structuralHash()) {
            keys_.clear();
            for (NodeId other = 0; other < graph.size(); ++other) {
                if (!isStructuralZero(graph.node(other).kind))
                    ++keys_[structuralKey(graph, collectives, other)];
            }
            graph_ = &graph;
            hash_ = graph.structuralHash();
        }
        const auto found = keys_.find(structuralKey(graph, collectives, id));
        return found == keys_.end() ? 0 : found->second;
    }

    LogCosts costs_;
    mutable std::mutex mutex_;
    mutable const Graph* graph_ = nullptr;
    mutable uint64_t hash_ = 0;
    mutable std::unordered_map<std::string, int64_t> keys_;
};

} // namespace

std::string estlineField(std::string_view text) {
    std::string out(text);
    for (char& c : out) {
        if (c == '|' || static_cast<unsigned char>(c) < 0x20)
            c = '/';
    }
    return out;
}

CostModelPtr makeLogModel(LogCosts costs) {
    return std::make_shared<LogModel>(std::move(costs));
}

} // namespace gs

#include "passes/collective_lint.h"

#include "base/units.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace gs {

namespace {

class Linter {
public:
    Linter(const Graph& graph, const CollectiveTable& collectives, Diagnostics& out)
        : graph_(graph), collectives_(collectives), out_(out), seen_(graph.size(), 0) {}

    void run() {
        for (const Collective& item : collectives_.all()) {
            item.inFlightAtEntry() ? checkInFlight(item) : checkLaunch(item);
            checkWaits(item);
        }
        for (NodeId id = 0; id < graph_.size(); ++id) {
            if (graph_.node(id).kind == NodeKind::Wait && collectives_.indexOf(id) < 0)
                reportWaitForNothing(id);
        }
    }

private:
    /// "\"name\"", with its source line where the graph knows it: "\"mm\" (model.py:8 x = y @ w)".
    std::string quoted(NodeId id) const {
        const std::string_view source = graph_.text(graph_.node(id).source);
        return source.empty() ? fmt::format("\"{}\"", graph_.name(id))
                              : fmt::format("\"{}\" ({})", graph_.name(id), source);
    }

    void add(Severity severity, const char* code, NodeId id, std::string message, std::string hint) {
        const uint32_t line = graph_.node(id).source_line;
        out_.add({severity, code, line > 0 ? SourcePos{graph_.info().source_file, line, 0} : SourcePos(),
                  std::string(graph_.name(id)), std::move(message), std::move(hint)});
    }

    /// First node that reads the memory of `root`, other than through a wait: directly or through views and
    /// unpacks. Only nodes before `until` count, or all for kNoNode. kNoNode if there is none.
    NodeId firstReader(NodeId root, NodeId until) {
        NodeId first = kNoNode;
        ++stamp_;
        stack_ = {root};
        while (!stack_.empty()) {
            const NodeId id = stack_.back();
            stack_.pop_back();
            for (const NodeId user : graph_.users(id)) {
                if (seen_[user] == stamp_ || user >= until)
                    continue;
                seen_[user] = stamp_;
                const NodeKind kind = graph_.node(user).kind;
                if (kind == NodeKind::View || kind == NodeKind::Unpack)
                    stack_.push_back(user);
                else if (kind != NodeKind::Wait && kind != NodeKind::Free && kind != NodeKind::Barrier)
                    first = std::min(first, user);
            }
        }
        return first;
    }

    void checkInFlight(const Collective& item) {
        const NodeId wait = item.waits.front();
        const Value& value = graph_.value(item.input);
        const std::string bytes =
            value.firstTensor() ? fmt::format(" ({})", formatBytes(item.output_bytes)) : std::string();
        add(Severity::Info, "in-flight-at-entry", item.input,
            fmt::format("\"{}\"{} is in flight when the graph starts: launched before, waited for by {}",
                        parameterName(graph_, item.input), bytes, quoted(wait)),
            fmt::format(
                "set its duration with in_flight_ns={0}=NS, and in_flight_elapsed_ns={0}=NS if it has "
                "run for some time",
                graph_.name(item.input)));
        const NodeId early = firstReader(item.input, wait);
        if (early != kNoNode)
            add(Severity::Warning, "in-flight-read-early", early,
                fmt::format("{} reads \"{}\" before {} has waited for the collective that writes it",
                            quoted(early), parameterName(graph_, item.input), quoted(wait)),
                "wait before the first use");
    }

    void checkLaunch(const Collective& item) {
        const NodeId wait = item.waits.empty() ? kNoNode : item.waits.front();
        const NodeId reader = firstReader(item.launch, wait);
        if (wait != kNoNode) {
            if (reader != kNoNode)
                add(Severity::Warning, "used-unwaited", item.launch,
                    fmt::format("{} reads the result of {} before {} waits for it: a race", quoted(reader),
                                quoted(item.launch), quoted(wait)),
                    "use the wait's result");
        } else if (reader == kNoNode) {
            add(Severity::Warning, "never-waited", item.launch,
                fmt::format("nothing waits for {} and nothing uses its result: dead communication",
                            quoted(item.launch)),
                "remove the launch, or wait for it");
        } else if (graph_.node(reader).kind == NodeKind::Output) {
            add(Severity::Info, "leaves-in-flight", item.launch,
                fmt::format("the graph returns the result of {} without waiting for it", quoted(item.launch)),
                "whoever gets it must wait for the tensor");
        } else {
            add(Severity::Warning, "used-unwaited", item.launch,
                fmt::format("{} reads the result of {}, which nothing waits for: a race", quoted(reader),
                            quoted(item.launch)),
                "wait for the launch and use the wait's result");
        }
    }

    /// What a wait names, behind views: a launch, an unpack, a graph input, or another wait.
    NodeId waitedFor(NodeId wait) const {
        for (const NodeId input : graph_.inputs(wait)) {
            if (graph_.node(input).kind == NodeKind::Launch)
                return input;
        }
        NodeId at = graph_.inputs(wait).front();
        while (graph_.node(at).kind == NodeKind::View && !graph_.inputs(at).empty())
            at = graph_.inputs(at).front();
        return at;
    }

    void checkWaits(const Collective& item) {
        std::map<NodeId, NodeId> first; // by what is waited for
        for (const NodeId wait : item.waits) {
            const NodeId of = waitedFor(wait);
            if (graph_.node(of).kind == NodeKind::Wait) {
                add(Severity::Warning, "wait-of-wait", wait,
                    fmt::format("{} waits for the result of {}, which is there already", quoted(wait),
                                quoted(of)),
                    "remove it: it does nothing");
                continue;
            }
            const auto [earlier, is_first] = first.try_emplace(of, wait);
            if (!is_first)
                add(Severity::Warning, "waited-twice", wait,
                    fmt::format("{} waits for \"{}\" again, after {}", quoted(wait), graph_.name(of),
                                quoted(earlier->second)),
                    "use the first wait's result; PyTorch's own schedulers fail on graphs with two");
        }
    }

    void reportWaitForNothing(NodeId wait) {
        const auto inputs = graph_.inputs(wait);
        add(Severity::Warning, "wait-without-collective", wait,
            inputs.empty() ? fmt::format("{} names nothing to wait for", quoted(wait))
                           : fmt::format("{} waits for {}, which no collective writes", quoted(wait),
                                         quoted(inputs.front())),
            "remove it: it does nothing");
    }

    const Graph& graph_;
    const CollectiveTable& collectives_;
    Diagnostics& out_;
    std::vector<uint32_t> seen_; ///< stamp of the search that reached a node
    uint32_t stamp_ = 0;
    std::vector<NodeId> stack_;
};

} // namespace

void lintCollectives(const Graph& graph, const CollectiveTable& collectives, Diagnostics& diagnostics) {
    Linter(graph, collectives, diagnostics).run();
}

} // namespace gs

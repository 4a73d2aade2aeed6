#include "base/units.h"
#include "passes/lint/checks.h"

#include <algorithm>
#include <fmt/format.h>

namespace gs {

namespace {

/// What one collective holds: [begin, end) in program order.
struct Held {
    const Collective* item = nullptr;
    int64_t bytes = 0;
    NodeId begin = 0;
    NodeId end = 0;
};

/// A gather holds its result from the launch to its last use; a reduction its input from launch to wait.
std::vector<Held> heldBy(const LintContext& context) {
    std::vector<Held> held;
    for (const Collective& item : context.collectives.all()) {
        if (item.inFlightAtEntry())
            continue;
        const NodeId wait = item.waits.empty() ? item.launch : item.waits.front();
        const bool scatter =
            item.kind == CollectiveKind::ReduceScatter || item.kind == CollectiveKind::ReduceScatterCoalesced;
        if (item.isGather() && item.output_bytes > 0)
            held.push_back({&item, item.output_bytes, item.launch, context.lastUse(item) + 1});
        else if (scatter && item.input_bytes > 0)
            held.push_back({&item, item.input_bytes, item.launch, wait + 1});
    }
    return held;
}

/// Greatest sum over program order and where it is reached first.
struct Peak {
    int64_t value = 0;
    NodeId node = kNoNode;
};

Peak findPeak(std::vector<std::pair<NodeId, int64_t>> changes) {
    std::sort(changes.begin(), changes.end()); // at one node what ends comes first: it is negative
    Peak peak;
    int64_t now = 0;
    for (const auto& [node, change] : changes) {
        now += change;
        if (now > peak.value)
            peak = {now, node};
    }
    return peak;
}

/// Bytes of the setting: a number of MiB, "none", or "auto" = a quarter of the device's memory. -1 = none.
int64_t heldLimit(const LintContext& context) {
    if (const std::optional<double> mib = context.settings.limit(Setting::HeldLimitMib))
        return static_cast<int64_t>(*mib * 1024 * 1024);
    const std::string& text = context.settings.text(Setting::HeldLimitMib);
    return text == "none" || !context.device || context.device->memory_bytes <= 0
               ? -1
               : context.device->memory_bytes / 4;
}

std::string largest(const LintContext& context, std::vector<Held> held, NodeId at) {
    std::erase_if(held, [&](const Held& item) { return at < item.begin || at >= item.end; });
    std::stable_sort(held.begin(), held.end(),
                     [](const Held& a, const Held& b) { return a.bytes > b.bytes; });
    std::string text;
    for (size_t i = 0; i < held.size() && i < 3; ++i)
        text += fmt::format("{}\"{}\" {}", i ? ", " : "", context.graph.name(held[i].item->launch),
                            formatBytes(held[i].bytes));
    return held.size() > 3 ? fmt::format("{} and {} more", text, held.size() - 3) : text;
}

} // namespace

void lintMemory(LintContext& context) {
    const std::vector<Held> held = heldBy(context);
    std::vector<std::pair<NodeId, int64_t>> bytes, flights;
    for (const Held& item : held) {
        bytes.emplace_back(item.begin, item.bytes);
        bytes.emplace_back(item.end, -item.bytes);
        if (item.item->isGather() && !item.item->waits.empty()) {
            flights.emplace_back(item.item->launch, 1);
            flights.emplace_back(item.item->waits.front(), -1);
        }
    }
    const Peak peak = findPeak(std::move(bytes));
    if (peak.node == kNoNode)
        return;
    const Peak flight = findPeak(std::move(flights));
    const int64_t limit = heldLimit(context);
    const bool over = limit >= 0 && peak.value > limit;
    context.report(over ? Severity::Warning : Severity::Info, "memory-held", peak.node,
                   fmt::format("collectives hold up to {} at once, at {}: {}; at most {} {} in flight{}",
                               formatBytes(peak.value), context.quoted(peak.node),
                               largest(context, held, peak.node), flight.value,
                               flight.value == 1 ? "gather is" : "gathers are",
                               over ? fmt::format("; the limit is {}", formatBytes(limit)) : std::string()),
                   over ? "launch later, wait earlier or free sooner; held_limit_mib sets the limit"
                        : "in the order of the file; held_limit_mib sets the limit");
}

} // namespace gs

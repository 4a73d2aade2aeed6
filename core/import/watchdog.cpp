#include "import/watchdog.h"

#include "base/units.h"
#include "import/text_lines.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <tuple>

namespace gs {

namespace {

constexpr std::string_view kSign = "WorkNCCL(SeqNum=";
constexpr size_t kMaxNamed = 5; ///< launches that a sentence names

/// The number after `key` in `text`; -1 if there is none.
int64_t numberAfter(std::string_view text, std::string_view key) {
    const size_t at = text.find(key);
    int64_t number = -1;
    if (at != std::string_view::npos)
        std::from_chars(text.data() + at + key.size(), text.data() + text.size(), number);
    return number;
}

/// The text after `key` up to one of `ends`; empty if there is none.
std::string textAfter(std::string_view text, std::string_view key, std::string_view ends) {
    const size_t at = text.find(key);
    if (at == std::string_view::npos)
        return {};
    const size_t begin = at + key.size();
    return std::string(text.substr(begin, std::min(text.find_first_of(ends, begin), text.size()) - begin));
}

/// Source: c10d/Work.cpp, opTypeToString.
bool fitsKind(std::string_view op, CollectiveKind kind) {
    static constexpr std::pair<std::string_view, CollectiveKind> kKinds[] = {
        {"ALLGATHER_COALESCED", CollectiveKind::AllGatherCoalesced},
        {"ALLGATHER", CollectiveKind::AllGather},
        {"REDUCE_SCATTER", CollectiveKind::ReduceScatter},
        {"REDUCE_SCATTER", CollectiveKind::ReduceScatterCoalesced},
        {"ALLREDUCE", CollectiveKind::AllReduce},
        {"ALLREDUCE", CollectiveKind::AllReduceCoalesced},
        {"ALLTOALL", CollectiveKind::AllToAll},
        {"BROADCAST", CollectiveKind::Broadcast},
        {"COALESCED", CollectiveKind::AllGatherCoalesced},
        {"COALESCED", CollectiveKind::ReduceScatterCoalesced},
        {"COALESCED", CollectiveKind::AllReduceCoalesced}};
    return std::any_of(std::begin(kKinds), std::end(kKinds), [&](const auto& item) {
        return item.second == kind && op.find(item.first) != std::string_view::npos;
    });
}

/// Unknown sizes fit everything.
bool fitsSize(int64_t elements, int64_t bytes, DType dtype) {
    const int64_t each = dtypeBytes(dtype);
    return elements < 0 || bytes < 0 || each <= 0 || elements * each == bytes;
}

} // namespace

bool hasWatchdogTimeouts(std::string_view log) {
    return containsText(log, kSign);
}

std::vector<WatchdogTimeout> watchdogTimeouts(std::string_view log) {
    std::vector<WatchdogTimeout> found;
    std::map<std::tuple<int32_t, std::string, int64_t>, bool> known; // the line comes again when it aborts
    size_t counted = 0;
    uint32_t line = 1;
    for (size_t at = findText(log, kSign); at != std::string_view::npos; at = findText(log, kSign, at + 1)) {
        line += static_cast<uint32_t>(std::count(log.begin() + static_cast<std::ptrdiff_t>(counted),
                                                 log.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
        counted = at;
        const size_t begin = log.rfind('\n', at) + 1;
        const std::string_view head = log.substr(begin, at - begin);
        const std::string_view work = log.substr(at, std::min(log.find('\n', at), log.size()) - at);
        WatchdogTimeout item;
        item.number = numberAfter(work, kSign);
        item.op = textAfter(work, "OpType=", ",)");
        if (item.number <= 0 || item.op.empty())
            continue; // cut
        item.rank = static_cast<int32_t>(std::clamp<int64_t>(numberAfter(head, "[rank"), -1, INT32_MAX));
        if (item.rank < 0) // the rank in its group, which is that of the job for the default group
            item.rank = static_cast<int32_t>(std::clamp<int64_t>(numberAfter(head, "Rank "), -1, INT32_MAX));
        item.group = textAfter(head, "PG GUID ", "( ]");
        item.elements_in = numberAfter(work, "NumelIn=");
        item.elements_out = numberAfter(work, "NumelOut=");
        item.line = line;
        if (known.emplace(std::tuple(item.rank, item.group, item.number), true).second)
            found.push_back(std::move(item));
    }
    return found;
}

WatchdogMatch matchTimeout(const WatchdogTimeout& timeout, const Graph& graph, const CollectiveTable& table) {
    WatchdogMatch match;
    std::map<GroupId, std::vector<NodeId>> of_group;
    std::map<GroupId, size_t> fitting;
    for (const Collective& item : table.all()) {
        if (item.launch == kNoNode)
            continue;
        if (!timeout.group.empty() && item.group != kNoGroup &&
            graph.text(graph.groups()[item.group].name) != timeout.group)
            continue;
        of_group[item.group].push_back(item.launch);
        if (!fitsKind(timeout.op, item.kind) ||
            !fitsSize(timeout.elements_in, item.input_bytes, item.dtype) ||
            !fitsSize(timeout.elements_out, item.output_bytes, item.dtype))
            continue;
        match.launches.push_back(item.launch);
        ++fitting[item.group];
    }
    if (fitting.size() != 1) // of several groups that fit, the number may be of any
        return match;
    const std::vector<NodeId>& launches = of_group[fitting.begin()->first];
    const size_t at = static_cast<size_t>(timeout.number - 1) % launches.size();
    if (std::find(match.launches.begin(), match.launches.end(), launches[at]) == match.launches.end())
        return match;
    match.by_number = launches[at];
    match.place = at + 1;
    match.of = launches.size();
    return match;
}

std::string timeoutText(const WatchdogTimeout& timeout, const Graph& graph, const WatchdogMatch& match) {
    const std::string who = timeout.rank >= 0 ? fmt::format("rank {}", timeout.rank) : std::string("a rank");
    const std::string group =
        timeout.group.empty() ? std::string("its group") : fmt::format("group \"{}\"", timeout.group);
    const std::string size = timeout.elements_in < 0
                                 ? std::string()
                                 : fmt::format(", {} {}", formatCount(timeout.elements_in),
                                               timeout.elements_in == 1 ? "element" : "elements");
    std::string text = fmt::format("{} waited in vain for collective {} of {} ({}{}): ", who,
                                   formatCount(timeout.number), group, timeout.op, size);
    if (match.launches.empty())
        return text +
               "no collective of this graph has that kind and size, it is of another graph or of eager "
               "code";
    if (match.launches.size() == 1)
        return text + fmt::format("it is \"{}\"", graph.name(match.launches.front()));
    std::vector<std::string> names;
    for (size_t i = 0; i < match.launches.size() && i < kMaxNamed; ++i)
        names.push_back(fmt::format("\"{}\"", graph.name(match.launches[i])));
    text += fmt::format("it is one of {} of that kind and size: {}{}", match.launches.size(),
                        fmt::join(names, ", "), match.launches.size() > kMaxNamed ? ", …" : "");
    if (match.by_number != kNoNode)
        text += fmt::format("; if each step issues just the {} collectives of this graph, it is number {}, "
                            "\"{}\"",
                            match.of, match.place, graph.name(match.by_number));
    return text;
}

} // namespace gs

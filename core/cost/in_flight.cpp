#include "cost/in_flight.h"

#include "cost/cost_model.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <optional>

namespace gs {

namespace {

/// A whole number of ns from 0 to kMaxCostNs.
std::optional<int64_t> parseNs(std::string_view text) {
    int64_t ns = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ns);
    if (error != std::errc() || end != text.data() + text.size() || ns < 0 || ns > kMaxCostNs)
        return std::nullopt;
    return ns;
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && text.front() == ' ')
        text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ')
        text.remove_suffix(1);
    return text;
}

bool matches(const Graph& graph, const Collective& collective, std::string_view name) {
    return name == graph.name(collective.input) || name == parameterName(graph, collective.input) ||
           std::any_of(collective.waits.begin(), collective.waits.end(),
                       [&](NodeId wait) { return name == graph.name(wait); });
}

Error badSetting(std::string_view setting, std::string_view part, std::string_view why) {
    return {"bad-setting",
            fmt::format("{}: \"{}\" {}", setting, part, why),
            {},
            fmt::format("{} takes \"none\", one number of ns for all, or \"NAME=ns,NAME=ns\" with names of "
                        "waits or graph inputs",
                        setting)};
}

} // namespace

int64_t InFlightTimes::namedNs(const Graph& graph, const Collective& collective) const {
    if (by_name.empty())
        return -1;
    const auto find = [&](std::string_view name) {
        const auto found = by_name.find(std::string(name));
        return found == by_name.end() ? int64_t{-1} : found->second;
    };
    for (const NodeId wait : collective.waits) {
        if (const int64_t ns = find(graph.name(wait)); ns >= 0)
            return ns;
    }
    const int64_t ns = find(graph.name(collective.input));
    return ns >= 0 ? ns : find(parameterName(graph, collective.input));
}

Result<InFlightTimes> parseInFlightTimes(std::string_view setting, std::string_view text) {
    InFlightTimes times;
    text = trimmed(text);
    if (text == "none" || text.empty())
        return times;
    if (text.find('=') == std::string_view::npos) {
        const auto ns = parseNs(text);
        if (!ns)
            return badSetting(setting, text, "is no whole number of ns from 0 to 28 hours");
        times.all_ns = *ns;
        return times;
    }
    for (size_t at = 0; at <= text.size();) {
        const size_t end = std::min(text.find(',', at), text.size());
        const std::string_view part = trimmed(text.substr(at, end - at));
        at = end + 1;
        const size_t equals = part.rfind('=');
        const std::string_view name = trimmed(part.substr(0, std::min(equals, part.size())));
        if (equals == std::string_view::npos || name.empty())
            return badSetting(setting, part, "is not of the form NAME=ns");
        const auto ns = parseNs(trimmed(part.substr(equals + 1)));
        if (!ns)
            return badSetting(setting, part, "has no whole number of ns from 0 to 28 hours behind the \"=\"");
        if (!times.by_name.emplace(name, *ns).second)
            return badSetting(setting, name, "is there twice");
    }
    return times;
}

void checkInFlightNames(std::string_view setting, const InFlightTimes& times, const Graph& graph,
                        const CollectiveTable& collectives, Diagnostics& diagnostics) {
    if (times.by_name.empty())
        return;
    constexpr size_t kExamples = 5;
    std::string known;
    size_t listed = 0;
    std::vector<const Collective*> in_flight;
    for (const Collective& item : collectives.all()) {
        if (!item.inFlightAtEntry())
            continue;
        in_flight.push_back(&item);
        if (listed++ < kExamples)
            known += (known.empty() ? "" : ", ") + std::string(graph.name(item.input));
    }
    if (listed > kExamples)
        known += ", …";
    for (const auto& [name, ns] : times.by_name) {
        const auto fits = [&, &name = name](const Collective* item) { return matches(graph, *item, name); };
        if (std::any_of(in_flight.begin(), in_flight.end(), fits))
            continue;
        diagnostics.add(
            {Severity::Warning,
             "unknown-in-flight-name",
             {},
             graph.find(name) ? name : std::string(),
             fmt::format("{} names \"{}\", but no collective in flight is waited for there", setting, name),
             known.empty() ? std::string("the graph waits for none of its inputs")
                           : "inputs with a collective in flight: " + known});
    }
}

} // namespace gs

#include "simulate/shared_links.h"

#include <fmt/format.h>

namespace gs {

namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (size_t at = 0; at <= text.size();) {
        const size_t end = std::min(text.find(separator, at), text.size());
        parts.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return parts;
}

} // namespace

std::vector<std::vector<GroupId>> parseSharedLinks(const Graph& graph, std::string_view text,
                                                   Diagnostics& diagnostics) {
    std::vector<std::vector<GroupId>> links;
    if (text == "none" || text.empty())
        return links;
    for (const std::string_view link : split(text, ',')) {
        std::vector<GroupId> groups;
        for (const std::string_view name : split(link, '+')) {
            const GroupId group = graph.findGroup(name);
            if (group == kNoGroup)
                diagnostics.add(
                    {Severity::Warning,
                     "unknown-group",
                     {},
                     {},
                     fmt::format("shared_links names the group \"{}\", which the graph does not have", name),
                     "`gatherscope-cli analyze` lists the graph's groups"});
            else
                groups.push_back(group);
        }
        if (groups.size() > 1)
            links.push_back(std::move(groups));
    }
    return links;
}

} // namespace gs

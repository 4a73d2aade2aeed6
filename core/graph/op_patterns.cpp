#include "graph/op_patterns.h"

#include "base/resources.h"

#include <nlohmann/json.hpp>

namespace gs {

namespace {

/// Wildcard match without recursion: on a mismatch the last star takes one character more.
bool fits(std::string_view pattern, std::string_view text) {
    size_t p = 0, t = 0, star = std::string_view::npos, from = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            from = t;
        } else if (p < pattern.size() && pattern[p] == text[t]) {
            ++p;
            ++t;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            t = ++from;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*')
        ++p;
    return p == pattern.size();
}

OpPatterns listFromResource(const char* name) {
    OpPatterns patterns;
    const auto data = nlohmann::json::parse(resourceText("communicating_ops.json"));
    for (const auto& pattern : data.at(name))
        patterns.add(pattern.get<std::string>());
    return patterns;
}

} // namespace

bool OpPatterns::matches(std::string_view target) const {
    for (auto it = patterns_.rbegin(); it != patterns_.rend(); ++it) {
        const std::string_view pattern = *it;
        const bool out = pattern.starts_with('!');
        if (fits(pattern.substr(out ? 1 : 0), target))
            return !out;
    }
    return false;
}

OpPatterns communicatingOps(std::string_view more) {
    static const OpPatterns kOwn = listFromResource("communicating");
    OpPatterns patterns = kOwn;
    if (more == "none")
        return patterns;
    for (size_t at = 0; at <= more.size();) {
        const size_t end = std::min(more.find(',', at), more.size());
        std::string_view pattern = more.substr(at, end - at);
        while (pattern.starts_with(' '))
            pattern.remove_prefix(1);
        while (pattern.ends_with(' '))
            pattern.remove_suffix(1);
        if (!pattern.empty())
            patterns.add(std::string(pattern));
        at = end + 1;
    }
    return patterns;
}

const OpPatterns& hostSyncOps() {
    static const OpPatterns kSyncs = listFromResource("host_syncs");
    return kSyncs;
}

std::vector<bool> matchTargets(const Graph& graph, const OpPatterns& patterns) {
    std::vector<bool> fit(graph.targetCount(), false);
    for (TargetId id = 0; id < graph.targetCount(); ++id) {
        const Target& target = graph.targetById(id);
        fit[id] = (target.traits.bits & (kTraitCollective | kTraitWait)) == 0 &&
                  patterns.matches(graph.text(target.text));
    }
    return fit;
}

} // namespace gs

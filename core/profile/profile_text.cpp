#include "profile/profile_text.h"

#include "cost/readers/log_model.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>

namespace gs {

std::string profileLog(const Profile& profile) {
    std::vector<const ProfileEntry*> rows;
    std::map<std::string, size_t> labels;
    for (const ProfileEntry& entry : profile.entries) {
        if (entry.provenance == Provenance::Missing)
            continue;
        rows.push_back(&entry);
        ++labels[estlineField(entry.label)];
    }
    std::stable_sort(rows.begin(), rows.end(), [](const ProfileEntry* a, const ProfileEntry* b) {
        return double(a->ns) * double(a->calls) > double(b->ns) * double(b->calls);
    });
    std::string text = fmt::format("INFO FSDP overlap reorder: rank-synchronized profiling done "
                                   "({} cost entries reconciled)\n",
                                   profile.entries.size());
    for (const ProfileEntry* entry : rows) {
        const bool compute = entry->kind == "compute" || entry->kind == "fused";
        std::string label = estlineField(entry->label);
        if (labels[label] > 1) // rows that look alike are told apart by their keys
            label += fmt::format(" {{{}}}", estlineField(entry->key));
        const double us = double(entry->ns) / 1e3;
        text += fmt::format("ESTLINE|{}|{}|{:.3f}|{}|{:.3f}|{}\n", compute ? "compute" : "collective", label,
                            us, entry->calls, us * double(entry->calls),
                            entry->provenance == Provenance::Analytical ? "analytical" : "measured");
    }
    return text;
}

std::string profileJson(const Profile& profile) {
    using Json = nlohmann::ordered_json;
    Json entries = Json::array(), contention = Json::array(), no_contention = Json::array();
    for (const ProfileEntry& entry : profile.entries)
        entries.push_back({{"key", entry.key},
                           {"kind", entry.kind},
                           {"label", entry.label},
                           {"ns", entry.ns},
                           {"samples", entry.samples},
                           {"spread_ns", entry.spread_ns},
                           {"rank_skew_ns", entry.rank_skew_ns},
                           {"calls", entry.calls},
                           {"provenance", provenanceName(entry.provenance)},
                           {"note", entry.note}});
    for (const ContentionPoint& point : profile.contention)
        contention.push_back({{"key", point.key},
                              {"beside", point.beside},
                              {"bytes", point.bytes},
                              {"alone_ns", point.alone_ns},
                              {"together_ns", point.together_ns},
                              {"compute_alone_ns", point.compute_alone_ns},
                              {"compute_together_ns", point.compute_together_ns},
                              {"factor", point.factor()},
                              {"compute_slowdown", point.computeSlowdown()}});
    for (const ContentionPoint& point : profile.no_contention)
        no_contention.push_back(
            {{"key", point.key}, {"beside", point.beside}, {"bytes", point.bytes}, {"reason", point.reason}});
    const Json json = {{"format", "gatherscope.profile"},
                       {"version", 1},
                       {"id", profile.id},
                       {"unix_time_s", profile.unix_time_s},
                       {"device", profile.device},
                       {"driver", profile.driver},
                       {"versions", profile.versions},
                       {"clocks", profile.clocks},
                       {"backend", profile.backend},
                       {"ranks", profile.ranks},
                       {"graph_name", profile.graph_name},
                       {"graph_hash", profile.graph_hash},
                       {"mode", profile.mode},
                       {"entries", entries},
                       {"contention", contention},
                       {"no_contention", no_contention}};
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace gs

#include "profile/known_costs.h"

#include "cost/readers/collective_names.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace gs {

namespace {

/// Profiles of the device that are looked at; a key that none of them has is measured again.
constexpr size_t kMostProfiles = 50;

bool isGood(const ProfileEntry& entry, const Profile& profile, const KnownQuery& query) {
    if (entry.samples < query.samples)
        return false;
    if (entry.provenance == Provenance::Extrapolated)
        return profile.ranks == query.ranks;
    return entry.provenance == Provenance::Measured || entry.provenance == Provenance::Reused;
}

void takeEntries(const Profile& profile, const KnownQuery& query,
                 const std::map<std::string, const WorkItem*>& asked, KnownCosts& known) {
    for (const ProfileEntry& entry : profile.entries) {
        const auto wanted = asked.find(entry.key);
        if (wanted == asked.end() || known.entries.count(entry.key) > 0 || !isGood(entry, profile, query))
            continue;
        ProfileEntry reused = entry;
        reused.calls = std::max(wanted->second->calls, entry.calls);
        if (reused.provenance == Provenance::Measured) {
            reused.provenance = Provenance::Reused;
            reused.note = fmt::format("measured in profile {}{}{}", profile.id,
                                      reused.note.empty() ? "" : "; ", reused.note);
        }
        known.entries.emplace(entry.key, std::move(reused));
        known.newest_id = std::max(known.newest_id, profile.id);
    }
    if (!known.contention.empty())
        return;
    for (const ContentionPoint& point : profile.contention) {
        if (asked.count(point.key) > 0)
            known.contention.push_back(point);
    }
}

bool isCold(const Profile& profile) {
    const auto found = profile.versions.find(kCachesKey);
    return found != profile.versions.end() && found->second == kCachesCold;
}

/// Contention is measured among what a run times: forgets what that takes.
void forgetForContention(const std::vector<WorkItem>& work, KnownCosts& known) {
    const ProfileEntry* compute = nullptr;
    bool gathers = false;
    for (const WorkItem& item : work) {
        const auto found = known.entries.find(item.key);
        if (item.work == WorkKind::Collective) {
            const bool gather = plainKind(item.spec.kind) == CollectiveKind::AllGather &&
                                item.spec.ranks.size() > 1 && item.cannot.empty() && !item.latency_probe;
            gathers = gathers || gather;
            if (gather && found != known.entries.end())
                known.entries.erase(found);
        } else if (found != known.entries.end()) {
            const ProfileEntry& entry = found->second;
            if (!compute || entry.ns * entry.calls > compute->ns * compute->calls)
                compute = &entry;
        }
    }
    if (gathers && compute)
        known.entries.erase(std::string(compute->key));
}

} // namespace

Result<KnownCosts> findKnownCosts(const ProfileStore& store, const KnownQuery& query,
                                  const std::vector<WorkItem>& work) {
    std::map<std::string, const WorkItem*> asked;
    for (const WorkItem& item : work)
        asked[item.key] = &item;
    const auto summaries = store.list();
    if (!summaries)
        return summaries.error();
    KnownCosts known;
    bool one = true;
    size_t looked = 0;
    for (const ProfileSummary& summary : summaries.value()) {
        if (summary.device != query.device || summary.backend != query.backend || ++looked > kMostProfiles)
            continue;
        const auto profile = store.read(summary.id);
        if (!profile)
            return profile.error();
        if (isCold(profile.value()) != query.cache_cold)
            continue;
        const size_t before = known.entries.size();
        takeEntries(profile.value(), query, asked, known);
        one = one && (before == 0 || known.entries.size() == before);
    }
    if (query.contention && known.contention.empty())
        forgetForContention(work, known);
    known.one_profile = one && !known.entries.empty();
    return known;
}

Profile withKnownCosts(Profile measured, const KnownCosts& known) {
    std::set<std::string> have;
    for (const ProfileEntry& entry : measured.entries)
        have.insert(entry.key);
    for (const auto& [key, entry] : known.entries) {
        if (have.count(key) == 0)
            measured.entries.push_back(entry);
    }
    std::sort(measured.entries.begin(), measured.entries.end(),
              [](const ProfileEntry& a, const ProfileEntry& b) { return a.key < b.key; });
    if (measured.contention.empty())
        measured.contention = known.contention;
    return measured;
}

} // namespace gs

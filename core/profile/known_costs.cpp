#include "profile/known_costs.h"

#include "profile/contention_choice.h"

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

/// What the profiles answer while they are looked at.
struct Answers {
    std::map<std::string, ProfileEntry> entries;
    std::set<std::string> failed;              ///< keys that a profile could not measure
    std::map<std::string, int64_t> profile_of; ///< id by key of an entry
};

/// Returns the keys of the profile's entries that are good enough.
std::set<std::string> takeEntries(const Profile& profile, const KnownQuery& query,
                                  const std::map<std::string, const WorkItem*>& asked, Answers& answers) {
    std::set<std::string> good;
    for (const ProfileEntry& entry : profile.entries) {
        const auto wanted = asked.find(entry.key);
        if (wanted == asked.end())
            continue;
        if (!isGood(entry, profile, query)) {
            if (entry.provenance == Provenance::Analytical || entry.provenance == Provenance::Missing)
                answers.failed.insert(entry.key);
            continue;
        }
        good.insert(entry.key);
        if (answers.entries.count(entry.key) > 0)
            continue;
        ProfileEntry reused = entry;
        reused.calls = std::max(wanted->second->calls, entry.calls);
        if (reused.provenance == Provenance::Measured) {
            reused.provenance = Provenance::Reused;
            reused.note = fmt::format("measured in profile {}{}{}", profile.id,
                                      reused.note.empty() ? "" : "; ", reused.note);
        }
        answers.entries.emplace(entry.key, std::move(reused));
        answers.profile_of.emplace(entry.key, profile.id);
    }
    return good;
}

bool isCold(const Profile& profile) {
    const auto found = profile.versions.find(kCachesKey);
    return found != profile.versions.end() && found->second == kCachesCold;
}

/// The known compute that a gather would run beside; null if none is known.
const ProfileEntry* heaviestCompute(const std::vector<WorkItem>& work, const Answers& answers) {
    const ProfileEntry* compute = nullptr;
    for (const WorkItem& item : work) {
        const auto found = answers.entries.find(item.key);
        if (item.communicates || found == answers.entries.end())
            continue;
        const ProfileEntry& entry = found->second;
        if (!compute || entry.ns * entry.calls > compute->ns * compute->calls)
            compute = &entry;
    }
    return compute;
}

/// Contention is measured among what a run times: forgets what that takes. A gather that failed alone before
/// is tried again, but nothing is timed anew for it.
void forgetForContention(const std::vector<WorkItem>& work, const KnownContention& contention,
                         Answers& answers) {
    const ProfileEntry* compute = heaviestCompute(work, answers);
    bool missing = false;
    for (const WorkItem& item : work) {
        if (!item.contend || contention.knows(item.key))
            continue;
        const bool known = answers.entries.erase(item.key) > 0;
        missing = missing || known || answers.failed.count(item.key) == 0;
    }
    if (missing && compute)
        answers.entries.erase(std::string(compute->key));
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
    Answers answers;
    KnownContention contention(asked, query.ranks);
    size_t looked = 0;
    for (const ProfileSummary& summary : summaries.value()) {
        if (summary.device != query.device || summary.backend != query.backend || ++looked > kMostProfiles)
            continue;
        const auto profile = store.read(summary.id);
        if (!profile)
            return profile.error();
        if (isCold(profile.value()) == query.cache_cold)
            contention.take(profile.value(), takeEntries(profile.value(), query, asked, answers));
    }
    contention.finish(heaviestCompute(work, answers) != nullptr);
    if (query.contention)
        forgetForContention(work, contention, answers);
    std::set<int64_t> profiles = query.contention ? contention.profiles() : std::set<int64_t>();
    for (const auto& [key, entry] : answers.entries)
        profiles.insert(answers.profile_of[key]);
    KnownCosts known{std::move(answers.entries), contention.points(), contention.gaps(), 0, false};
    known.newest_id = profiles.empty() ? 0 : *profiles.rbegin();
    known.one_profile = profiles.size() == 1 && !known.entries.empty();
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
    std::set<std::string> points, gaps;
    for (const ContentionPoint& point : measured.contention)
        points.insert(point.key);
    for (const ContentionPoint& point : known.contention) {
        if (points.insert(point.key).second)
            measured.contention.push_back(point);
    }
    const auto told = [&](const ContentionPoint& gap) {
        return points.count(gap.key) > 0 || !gaps.insert(gap.key).second;
    };
    std::erase_if(measured.no_contention, told);
    for (const ContentionPoint& gap : known.no_contention) {
        if (!told(gap))
            measured.no_contention.push_back(gap);
    }
    sortContention(measured.contention);
    sortContention(measured.no_contention);
    return measured;
}

} // namespace gs

#include "cost/cost_sources.h"

#include "cost/analytical_model.h"
#include "cost/cost_file.h"
#include "cost/device_presets.h"
#include "cost/interpolated_model.h"
#include "cost/profile_compare.h"
#include "cost/profile_model.h"
#include "cost/profile_store.h"
#include "cost/readers/measured_model.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <mutex>
#include <set>

namespace gs {

namespace {

/// A file that was read. Models never change, so what-ifs that ask for it again share it.
struct ReadFile {
    std::string path;
    std::filesystem::file_time_type time;
    uintmax_t size = 0;
    CostModelPtr model;
    Diagnostics diagnostics;
};

Result<CostModelPtr> readOnce(const std::string& path, Diagnostics& diagnostics, const JobContext& job) {
    constexpr size_t kMostFiles = 16;
    static std::mutex mutex;
    static std::vector<ReadFile> files; // last used last
    std::error_code error;
    ReadFile file{path,
                  std::filesystem::last_write_time(path, error),
                  std::filesystem::file_size(path, error),
                  nullptr,
                  {}};
    {
        const std::lock_guard lock(mutex);
        const auto found = std::find_if(files.begin(), files.end(), [&](const ReadFile& other) {
            return other.path == path && other.time == file.time && other.size == file.size;
        });
        if (found != files.end()) {
            std::rotate(found, found + 1, files.end());
            diagnostics.append(files.back().diagnostics);
            return files.back().model;
        }
    }
    Result<CostModelPtr> model = loadCostFile(path, file.diagnostics, job);
    diagnostics.append(file.diagnostics);
    if (!model)
        return model;
    file.model = model.value();
    const std::lock_guard lock(mutex);
    std::erase_if(files, [&](const ReadFile& other) { return other.path == path; });
    if (files.size() == kMostFiles)
        files.erase(files.begin());
    files.push_back(std::move(file));
    return model;
}

/// Models of the files in order. Traces of distinct ranks are merged where the first of them stands.
Result<std::vector<CostModelPtr>> readAll(const std::vector<std::string>& paths, Diagnostics& diagnostics,
                                          const JobContext& job) {
    std::vector<CostModelPtr> models;
    std::vector<const MeasuredCosts*> ranks;
    std::set<int32_t> seen;
    std::optional<size_t> first;
    std::vector<CostModelPtr> kept; // keeps what `ranks` points to
    for (const std::string& path : paths) {
        Result<CostModelPtr> model = readOnce(path, diagnostics, job);
        if (!model)
            return model.error();
        const MeasuredCosts* costs = measuredCostsOf(*model.value());
        if (costs && costs->rank >= 0 && seen.insert(costs->rank).second) {
            ranks.push_back(costs);
            kept.push_back(model.value());
            if (first)
                continue;
            first = models.size();
        }
        models.push_back(std::move(model).value());
    }
    if (ranks.size() > 1)
        models[*first] = makeMeasuredModel(mergeRanks(ranks));
    return models;
}

/// Models of one source; null pointers do not occur.
using Sources = std::map<std::string_view, std::vector<CostModelPtr>>;

void reportProfile(const Profile& profile, const Settings& settings, const DevicePreset& preset,
                   Diagnostics& diagnostics) {
    diagnostics.add(
        {Severity::Info,
         "profile",
         {settings.text(Setting::ProfileStore), 0, 0},
         {},
         fmt::format("measured costs are those of profile {}: {}, {} entries; the model's are for {}",
                     profile.id, profile.device, profile.entries.size(), preset.name),
         ""});
    if (profile.contention.empty())
        return;
    const MeasuredContention measured = overallContention(profile);
    const bool used = settings.flag(Setting::MeasuredContention);
    diagnostics.add({Severity::Info,
                     "measured-contention",
                     {settings.text(Setting::ProfileStore), 0, 0},
                     {},
                     fmt::format("measured beside compute: transfers take ×{:.3g}, compute ×{:.3g}",
                                 measured.factor, measured.compute_slowdown),
                     used ? "" : "measured_contention=true reckons with it"});
}

std::vector<std::string> splitNames(const std::string& text) {
    std::vector<std::string> names;
    for (size_t at = 0; at <= text.size();) {
        const size_t end = std::min(text.find(',', at), text.size());
        names.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return names;
}

Status addInFlight(const Settings& settings, CostChain& chain) {
    for (const auto& [setting, times] : {std::pair(Setting::InFlightNs, &chain.in_flight),
                                         std::pair(Setting::InFlightElapsedNs, &chain.in_flight_elapsed)}) {
        Result<InFlightTimes> parsed = parseInFlightTimes(settingSpec(setting).name, settings.text(setting));
        if (!parsed)
            return parsed.error();
        *times = std::move(parsed).value();
    }
    return Unit{};
}

Error unknownSource(std::string_view what, const std::string& name) {
    return {"bad-setting",
            fmt::format("{} names \"{}\"; known are measured, file, interpolated, analytical", what, name),
            {},
            "`gatherscope-cli list cost-sources` names them all"};
}

/// Sets the chain's order, and keeps the other sources for pins.
Status order(const std::string& setting, const std::string& names, const Sources& sources, CostChain& chain,
             Diagnostics& diagnostics) {
    std::set<std::string> used;
    for (const std::string& name : splitNames(names)) {
        if (!findCostSource(name))
            return unknownSource("cost_sources", name);
        const auto found = sources.find(name);
        if (found == sources.end() && setting != "auto" && name == "measured")
            diagnostics.add({Severity::Warning,
                             "no-profile-store",
                             {},
                             {},
                             "cost_sources names measured, but no profile store is chosen",
                             "profile_store=FILE chooses one"});
        if (found != sources.end() && used.insert(name).second)
            chain.models.insert(chain.models.end(), found->second.begin(), found->second.end());
    }
    for (const auto& [name, models] : sources) {
        if (used.count(std::string(name)) == 0)
            chain.others.insert(chain.others.end(), models.begin(), models.end());
    }
    return Unit{};
}

} // namespace

const std::vector<CostSourceInfo>& costSources() {
    static const std::vector<CostSourceInfo> kSources = {
        {"measured", "the profile of profile_store that the setting profile chooses: same device, same key"},
        {"file", "the cost files given with --costs, in order: traces, exports, logs, tables"},
        {"interpolated",
         "between sizes of the same op that the two above know, up to 2× the largest of them"},
        {"analytical", "roofline and NCCL model of the device preset"},
    };
    return kSources;
}

const CostSourceInfo* findCostSource(std::string_view name) {
    const auto& all = costSources();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const CostSourceInfo& info) { return info.name == name; });
    return found == all.end() ? nullptr : &*found;
}

Result<ProfilePtr> chosenProfile(const Settings& settings) {
    const std::string& path = settings.text(Setting::ProfileStore);
    if (path.empty() || path == "none")
        return ProfilePtr();
    const Result<ProfileStore> store = ProfileStore::openReadOnly(path);
    if (!store)
        return store.error();
    Result<Profile> profile = store->find(settings.text(Setting::ProfileChoice));
    if (!profile)
        return profile.error();
    return ProfilePtr(std::make_shared<Profile>(std::move(profile).value()));
}

Result<CostChain> makeCostChain(const std::vector<std::string>& files, const Settings& settings,
                                Diagnostics& diagnostics, const JobContext& job, const CostPins& pins) {
    CostChain chain;
    const DevicePreset* device = findDevicePreset(settings.text(Setting::Device));
    if (!device)
        return Error{"unknown-device",
                     fmt::format("there is no device preset \"{}\"", settings.text(Setting::Device)),
                     {},
                     "`gatherscope-cli list devices` names them all"};
    chain.analytical = makeAnalyticalModel(*device, settings.flag(Setting::FusedRegions));
    chain.comm_scale = settings.number(Setting::CommScale);
    if (const Status status = addInFlight(settings, chain); !status)
        return status.error();
    const Result<ProfilePtr> profile = chosenProfile(settings);
    if (!profile)
        return profile.error();
    chain.profile = profile.value();
    Sources sources{{"analytical", {chain.analytical}}};
    if (chain.profile) {
        sources["measured"] = {makeProfileModel(chain.profile)};
        reportProfile(*chain.profile, settings, *device, diagnostics);
    }
    std::string names = settings.text(Setting::CostSources);
    if (names == "auto")
        names = chain.profile   ? "measured,file,interpolated,analytical"
                : files.empty() ? "analytical"
                                : "file";
    const auto named = [&](std::string_view source) {
        const auto pinned = [&](const auto& pin) { return pin.second == source; };
        return names.find(source) != std::string::npos || std::any_of(pins.begin(), pins.end(), pinned);
    };
    std::vector<CostModelPtr> models;
    if (named("file") || named("interpolated")) {
        auto read = readAll(files, diagnostics, job);
        if (!read)
            return read.error();
        models = std::move(read).value();
    }
    if (!models.empty())
        sources["file"] = models;
    if (chain.profile || !models.empty())
        sources["interpolated"] = {makeInterpolatedModel(chain.profile, std::move(models))};
    chain.pins = pins;
    for (const auto& [key, source] : pins) {
        if (!findCostSource(source))
            return unknownSource("a pin", source);
    }
    if (const Status status = order(settings.text(Setting::CostSources), names, sources, chain, diagnostics);
        !status)
        return status.error();
    return chain;
}

} // namespace gs

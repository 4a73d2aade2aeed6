#include "cost/cost_sources.h"

#include "cost/analytical_model.h"
#include "cost/cost_file.h"
#include "cost/device_presets.h"
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

} // namespace

const std::vector<CostSourceInfo>& costSources() {
    static const std::vector<CostSourceInfo> kSources = {
        {"file", "the cost files given with --costs, in order: traces, exports, logs, tables"},
        {"analytical", "roofline and NCCL model of the device preset"},
    };
    return kSources;
}

Result<CostChain> makeCostChain(const std::vector<std::string>& files, const Settings& settings,
                                Diagnostics& diagnostics, const JobContext& job) {
    CostChain chain;
    const DevicePreset* device = findDevicePreset(settings.text(Setting::Device));
    if (!device)
        return Error{"unknown-device",
                     fmt::format("there is no device preset \"{}\"", settings.text(Setting::Device)),
                     {},
                     "`gatherscope-cli list devices` names them all"};
    chain.analytical = makeAnalyticalModel(*device);
    Result<InFlightTimes> durations =
        parseInFlightTimes(settingSpec(Setting::InFlightNs).name, settings.text(Setting::InFlightNs));
    if (!durations)
        return durations.error();
    Result<InFlightTimes> elapsed = parseInFlightTimes(settingSpec(Setting::InFlightElapsedNs).name,
                                                       settings.text(Setting::InFlightElapsedNs));
    if (!elapsed)
        return elapsed.error();
    chain.in_flight = std::move(durations).value();
    chain.in_flight_elapsed = std::move(elapsed).value();
    chain.comm_scale = settings.number(Setting::CommScale);
    std::string sources = settings.text(Setting::CostSources);
    if (sources == "auto")
        sources = files.empty() ? "analytical" : "file";
    for (size_t at = 0; at <= sources.size();) {
        const size_t end = std::min(sources.find(',', at), sources.size());
        const std::string source = sources.substr(at, end - at);
        at = end + 1;
        if (source == "analytical") {
            chain.models.push_back(chain.analytical);
        } else if (source == "file") {
            auto models = readAll(files, diagnostics, job);
            if (!models)
                return models.error();
            for (CostModelPtr& model : models.value())
                chain.models.push_back(std::move(model));
        } else {
            return Error{"bad-setting",
                         fmt::format("cost_sources names \"{}\"; known are file, analytical", source),
                         {},
                         "`gatherscope-cli list cost-sources` names them all"};
        }
    }
    return chain;
}

} // namespace gs

#include "cost/cost_sources.h"

#include "cost/analytical_model.h"
#include "cost/cost_file.h"
#include "cost/device_presets.h"

#include <fmt/format.h>

namespace gs {

const std::vector<CostSourceInfo>& costSources() {
    static const std::vector<CostSourceInfo> kSources = {
        {"file", "the cost files given with --costs, in order"},
        {"analytical", "roofline and NCCL model of the device preset"},
    };
    return kSources;
}

Result<CostChain> makeCostChain(const std::vector<std::string>& files, const Settings& settings,
                                Diagnostics& diagnostics) {
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
            for (const std::string& file : files) {
                Result<CostModelPtr> model = loadCostFile(file, diagnostics);
                if (!model)
                    return model.error();
                chain.models.push_back(std::move(model).value());
            }
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

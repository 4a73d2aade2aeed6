#include "analysis/price_stage.h"

#include "analysis/analysis_notes.h"
#include "cost/cost_sources.h"
#include "cost/profile_compare.h"

#include <algorithm>
#include <fmt/format.h>

namespace gs {

Result<PricedPrograms> pricePrograms(const AnalysisRequest& request, const Program& before,
                                     const Program& after, const JobContext& job) {
    PricedPrograms made;
    Result<CostChain> chain =
        makeCostChain(request.cost_files, request.settings, made.diagnostics, job, request.cost_pins);
    if (!chain)
        return chain.error();
    chain->overrides = request.cost_overrides;
    for (const CostModelPtr& model : chain->models)
        model->check(*after.graph, made.diagnostics);
    made.of_sources = made.diagnostics;
    for (const auto& [setting, times] : {std::pair(Setting::InFlightNs, &chain->in_flight),
                                         std::pair(Setting::InFlightElapsedNs, &chain->in_flight_elapsed)})
        checkInFlightNames(settingSpec(setting).name, *times, *after.graph, *after.collectives,
                           made.diagnostics);
    made.before = made.after = priceGraph(*before.graph, *before.collectives, chain.value());
    if (after.graph != before.graph)
        made.after = priceGraph(*after.graph, *after.collectives, chain.value());
    reportUnknownKeys(request, *made.before, *made.after, made.diagnostics);
    made.chain = std::move(chain).value();
    return made;
}

bool takeMeasuredContention(const Profile& profile, Settings& settings, Diagnostics& diagnostics) {
    if (!settings.flag(Setting::MeasuredContention) || profile.contention.empty())
        return false;
    const MeasuredContention measured = overallContention(profile);
    if (measured.factor < 1 || measured.compute_slowdown < 1)
        diagnostics.add(
            {Severity::Warning,
             "contention-below-one",
             {},
             {},
             fmt::format(
                 "by profile {}, work takes ×{:.3f} (transfers) and ×{:.3f} (compute) the time side by "
                 "side: a factor below 1 is noise and is taken as 1",
                 profile.id, measured.factor, measured.compute_slowdown),
             "other programs ran, or clocks changed, while it was measured: measure again on a quiet "
             "machine"});
    for (const auto& [setting, value] : {std::pair(Setting::Contention, measured.factor),
                                         std::pair(Setting::ComputeSlowdown, measured.compute_slowdown)}) {
        const double most = settingSpec(setting).maximum;
        if (value > most)
            diagnostics.add(
                {Severity::Warning,
                 "contention-above-most",
                 {},
                 {},
                 fmt::format("by profile {}, {} is {:.4g}: {:g}, the most that can be set, is taken",
                             profile.id, settingSpec(setting).name, value, most),
                 "measure again on a quiet machine"});
        static_cast<void>(settings.set(setting, fmt::format("{:.3f}", std::clamp(value, 1.0, most))));
    }
    return true;
}

} // namespace gs

#include "app/worker/measure_plan.h"

#include "cost/analytical_model.h"
#include "cost/device_presets.h"

#include <QFileInfo>

namespace gs {

namespace {

std::vector<WorkItem> workOf(const Analysis& analysis, const WorkerRequest& worker) {
    const DevicePreset* device = findDevicePreset(analysis.request.settings.text(Setting::Device));
    WorkOptions options;
    options.compute = worker.compute;
    options.collectives = worker.collectives;
    const CostModelPtr model = makeAnalyticalModel(*device);
    return makeWorkList({{analysis.after.graph, analysis.after.collectives},
                         {analysis.before.graph, analysis.before.collectives}},
                        worker.ranks, *model, options);
}

size_t countUnknown(const std::vector<WorkItem>& work, const KnownCosts& known) {
    size_t count = 0;
    for (const WorkItem& item : work) {
        const bool asked = !item.latency_probe && (item.work != WorkKind::Compute || item.calls > 0);
        count += asked && item.cannot.empty() && known.entries.count(item.key) == 0 ? 1 : 0;
    }
    return count;
}

} // namespace

std::vector<std::string> MeasurePlan::reuse() const {
    std::vector<std::string> keys;
    keys.reserve(known.entries.size());
    for (const auto& [key, entry] : known.entries)
        keys.push_back(key);
    return keys;
}

Result<MeasurePlan> planMeasuring(const Analysis& analysis, const MeasureRequest& request,
                                  const std::string& device) {
    const WorkerRequest& worker = request.worker;
    const std::vector<WorkItem> work = workOf(analysis, worker);
    MeasurePlan plan;
    if (!request.again && QFileInfo::exists(QString::fromStdString(request.store))) {
        const auto store = ProfileStore::openReadOnly(request.store);
        if (!store)
            return store.error();
        Result<KnownCosts> known = findKnownCosts(
            store.value(), {device, worker.backend, worker.ranks, worker.plan.iterations}, work);
        if (!known)
            return known.error();
        plan.known = std::move(known).value();
    }
    plan.unknown = countUnknown(work, plan.known);
    return plan;
}

Result<int64_t> storeProfile(const std::string& path, const Profile& profile) {
    auto store = ProfileStore::open(path);
    if (!store)
        return store.error();
    return store->add(profile);
}

} // namespace gs

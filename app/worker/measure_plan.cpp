#include "app/worker/measure_plan.h"

#include "cost/analytical_model.h"
#include "cost/device_presets.h"

#include <QFileInfo>
#include <algorithm>

namespace gs {

namespace {

bool exists(const std::string& file) {
    return QFileInfo::exists(QString::fromStdString(file));
}

bool isNew(const ProfileEntry& entry) {
    return entry.provenance == Provenance::Measured || entry.provenance == Provenance::Extrapolated;
}

} // namespace

Result<MeasurePlan> MeasurePlan::make(const Analysis& analysis, MeasureRequest request) {
    if (exists(request.store)) {
        if (const auto store = ProfileStore::openReadOnly(request.store); !store)
            return store.error();
    }
    MeasurePlan plan(std::move(request));
    const WorkerRequest& worker = plan.request_.worker;
    const DevicePreset* device = findDevicePreset(analysis.request.settings.text(Setting::Device));
    WorkOptions options;
    const CostModelPtr model = makeAnalyticalModel(*device);
    const auto list = [&] {
        return makeWorkList({{analysis.after.graph, analysis.after.collectives},
                             {analysis.before.graph, analysis.before.collectives}},
                            worker.ranks, *model, options);
    };
    plan.all_ = list();
    options.compute = worker.compute;
    options.collectives = worker.collectives;
    plan.work_ = worker.compute && worker.collectives ? plan.all_ : list();
    return plan;
}

size_t MeasurePlan::countKeys(const std::map<std::string, ProfileEntry>& known) const {
    return static_cast<size_t>(std::count_if(work_.begin(), work_.end(), [&](const WorkItem& item) {
        const bool asked = !item.latency_probe && (item.work != WorkKind::Compute || item.calls > 0);
        return asked && item.cannot.empty() && known.count(item.key) == 0;
    }));
}

Result<KnownCosts> MeasurePlan::readKnown(const std::string& device) const {
    if (request_.again || !exists(request_.store))
        return KnownCosts{};
    const auto store = ProfileStore::openReadOnly(request_.store);
    if (!store)
        return store.error();
    const WorkerRequest& worker = request_.worker;
    return findKnownCosts(store.value(),
                          {device, worker.backend, worker.ranks, worker.plan.iterations,
                           worker.plan.cache_cold, worker.contention},
                          work_);
}

std::vector<std::string> MeasurePlan::reuse(const std::string& device) {
    device_ = device;
    known_ = readKnown(device);
    std::vector<std::string> keys;
    for (const WorkItem& item : work_) {
        if (known_ && known_->entries.count(item.key) > 0)
            keys.push_back(item.key);
    }
    return keys;
}

Result<Profile> MeasurePlan::whole(Profile measured) const {
    if (!known_) // then nothing was reused, and the store will not take anything either
        return known_.error();
    if (known_->one_profile && measured.contention.empty() && measured.no_contention.empty() &&
        std::none_of(measured.entries.begin(), measured.entries.end(), isNew)) {
        const auto store = ProfileStore::openReadOnly(request_.store);
        return store ? store->read(known_->newest_id) : Result<Profile>(store.error());
    }
    return withTheRest(withKnownCosts(std::move(measured), known_.value()));
}

Result<Profile> MeasurePlan::withTheRest(Profile profile) const {
    const WorkerRequest& worker = request_.worker;
    if ((worker.compute && worker.collectives && worker.contention) || !exists(request_.store))
        return profile;
    const auto store = ProfileStore::openReadOnly(request_.store);
    if (!store)
        return store.error();
    const Result<KnownCosts> rest = findKnownCosts(
        store.value(),
        {device_, worker.backend, worker.ranks, worker.plan.iterations, worker.plan.cache_cold, false}, all_);
    return rest ? withKnownCosts(std::move(profile), rest.value()) : Result<Profile>(rest.error());
}

Result<int64_t> storeProfile(const std::string& path, const Profile& profile) {
    if (profile.entries.empty())
        return Error{"nothing-measured",
                     "nothing was measured: a profile without costs is not stored",
                     {path, 0, 0},
                     "measure operators or collectives, too"};
    auto store = ProfileStore::open(path);
    if (!store)
        return store.error();
    return store->add(profile);
}

} // namespace gs

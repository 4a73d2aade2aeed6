#include "profile/lockstep.h"

#include "base/hash.h"
#include "base/units.h"
#include "cost/readers/collective_names.h"
#include "profile/exchange.h"
#include "profile/known_costs.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <map>
#include <set>

namespace gs {

namespace {

using Clock = std::chrono::steady_clock;

/// A key that all ranks have timed.
struct Timed {
    const WorkItem* item = nullptr;
    int64_t ns = 0; ///< as timed, not scaled
};

class Lockstep {
public:
    Lockstep(ControlPlane& plane, Backend& backend, LockstepJob job)
        : job_(std::move(job)), plane_(plane), backend_(backend), exchange_(plane, job_.stop) {}

    std::variant<LockstepResult, LockstepFailure> run() {
        Status status = agreeAll();
        for (const WorkKind phase : {WorkKind::Fused, WorkKind::Compute, WorkKind::Collective}) {
            for (size_t i = 0; status && i < job_.work.size(); ++i) {
                if (job_.work[i].work == phase && wanted(job_.work[i]))
                    status = measure(job_.work[i]);
            }
        }
        if (status && job_.contention)
            status = measureContention();
        if (status)
            status = checkTables();
        if (!status)
            return LockstepFailure{status.error(), key_};
        return std::move(result_);
    }

private:
    /// A node in a fused region is timed alone only if its region cannot be.
    static bool wanted(const WorkItem& item) { return item.work != WorkKind::Compute || item.calls > 0; }

    Status agreeAll() {
        const Result<Agreement> agreed = agree(plane_, job_.offer, job_.work);
        if (!agreed)
            return agreed.error();
        if (agreed->mode != RankMode::Identical)
            warn("ranks-differ",
                 fmt::format("{}: {} First difference ({}): {} / {}", rankModeName(agreed->mode),
                             agreed->verdict, agreed->first_what, agreed->first_a, agreed->first_b));
        Profile& profile = result_.profile;
        const DeviceFacts facts = backend_.facts();
        profile.device = facts.name;
        profile.driver = facts.driver;
        profile.versions = facts.versions;
        if (job_.plan.cache_cold)
            profile.versions[kCachesKey] = kCachesCold;
        profile.clocks = facts.clocks;
        profile.backend = backend_.name();
        profile.ranks = plane_.size();
        profile.graph_name = job_.graph_name;
        profile.graph_hash = hexDigits(job_.offer.graph->structuralHash());
        profile.mode = rankModeName(agreed->mode);
        const auto devices = plane_.allGather(facts.name);
        if (!devices)
            return devices.error();
        for (size_t r = 1; r < devices.value().size(); ++r) {
            if (devices.value()[r] != devices.value()[0]) {
                warn("other-device", fmt::format("rank {} measures on {}, rank 0 on {}: the slowest counts",
                                                 r, devices.value()[r], devices.value()[0]));
                break;
            }
        }
        for (const WorkItem& item : job_.work)
            weight_left_ += wanted(item) ? weight(item) : 0;
        return Unit{};
    }

    void warn(std::string code, std::string message) {
        if (plane_.rank() == 0)
            job_.say(WarningMessage{std::move(code), std::move(message), {}});
    }

    /// Share of the whole time that an item takes: tensors are made for it, then it runs a few times.
    static int64_t weight(const WorkItem& item) { return 20'000 + std::max<int64_t>(0, item.model_ns); }

    void progress(const WorkItem& item, const char* phase) {
        key_ = item.key;
        ProgressMessage m{done_, 0, item.key, item.label, phase, -1};
        for (const WorkItem& other : job_.work)
            m.count += wanted(other) ? 1 : 0;
        m.count = std::max(m.count, done_ + 1); // gathers beside compute come on top
        const double elapsed = std::chrono::duration<double, std::nano>(Clock::now() - begin_).count();
        if (done_ > 0 && weight_done_ > 0)
            m.eta_ns = static_cast<int64_t>(elapsed * double(std::max<int64_t>(weight_left_, 0)) /
                                            double(weight_done_));
        job_.say(m);
        ++done_;
        weight_done_ += weight(item);
        weight_left_ -= weight(item);
    }

    Result<std::unique_ptr<PreparedOp>> prepare(const WorkItem& item) {
        if (!item.here)
            return std::unique_ptr<PreparedOp>();
        return caught<std::unique_ptr<PreparedOp>>([&] {
            switch (item.work) {
            case WorkKind::Fused:
                return backend_.prepareRegion(*item.graph, item.region);
            case WorkKind::Compute:
                return backend_.prepare(*item.graph, item.node);
            default:
                return backend_.prepareCollective(item.spec);
            }
        });
    }

    Status measure(const WorkItem& item) {
        progress(item, item.work == WorkKind::Collective ? "collectives" : "compute");
        if (!item.cannot.empty()) { // equal on all ranks: nobody tries
            degrade(item, item.cannot);
            return Unit{};
        }
        auto op = prepare(item);
        const bool mine = op && op.value();
        const Result<std::string> refused = exchange_.agreeToRun(op ? std::string() : op.error().message);
        if (!refused)
            return refused.error();
        if (!refused->empty()) {
            degrade(item, refused.value());
            return Unit{};
        }
        Measurement own;
        if (mine) {
            const auto samples =
                caught<std::vector<int64_t>>([&] { return backend_.time(*op.value(), job_.plan); });
            own = samples ? summarise(samples.value()) : Measurement::failure(samples.error().message);
            own.note = op.value()->note;
            result_.runs += job_.plan.warmups + job_.plan.iterations;
        }
        const Result<Reconciled> all = exchange_.reconcile(own, item.communicates);
        if (!all)
            return all.error();
        if (!all->reason.empty())
            degrade(item, all->reason);
        else
            accept(item, all.value());
        return Unit{};
    }

    ProfileEntry blank(const WorkItem& item) const {
        ProfileEntry entry;
        entry.key = item.key;
        entry.kind = item.kind;
        entry.label = item.label;
        entry.calls = item.calls;
        return entry;
    }

    void addEntry(ProfileEntry entry) {
        if (plane_.rank() == 0)
            job_.say(EntryMessage{entry});
        result_.profile.entries.push_back(std::move(entry));
    }

    void accept(const WorkItem& item, const Reconciled& all) {
        if (item.latency_probe) {
            step_ns_[plainKind(item.spec.kind)] = stepTime(item.spec.kind, all.ns, item.group_ranks);
            return;
        }
        timed_.push_back({&item, all.ns});
        ProfileEntry entry = blank(item);
        entry.ns = all.ns;
        entry.samples = all.samples;
        entry.spread_ns = all.spread_ns;
        entry.rank_skew_ns = all.skew_ns;
        entry.note = all.note;
        if (item.scaled())
            scale(item, entry);
        else if (!item.placement.empty()) {
            entry.provenance = Provenance::Extrapolated;
            entry.note = item.placement + (all.note.empty() ? "" : "; " + all.note);
        }
        addEntry(std::move(entry));
    }

    void scale(const WorkItem& item, ProfileEntry& entry) const {
        const auto timed = static_cast<int32_t>(item.spec.ranks.size());
        const auto found = step_ns_.find(plainKind(item.spec.kind));
        const int64_t step = found == step_ns_.end() ? 0 : found->second;
        entry.provenance = Provenance::Extrapolated;
        const std::string note = entry.note.empty() ? "" : "; " + entry.note;
        entry.note =
            fmt::format("timed on {} of {} ranks: {} for {}; scaled as a ring with at most {} a step{}",
                        timed, item.group_ranks, formatTime(entry.ns),
                        formatBytes(std::max(item.spec.input_bytes, item.spec.output_bytes)),
                        formatTime(step), found == step_ns_.end() ? " (not known)" : "") +
            note;
        entry.ns = scaleCollective(item.spec.kind, entry.ns, step, timed, item.group_ranks);
    }

    /// The analytical number and why; a fused region is measured node by node instead.
    void degrade(const WorkItem& item, const std::string& reason) {
        if (item.latency_probe)
            return;
        if (item.work == WorkKind::Fused) {
            splitRegion(item);
            return;
        }
        ProfileEntry entry = blank(item);
        const bool known = item.model_ns >= 0;
        entry.provenance = known ? Provenance::Analytical : Provenance::Missing;
        entry.ns = known ? item.model_ns : 0;
        entry.note =
            fmt::format("not measured: {}{}{}", reason, item.model_note.empty() ? "" : "; ", item.model_note);
        addEntry(std::move(entry));
    }

    void splitRegion(const WorkItem& region) {
        for (WorkItem& item : job_.work) {
            const auto uses = std::count(region.members.begin(), region.members.end(), item.key);
            if (item.work != WorkKind::Compute || uses == 0)
                continue;
            weight_left_ += item.calls == 0 ? weight(item) : 0;
            item.calls += uses * region.calls;
        }
    }

    std::vector<Timed> gathersToContend() const {
        std::vector<Timed> chosen;
        for (const Timed& timed : timed_) {
            if (timed.item->contend)
                chosen.push_back(timed);
        }
        std::stable_sort(chosen.begin(), chosen.end(), [](const Timed& a, const Timed& b) {
            return a.item->spec.output_bytes < b.item->spec.output_bytes;
        });
        return chosen;
    }

    /// The compute that takes most of the step. None that communicates: beside a gather it would run as often
    /// as it happens to fit, on each rank.
    const Timed* heaviestCompute(bool everywhere) const {
        const Timed* best = nullptr;
        for (const Timed& timed : timed_) {
            if (timed.item->communicates || (everywhere && !timed.item->everywhere))
                continue;
            if (!best || timed.ns * timed.item->calls > best->ns * best->item->calls)
                best = &timed;
        }
        return best;
    }

    Status measureContention() {
        const Timed* compute = heaviestCompute(true); // that every rank can run
        const Timed* elsewhere = compute ? nullptr : heaviestCompute(false);
        const std::vector<Timed> gathers = gathersToContend();
        const std::string none = elsewhere ? "no measured compute operator is in every rank's graph"
                                           : "no compute operator was measured";
        if (!compute && !gathers.empty())
            warn("no-contention", none + ", so no gather ran beside one");
        for (const Timed& gather : gathers) {
            if (!compute)
                addContention({gather.item->key, elsewhere ? elsewhere->item->key : "",
                               gather.item->spec.output_bytes, 0, 0, 0, 0, none});
            else if (const Status status = contend(gather, *compute); !status)
                return status;
        }
        return Unit{};
    }

    void addContention(const ContentionPoint& point) {
        if (plane_.rank() == 0)
            job_.say(ContentionMessage{point});
        Profile& profile = result_.profile;
        (point.reason.empty() ? profile.contention : profile.no_contention).push_back(point);
    }

    Status contend(const Timed& gather, const Timed& compute) {
        progress(*gather.item, "contention");
        auto transfer = prepare(*gather.item);
        auto kernel = prepare(*compute.item);
        const std::string fault = !transfer ? transfer.error().message
                                  : !kernel ? kernel.error().message
                                            : std::string();
        const Result<std::string> refused = exchange_.agreeToRun(fault);
        if (!refused)
            return refused.error();
        Measurement own;
        if (refused->empty() && transfer.value() && kernel.value()) {
            const auto both = caught<TogetherTimes>(
                [&] { return backend_.timeTogether(*transfer.value(), *kernel.value(), job_.plan); });
            own = both ? Measurement{{}, both->collective_ns, both->compute_ns, job_.plan.iterations, {}}
                       : Measurement::failure(both.error().message);
            result_.runs += job_.plan.warmups + job_.plan.iterations;
        }
        const Result<Reconciled> all = exchange_.reconcile(own, true);
        if (!all)
            return all.error();
        const std::string reason = refused->empty() ? all->reason : refused.value();
        ContentionPoint point{
            gather.item->key, compute.item->key, gather.item->spec.output_bytes, 0, 0, 0, 0, reason};
        if (reason.empty()) {
            point.alone_ns = gather.ns;
            point.together_ns = all->ns;
            point.compute_alone_ns = compute.ns;
            point.compute_together_ns = all->second_ns;
        } else {
            warn("contention-failed", fmt::format("{} beside compute: {}", gather.item->label, reason));
        }
        addContention(point);
        return Unit{};
    }

    Status checkTables() {
        key_.clear();
        Profile& profile = result_.profile;
        std::sort(profile.entries.begin(), profile.entries.end(),
                  [](const ProfileEntry& a, const ProfileEntry& b) { return a.key < b.key; });
        profile.unix_time_s = std::chrono::duration_cast<std::chrono::seconds>(
                                  std::chrono::system_clock::now().time_since_epoch())
                                  .count();
        result_.hash = hexDigits(tableHash(profile));
        const auto hashes = plane_.allGather(result_.hash);
        if (!hashes)
            return hashes.error();
        for (size_t r = 1; r < hashes.value().size(); ++r) {
            if (hashes.value()[r] != hashes.value()[0])
                return Error{"tables-differ",
                             fmt::format("rank {} ended with another table than rank 0", r),
                             {},
                             "report this: nothing was stored"};
        }
        return Unit{};
    }

    LockstepJob job_;
    ControlPlane& plane_;
    Backend& backend_;
    Exchange exchange_;
    LockstepResult result_;
    std::vector<Timed> timed_;
    std::map<CollectiveKind, int64_t> step_ns_; ///< from the latency probes
    std::string key_;                           ///< at work
    int64_t done_ = 0;
    int64_t weight_done_ = 0;
    int64_t weight_left_ = 0;
    Clock::time_point begin_ = Clock::now();
};

} // namespace

std::variant<LockstepResult, LockstepFailure> runLockstep(ControlPlane& plane, Backend& backend,
                                                          LockstepJob job) {
    return Lockstep(plane, backend, std::move(job)).run();
}

} // namespace gs

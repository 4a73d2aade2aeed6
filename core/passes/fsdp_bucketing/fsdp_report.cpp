// Settings, report and log lines of document 001's passes.
#include "base/units.h"
#include "cost/device_presets.h"
#include "passes/fsdp_bucketing/fsdp_bucketing.h"

#include <cmath>
#include <fmt/format.h>

namespace gs {

namespace {

constexpr const char* kPassName = "bucket-fsdp";

std::string_view kindText(FsdpKind kind) {
    switch (kind) {
    case FsdpKind::AllGather:
        return "all-gathers";
    case FsdpKind::ReduceScatter:
        return "reduce-scatters";
    case FsdpKind::AllReduce:
        return "all-reduces";
    }
    return "";
}

/// A number as Python prints it: with ".0" where it is whole.
std::string pythonNumber(double value) {
    return value == std::floor(value) && std::abs(value) < 1e15 ? fmt::format("{:.1f}", value)
                                                                : fmt::format("{}", value);
}

std::string sizesLine(const std::vector<CollectiveSize>& sizes, const char* when) {
    constexpr size_t kShown = 50;
    std::string list;
    for (size_t i = 0; i < std::min(sizes.size(), kShown); ++i)
        list += fmt::format("{}{}({})", i == 0 ? "" : ", ", sizes[i].type, pythonNumber(sizes[i].mib));
    return fmt::format("pre_bucket_fsdp: {} collectives {} bucketing, sizes (MB): {}", sizes.size(), when,
                       list);
}

class FsdpReporter {
public:
    FsdpReporter(const Draft& draft, PassReport& report) : draft_(draft), report_(report) {}

    void log(std::string line) {
        report_.diagnostics.add({Severity::Info, "fsdp-bucketing", {}, {}, std::move(line), ""});
    }

    void logCap(const FsdpBucketOptions& options, const NcclGroup& group, double cap_mib) {
        if (options.cap_mib)
            return;
        const int64_t bytes = saturationBytes(options.system, group, NcclCollective::AllGather).value_or(0);
        log(fmt::format("pre_bucket_cap: interconnect={} intra_bw={:.0f} inter_bw={:.0f} "
                        "saturation_bytes={} ({:.1f} MB) cal_mult=1.00 cap_mb={:.1f}",
                        interconnectName(detectInterconnect(options.system, group)),
                        intraNodeGbps(options.system), interNodeGbps(options.system), bytes,
                        static_cast<double>(bytes) / (1024.0 * 1024.0), cap_mib));
    }

    void logResult(const PreBucketResult& result, const NcclSystem& system, double cap_mib) {
        log(sizesLine(result.sizes_before, "before"));
        log(sizesLine(result.sizes_after, "after"));
        std::string names;
        for (const StringId name : result.groups.names)
            names += fmt::format("{}'{}'", names.empty() ? "" : ", ", draft_.graph().text(name));
        const int64_t size = result.groups.size.value_or(1);
        const int64_t per_node = std::max<int64_t>(system.gpus_per_node, 1);
        log(fmt::format("pre_bucket_fsdp_collectives: fsdp_groups=[{}], group_size={}, nNodes={}, "
                        "bucket_cap_mb={:.1f}, all_gather {}->{}, reduce_scatter {}->{}, all_reduce {}->{}",
                        names, size, (size + per_node - 1) / per_node, cap_mib, result.before.all_gather,
                        result.after.all_gather, result.before.reduce_scatter, result.after.reduce_scatter,
                        result.before.all_reduce, result.after.all_reduce));
    }

    void addBuckets(const PreBucketResult& result) {
        for (const MergedBucket& bucket : result.buckets) {
            for (const DraftId member : bucket.members) {
                const bool done = bucket.launch != kNoNode;
                addLine(member, done,
                        done ? fmt::format("in {} with {} other{}", draft_.name(bucket.launch),
                                           bucket.members.size() - 1, bucket.members.size() == 2 ? "" : "s")
                             : fmt::format("its bucket of {} {} was left alone: {}", bucket.members.size(),
                                           kindText(bucket.kind), bucket.reason));
            }
        }
        for (const DraftId launch : result.unknown_size)
            addLine(launch, false, "the bytes it moves are not known");
        // Whatever is still there and was in no bucket.
        for (const CollectiveSize& size : result.sizes_after) {
            if (!draft_.added(size.node) && !named_.count(size.node))
                addLine(size.node, false, "no other collective fits into its bucket");
        }
    }

private:
    void addLine(DraftId id, bool done, std::string reason) {
        named_.insert(id);
        report_.lines.push_back({std::string(draft_.name(id)), done, std::move(reason)});
        (done ? report_.done : report_.skipped) += 1;
    }

    const Draft& draft_;
    PassReport& report_;
    std::unordered_set<DraftId> named_;
};

std::string summaryOf(const PreBucketResult& result, size_t deduplicated, double cap_mib) {
    std::string text;
    if (deduplicated > 0)
        text = fmt::format("Summed {} of reduce-scatters before sending. ", counted(deduplicated, "pair"));
    if (result.groups.names.empty())
        return text + "No gather of a single parameter tells which groups are FSDP's: nothing is bucketed.";
    return text + fmt::format("Buckets up to {:.1f} MiB: all-gathers {} → {}, reduce-scatters {} → {}, "
                              "all-reduces {} → {}.",
                              cap_mib, result.before.all_gather, result.after.all_gather,
                              result.before.reduce_scatter, result.after.reduce_scatter,
                              result.before.all_reduce, result.after.all_reduce);
}

} // namespace

PassResult bucketFsdp(const GraphPtr& graph, const FsdpBucketOptions& options) {
    PassReport report;
    report.pass = kPassName;
    if (graph->info().level == GraphLevel::Scheduler) {
        report.summary = "Scheduler nodes are not bucketed; give the graph before Inductor's scheduler.";
        return {graph, std::move(report)};
    }
    Draft draft(*graph);
    const size_t deduplicated = options.dedup ? dedupReduceScatters(draft) : 0;
    const FsdpGroups groups = identifyFsdpGroups(draft, fsdpAllGathers(*graph));
    const NcclGroup group{static_cast<int32_t>(groups.size.value_or(1)), 0};
    PreBucketLimits limits;
    limits.override_mib = options.cap_mib;
    PreBucketOptions pre_bucket;
    pre_bucket.cap_mib = preBucketCapMib(options.system, group, limits);
    const PreBucketResult result = preBucketFsdp(draft, pre_bucket);

    FsdpReporter reporter(draft, report);
    if (!result.groups.names.empty()) {
        reporter.logCap(options, group, pre_bucket.cap_mib);
        reporter.logResult(result, options.system, pre_bucket.cap_mib);
    }
    report.summary = summaryOf(result, deduplicated, pre_bucket.cap_mib);
    const bool merged = std::any_of(result.buckets.begin(), result.buckets.end(),
                                    [](const MergedBucket& bucket) { return bucket.launch != kNoNode; });
    reporter.addBuckets(result);
    if (!merged && deduplicated == 0)
        return {graph, std::move(report)};
    GraphPtr rewritten = draft.finish(report.diagnostics);
    if (rewritten)
        return {std::move(rewritten), std::move(report)};
    const std::string dropped = "an in-place write, a free or a barrier forbids the new order";
    report.diagnostics.add({Severity::Warning,
                            "order-dropped",
                            {},
                            {},
                            "the buckets were dropped: " + dropped,
                            "the graph is analysed without buckets"});
    report.summary = "Nothing was bucketed: " + dropped + ".";
    report.skipped += report.done;
    report.done = 0;
    for (PassReportLine& line : report.lines) {
        line.reason = line.done ? dropped : line.reason;
        line.done = false;
    }
    return {graph, std::move(report)};
}

PassResult bucketFsdp(const GraphPtr& graph, const Settings& settings) {
    PassReport report;
    report.pass = kPassName;
    if (settings.text(Setting::BucketMode) != "fsdp") {
        report.summary = "Bucketing is switched off.";
        return {graph, std::move(report)};
    }
    FsdpBucketOptions options;
    options.dedup = settings.flag(Setting::FsdpDedup);
    if (const DevicePreset* device = findDevicePreset(settings.text(Setting::Device)))
        options.system = device->nccl;
    options.cap_mib = settings.limit(Setting::BucketCapMib);
    return bucketFsdp(graph, options);
}

} // namespace gs

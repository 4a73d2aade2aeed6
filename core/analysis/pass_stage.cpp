#include "analysis/pass_stage.h"

#include "analysis/stage_keys.h"

namespace gs {

PassedPrograms runPasses(const GraphPtr& source, const Settings& settings, const Edits& edits) {
    PassedPrograms made;
    PassResult lowered{source, {}};
    if (settings.flag(Setting::Lowering)) {
        lowered = lowerRedistributes(source, settings);
        made.reports.push_back(lowered.report);
    }
    made.before = made.after = lowered.graph;
    const auto bucket = [&](PassResult bucketed) {
        made.after = bucketed.graph;
        made.reports.push_back(std::move(bucketed.report));
    };
    const std::string& bucket_mode = settings.text(Setting::BucketMode);
    if (bucket_mode == "coalesced" || !editsKey(edits, true).empty())
        bucket(bucketCoalesced(made.after, settings, edits));
    if (bucket_mode == "fsdp")
        bucket(bucketFsdp(made.after, settings));
    made.collectives_before = made.collectives_after = std::make_shared<CollectiveTable>(*made.before);
    if (made.after != made.before)
        made.collectives_after = std::make_shared<CollectiveTable>(*made.after);
    return made;
}

} // namespace gs

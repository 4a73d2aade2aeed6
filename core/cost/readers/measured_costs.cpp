#include "cost/readers/measured_costs.h"

#include "base/median.h"
#include "cost/readers/op_signature.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <set>
#include <tuple>

namespace gs {

namespace {

using Samples = std::vector<int64_t>;

/// Key of the collectives that share a time.
using CollectiveKey = std::tuple<CollectiveKind, DType, int64_t, int64_t, int64_t, std::string>;

CollectiveKey keyOf(CollectiveKind kind, DType dtype, int64_t in, int64_t out, int64_t size,
                    const std::string& group) {
    return {kind, dtype, in, out, size, group};
}

bool mayBeInGraph(std::string_view packet) {
    return packet.substr(0, 5) != "c10d." && packet.substr(0, 17) != "_c10d_functional.";
}

/// Samples of the calls of one (name, signature).
struct OpGroup {
    Samples samples;
    bool innermost = false;
};

void addTypedKeys(const std::string& packet, const Signature& items, MeasuredTime time, MeasuredCosts& out) {
    const bool types_known = std::all_of(items.begin(), items.end(), [](const SignatureItem& item) {
        return item.list || item.dtype != DType::Unknown;
    });
    if (!types_known) {
        out.untyped.emplace(measuredKey(packet, signatureText(items, false)), std::move(time));
        return;
    }
    Signature shorter = items;
    if (shorter.size() > 1) {
        shorter.pop_back();
        out.with_out.emplace(measuredKey(packet, signatureText(shorter, true)), time);
    }
    out.typed.emplace(measuredKey(packet, signatureText(items, true)), std::move(time));
}

void takeOps(const TraceEvents& events, const LinkedTrace& linked, const JobContext& job,
             MeasuredCosts& out) {
    // Equal operators often have several raw forms ("Input Dims" of lists, scalars), so first by ids.
    std::unordered_map<uint64_t, OpGroup> by_id;
    for (size_t i = 0; i < linked.ops.size(); ++i) {
        if (i % 65536 == 0 && job.cancelled())
            return;
        const OpCall& call = linked.ops[i];
        OpGroup& group = by_id[uint64_t{call.name} << 32 | call.signature];
        group.samples.push_back(call.ns);
        group.innermost = group.innermost || call.innermost;
    }
    std::map<std::pair<std::string, std::string>, std::pair<OpGroup, Signature>> by_key;
    for (auto& [ids, group] : by_id) {
        const std::string packet = opPacket(events.texts.view(static_cast<StringId>(ids >> 32)));
        const auto raw = static_cast<StringId>(ids);
        if (!mayBeInGraph(packet) || raw == kEmptyString)
            continue;
        Signature items = traceSignature(events.texts.view(raw));
        auto& [same, signature] = by_key[{packet, signatureText(items, true)}];
        same.samples.insert(same.samples.end(), group.samples.begin(), group.samples.end());
        same.innermost = same.innermost || group.innermost;
        signature = std::move(items);
    }
    for (auto& [key, value] : by_key) {
        auto& [group, signature] = value;
        MeasuredTime time = summarizeSamples(std::move(group.samples));
        time.innermost = group.innermost;
        addTypedKeys(key.first, signature, std::move(time), out);
    }
    for (const OpCall& call : linked.ops) {
        const std::string_view name = events.texts.view(call.name);
        if (call.signature == kEmptyString && call.innermost && mayBeInGraph(opPacket(name)))
            out.ordered_ops[opPacket(name)].push_back(call.ns);
    }
}

void takeCollectives(const LinkedTrace& linked, MeasuredCosts& out) {
    std::map<CollectiveKey, std::pair<Samples, KindSource>> groups;
    for (const CollectiveCall& call : linked.collectives) {
        if (call.kind == CollectiveKind::None || call.kind == CollectiveKind::Other)
            continue;
        if (call.input_bytes < 0 && call.output_bytes < 0) {
            out.ordered_collectives[call.kind].push_back(call.ns);
            continue;
        }
        auto& [samples, source] = groups[keyOf(call.kind, call.dtype, call.input_bytes, call.output_bytes,
                                               call.group_size, call.group)];
        samples.push_back(call.ns);
        source = std::max(source, call.source);
    }
    for (auto& [key, value] : groups) {
        MeasuredCollective item;
        std::tie(item.kind, item.dtype, item.input_bytes, item.output_bytes, item.group_size, item.group) =
            key;
        item.time = summarizeSamples(std::move(value.first));
        if (value.second != KindSource::Metadata)
            item.time.note += fmt::format(", kind by {}", kindSourceName(value.second));
        out.collectives.push_back(std::move(item));
    }
}

/// One time of the same thing on several ranks.
MeasuredTime reconcile(const std::vector<const MeasuredTime*>& times, size_t ranks, bool fastest) {
    MeasuredTime out = *times.front();
    int64_t least = out.ns;
    int64_t most = out.ns;
    for (size_t i = 1; i < times.size(); ++i) {
        least = std::min(least, times[i]->ns);
        most = std::max(most, times[i]->ns);
        out.samples += times[i]->samples;
        out.spread_ns = std::max(out.spread_ns, times[i]->spread_ns);
        out.innermost = out.innermost || times[i]->innermost;
    }
    out.ns = fastest ? least : most;
    out.rank_skew_ns = times.size() > 1 ? most - least : -1;
    out.note = fmt::format("median of {} calls on {} of {} ranks, the {} rank counts", out.samples,
                           std::min(times.size(), ranks), ranks,
                           fastest ? "fastest (others wait for it)" : "slowest");
    return out;
}

TimesByKey mergeTimes(const std::vector<const MeasuredCosts*>& ranks, TimesByKey MeasuredCosts::*member) {
    std::unordered_map<std::string, std::vector<const MeasuredTime*>> all;
    for (const MeasuredCosts* rank : ranks) {
        for (const auto& [key, time] : rank->*member)
            all[key].push_back(&time);
    }
    TimesByKey out;
    for (const auto& [key, times] : all)
        out.emplace(key, reconcile(times, ranks.size(), false));
    return out;
}

/// Element by element where all ranks have as many; else those of the first rank.
template <typename Map>
Map mergeOrdered(const std::vector<const MeasuredCosts*>& ranks, Map MeasuredCosts::*member, bool fastest) {
    Map out = ranks.front()->*member;
    for (auto& [key, times] : out) {
        for (const MeasuredCosts* rank : ranks) {
            const auto found = (rank->*member).find(key);
            if (found == (rank->*member).end() || found->second.size() != times.size())
                continue;
            for (size_t i = 0; i < times.size(); ++i)
                times[i] =
                    fastest ? std::min(times[i], found->second[i]) : std::max(times[i], found->second[i]);
        }
    }
    return out;
}

} // namespace

std::string measuredKey(std::string_view packet, std::string_view signature) {
    return fmt::format("{}({})", packet, signature);
}

MeasuredTime summarizeSamples(std::vector<int64_t> samples) {
    std::sort(samples.begin(), samples.end());
    MeasuredTime out;
    const size_t count = samples.size();
    out.samples = static_cast<int64_t>(count);
    out.ns = median(samples);
    out.spread_ns = samples[count - 1 - (count - 1) / 4] - samples[(count - 1) / 4];
    out.note = count == 1 ? "one call" : fmt::format("median of {} calls", count);
    return out;
}

MeasuredCosts measuredCosts(const TraceEvents& events, const LinkedTrace& linked, const std::string& path,
                            const JobContext& job) {
    MeasuredCosts out;
    out.path = path;
    out.file_name = std::filesystem::path(path).filename().string();
    out.rank = events.rank;
    takeOps(events, linked, job, out);
    takeCollectives(linked, out);
    if (linked.summary.has_ops && !linked.summary.has_shapes)
        out.hint =
            "record the run with record_shapes=True: without sizes operators can only be matched by order";
    else if (linked.summary.without_op > 0)
        out.hint =
            "fused kernels stand for several nodes and price none of them; the analytical model can fill "
            "these: cost_sources=file,analytical";
    else
        out.hint = "the analytical model can fill these: cost_sources=file,analytical";
    return out;
}

MeasuredCosts mergeRanks(const std::vector<const MeasuredCosts*>& ranks) {
    MeasuredCosts out;
    const MeasuredCosts& first = *ranks.front();
    out.path = first.path;
    out.file_name = fmt::format("{} and {} more", first.file_name, ranks.size() - 1);
    out.what = fmt::format("{}s of {} ranks", first.what, ranks.size());
    out.provenance = first.provenance;
    out.ranks = ranks.size();
    out.reach = first.reach;
    out.hint = first.hint;
    out.typed = mergeTimes(ranks, &MeasuredCosts::typed);
    out.untyped = mergeTimes(ranks, &MeasuredCosts::untyped);
    out.with_out = mergeTimes(ranks, &MeasuredCosts::with_out);
    out.ordered_ops = mergeOrdered(ranks, &MeasuredCosts::ordered_ops, false);
    out.ordered_collectives = mergeOrdered(ranks, &MeasuredCosts::ordered_collectives, true);
    std::map<CollectiveKey, std::vector<const MeasuredCollective*>> same;
    for (const MeasuredCosts* rank : ranks) {
        // Ranks name the groups of one mesh differently ("1", "2"), so names do not count here.
        for (const MeasuredCollective& item : rank->collectives)
            same[keyOf(item.kind, item.dtype, item.input_bytes, item.output_bytes, item.group_size, {})]
                .push_back(&item);
    }
    for (const auto& [key, items] : same) {
        MeasuredCollective merged = *items.front();
        std::vector<const MeasuredTime*> times;
        for (const MeasuredCollective* item : items) {
            times.push_back(&item->time);
            if (item->group != merged.group)
                merged.group.clear();
        }
        merged.time = reconcile(times, ranks.size(), true);
        out.collectives.push_back(std::move(merged));
    }
    return out;
}

} // namespace gs

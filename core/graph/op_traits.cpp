#include "graph/op_traits.h"

#include "base/resources.h"

#include <map>
#include <mutex>
#include <nlohmann/json.hpp>

namespace gs {

namespace {

using Json = nlohmann::json;

uint16_t traitBit(const std::string& name) {
    static const std::map<std::string, uint16_t> kBits = {
        {"pointwise", kTraitPointwise}, {"view", kTraitView},           {"compute", kTraitCompute},
        {"wait", kTraitWait},           {"reduction", kTraitReduction}, {"free", kTraitFree},
        {"barrier", kTraitBarrier},     {"attention", kTraitAttention}, {"cast", kTraitCast},
        {"unpack", kTraitUnpack},       {"pack", kTraitPack},           {"hands_on", kTraitHandsOn}};
    return kBits.at(name);
}

CollectiveKind kindByName(const std::string& name) {
    static const std::map<std::string, CollectiveKind> kKinds = {
        {"all_gather", CollectiveKind::AllGather},
        {"all_gather_coalesced", CollectiveKind::AllGatherCoalesced},
        {"reduce_scatter", CollectiveKind::ReduceScatter},
        {"reduce_scatter_coalesced", CollectiveKind::ReduceScatterCoalesced},
        {"all_reduce", CollectiveKind::AllReduce},
        {"all_reduce_coalesced", CollectiveKind::AllReduceCoalesced},
        {"all_to_all", CollectiveKind::AllToAll},
        {"broadcast", CollectiveKind::Broadcast},
        {"other", CollectiveKind::Other}};
    return kKinds.at(name);
}

/// "aten.mm.default" → "aten.mm"; a name without an overload stays.
std::string_view packetOf(std::string_view target) {
    const size_t last = target.rfind('.');
    if (last == std::string_view::npos || target.find('.') == last)
        return target;
    return target.substr(0, last);
}

/// Functions of torch that write their first argument end in one underscore (add_, copy_), not in two.
bool namedInPlace(std::string_view packet) {
    return packet.size() > 2 && packet.back() == '_' && packet[packet.size() - 2] != '_';
}

class TraitTable {
public:
    TraitTable() {
        const Json data = Json::parse(resourceText("op_traits.json"));
        for (const auto& [name, targets] : data.at("traits").items()) {
            for (const Json& target : targets)
                rows_[target].bits |= traitBit(name);
        }
        for (const auto& [target, facts] : data.at("collectives").items()) {
            OpTraits& row = rows_[target];
            row.bits |= kTraitCollective;
            row.collective = kindByName(facts.at("kind"));
            row.input_arg = facts.value("input", int8_t{0});
            row.group_arg = facts.value("group", int8_t{-1});
            row.group_size_arg = facts.value("size", int8_t{-1});
            row.reduce_op_arg = facts.value("op", int8_t{-1});
        }
        for (const auto& [target, facts] : data.at("mutates").items()) {
            OpTraits& row = rows_[target];
            row.bits |= kTraitMutable;
            for (const Json& item : facts) {
                if (item.is_string())
                    row.mutated_kwargs.push_back(item);
                else
                    row.mutated_args.push_back(item);
            }
        }
        for (const auto& [target, facts] : data.at("schemas").items()) {
            OpTraits& row = rows_[target];
            for (const Json& name : facts.at("args"))
                row.arg_names.push_back(name);
            for (const Json& name : facts.value("strings", Json::array()))
                row.string_args.push_back(name);
        }
        for (auto& [target, row] : rows_) { // a row of an overload that only states its arguments
            if (packetOf(target) != target && row.bits == 0)
                row = derived(target, std::move(row));
        }
    }

    const OpTraits& find(std::string_view target) {
        const std::scoped_lock lock(mutex_);
        if (auto found = rows_.find(target); found != rows_.end())
            return found->second;
        return rows_.emplace(std::string(target), derived(target, {})).first->second;
    }

private:
    /// Facts of an overload: the packet's, what its name says, and the arguments that `row` states.
    OpTraits derived(std::string_view target, OpTraits row) const {
        const std::string_view packet = packetOf(target);
        OpTraits facts;
        if (auto found = rows_.find(packet); found != rows_.end())
            facts = found->second;
        if (!row.arg_names.empty() || !row.string_args.empty()) {
            facts.arg_names = std::move(row.arg_names);
            facts.string_args = std::move(row.string_args);
        }
        if (facts.mutated_args.empty() && namedInPlace(packet)) {
            facts.bits |= kTraitMutable;
            facts.mutated_args = {0};
        }
        if (target.size() > packet.size() &&
            target.substr(packet.size()).find("out") != std::string_view::npos) {
            facts.bits |= kTraitMutable;
            facts.mutated_kwargs = {"out"};
        }
        return facts;
    }

    std::mutex mutex_;
    std::map<std::string, OpTraits, std::less<>> rows_; ///< node-based: references stay valid
};

} // namespace

std::string_view collectiveKindName(CollectiveKind kind) {
    switch (kind) {
    case CollectiveKind::None:
        return "none";
    case CollectiveKind::AllGather:
    case CollectiveKind::AllGatherCoalesced:
        return "all_gather";
    case CollectiveKind::ReduceScatter:
    case CollectiveKind::ReduceScatterCoalesced:
        return "reduce_scatter";
    case CollectiveKind::AllReduce:
    case CollectiveKind::AllReduceCoalesced:
        return "all_reduce";
    case CollectiveKind::AllToAll:
        return "all_to_all";
    case CollectiveKind::Broadcast:
        return "broadcast";
    case CollectiveKind::Other:
        return "other";
    case CollectiveKind::InFlight:
        return "in_flight";
    }
    return "other";
}

const OpTraits& opTraits(std::string_view target) {
    static TraitTable table;
    return table.find(target);
}

} // namespace gs

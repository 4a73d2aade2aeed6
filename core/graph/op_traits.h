// What the system knows of an operator: data in resources/op_traits.json, never code.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gs {

/// Properties of an operator, as bits.
enum OpTrait : uint16_t {
    kTraitPointwise = 1 << 0, ///< torch.Tag.pointwise
    kTraitView = 1 << 1,      ///< target.is_view: the result shares its first input's storage
    kTraitCompute = 1 << 2,   ///< in torch.utils.flop_counter.flop_registry
    kTraitCollective = 1 << 3,
    kTraitWait = 1 << 4,
    kTraitReduction = 1 << 5,
    kTraitMutable = 1 << 6,   ///< the schema writes an argument
    kTraitFree = 1 << 7,      ///< releases or resizes the storage of its argument
    kTraitBarrier = 1 << 8,   ///< orders all communication around it
    kTraitAttention = 1 << 9, ///< default boundary of a compute region
    kTraitCast = 1 << 10,     ///< changes the dtype only
    kTraitUnpack = 1 << 11,   ///< operator.getitem of a multi-output node
    kTraitPack = 1 << 12,     ///< lays several tensors into one that a collective sends
    kTraitHandsOn = 1 << 13,  ///< copies its input unchanged into the memory that it writes
};

enum class CollectiveKind : uint8_t {
    None,
    AllGather,
    AllGatherCoalesced,
    ReduceScatter,
    ReduceScatterCoalesced,
    AllReduce,
    AllReduceCoalesced,
    AllToAll,
    Broadcast,
    Other,
    InFlight ///< launched before the graph (document 004): nobody here knows its kind
};

/// "all_gather", "reduce_scatter", …; coalesced kinds share the name of the plain one.
std::string_view collectiveKindName(CollectiveKind kind);

/// Facts about one operator. Argument positions are -1 where the operator has no such argument.
struct OpTraits {
    uint16_t bits = 0;
    CollectiveKind collective = CollectiveKind::None;
    int8_t input_arg = 0;       ///< position of what a collective sends
    int8_t group_arg = -1;      ///< position of the group: its name, or an object that is one
    int8_t group_size_arg = -1; ///< position of the group size
    int8_t reduce_op_arg = -1;
    std::vector<uint8_t> mutated_args; ///< positions of written arguments
    std::vector<std::string> mutated_kwargs;
    std::vector<std::string> arg_names;   ///< schema order; used to resolve arguments of lossy text forms
    std::vector<std::string> string_args; ///< names of arguments that are strings (printed without quotes)
};

/// Lookup by target. `target` is "aten.mm.default", "operator.getitem", …; overloads fall back to the
/// packet ("aten.mm.out" → "aten.mm"), an in-place name ("aten.add_.Tensor") is mutable by its name.
/// Never null: unknown operators have no bits. Thread-safe, returns stable references.
const OpTraits& opTraits(std::string_view target);

} // namespace gs

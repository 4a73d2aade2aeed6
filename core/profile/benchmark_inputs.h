// Inputs to measure operators with, for every backend alike: tensors are rebuilt from the graph's metadata,
// and operators whose inputs must agree with each other (indices, offsets, split sizes, masks) state in a
// registry how. The registry is data (resources/benchmark_inputs.json, files of the user) plus C++ hooks.
#pragma once

#include "graph/graph.h"

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace gs {

/// What a tensor is filled with. The same specification gives the same values everywhere.
enum class InputFill : uint8_t {
    Zeros,
    Ones,
    Random,     ///< floats in [-1, 1), integers in [0, 8)
    Positive,   ///< floats in [0.5, 1.5): for logarithms, roots, divisors
    Indices,    ///< integers in [0, bound), spread
    Offsets,    ///< ascending ends of even parts of `bound`: the last one is `bound`
    Counts,     ///< sizes of even parts of `bound`: their sum is `bound`
    Mask,       ///< half true
    Permutation ///< of 0 … n-1 along the last dimension
};

/// Whether the fill needs TensorSpec::bound.
bool needsBound(InputFill fill);
/// Whether a value hangs on its place in the tensor; the others may be repeated in any order.
bool hangsOnPlace(InputFill fill);

/// A tensor to make. Sizes and strides in elements, symbols replaced by their hints.
struct TensorSpec {
    DType dtype = DType::Unknown;
    std::vector<int64_t> shape;
    std::vector<int64_t> stride;
    InputFill fill = InputFill::Zeros;
    int64_t bound = 0;

    int64_t numel() const;
    int64_t storageElements() const; ///< from the first to the last element; 0 for an empty tensor
    int64_t storageBytes() const;
    bool operator==(const TensorSpec&) const = default;
};

/// Writes storageBytes() bytes, elements that no index reaches too, unless these are nearly all: then only
/// the others.
void fillTensor(const TensorSpec& spec, std::byte* storage);

/// One argument of a call.
struct InputValue {
    enum class Kind : uint8_t { None, Tensor, Integer, Real, Boolean, DType, Text, List };
    Kind kind = Kind::None;
    uint32_t tensor = 0; ///< Tensor: index into BenchmarkInputs::tensors
    int64_t integer = 0; ///< Integer, Boolean
    double real = 0;     ///< Real
    DType dtype = DType::Unknown;
    std::string text; ///< Text: strings, devices, layouts, memory formats and what else has no value
    std::vector<InputValue> items;
};

/// A call that can be made: arguments in the order of the graph.
struct BenchmarkInputs {
    std::vector<TensorSpec> tensors; ///< one per distinct argument node: a tensor given twice is one
    std::vector<NodeId> nodes;       ///< the node that each tensor stands for
    std::vector<InputValue> args;
    std::map<std::string, InputValue> kwargs;
    std::vector<TensorSpec>
        outputs; ///< what the node yields, members of a list in order; fill has no meaning
    bool internal_collective = false; ///< it communicates: every rank must make the same number of calls

    int64_t bytes() const; ///< of all tensors and outputs
    /// Argument by position or, if there is none there, by name; null if neither.
    const InputValue* find(size_t position, std::string_view name = {}) const;
};

class BenchmarkInputRegistry {
public:
    /// Changes tensors and arguments that were rebuilt from metadata. May refuse with an error.
    using Hook = std::function<Status(const Graph& graph, NodeId node, BenchmarkInputs& inputs)>;

    /// With the entries of resources/benchmark_inputs.json and the hooks that they name.
    BenchmarkInputRegistry();
    /// The registry that the backends of this process ask. Entries are added before backends are made.
    static BenchmarkInputRegistry& global();

    /// Makes `name` known to entries that are added later ({"hook": "name"}).
    void addHook(const std::string& name, Hook hook);
    /// Adds entries; an operator that has one already gets the new one. Nothing is added on an error.
    /// Errors: "not-benchmark-inputs" (names file, operator and field; with the place in the text).
    Status addText(std::string_view json, const std::string& file_name);
    /// Besides: those of readInput.
    Status addFile(const std::string& path);

    /// Whether an entry names this operator ("aten.index.Tensor") or its packet ("aten.index").
    bool knows(std::string_view target) const;
    bool hasInternalCollective(std::string_view target) const;
    /// Errors: "unknown-shape" where a size, dtype or number is not known even by hint; what a hook says.
    Result<BenchmarkInputs> make(const Graph& graph, NodeId node) const;
    /// For nodes that run as one kernel: what they read of other nodes. The first that reads a node says how
    /// it is filled. Errors: those of make().
    Result<std::map<NodeId, TensorSpec>> makeOutside(const Graph& graph,
                                                     const std::vector<NodeId>& nodes) const;

private:
    struct Bound {
        enum class Kind : uint8_t { Number, Size, Value, Output };
        Kind kind = Kind::Number;
        int64_t number = 0;   ///< Number
        int32_t of = 0;       ///< Size: position of a tensor. Value: position of a number
        int64_t dim = 0;      ///< Size, Output (the first one): dimension, negative from the end
        int32_t dim_arg = -1; ///< Size: position of the argument that states the dimension
    };
    struct Rule {
        std::string argument; ///< position in digits, or name
        InputFill fill = InputFill::Zeros;
        Bound bound;
    };
    struct Entry {
        std::vector<Rule> rules;
        Hook hook;
        bool internal_collective = false;
    };
    struct Reader;

    const Entry* entryOf(std::string_view target) const;
    static Status applyRule(const Rule& rule, const OpTraits& traits, BenchmarkInputs& inputs);
    static Result<int64_t> boundOf(const Bound& bound, const BenchmarkInputs& inputs);

    std::map<std::string, Entry, std::less<>> entries_;
    std::map<std::string, Hook> hooks_;
};

} // namespace gs

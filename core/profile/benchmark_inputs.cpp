#include "profile/benchmark_inputs.h"

#include "base/resources.h"
#include "cost/operands.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <optional>
#include <set>
#include <unordered_map>

namespace gs {

namespace {

/// More than any machine has; keeps the arithmetic on sizes far from overflow.
constexpr double kMostElements = 1e15;

Error unknownShape(const Graph& graph, NodeId node, const std::string& what) {
    return {"unknown-shape",
            fmt::format("{} ({}) cannot be measured: {}", graph.name(node), graph.targetText(node), what),
            {},
            "give the graph's symbols hints"};
}

Result<TensorSpec> specOf(const Graph& graph, NodeId node, const TensorMeta& meta) {
    TensorSpec spec;
    spec.dtype = meta.dtype;
    if (meta.dtype == DType::Unknown)
        return unknownShape(graph, node, "the element type of a tensor is not known");
    double elements = 1, reach = 1;
    for (const Dim& dim : meta.shape) {
        if (dim.value < 0)
            return unknownShape(graph, node, "a size has no hint");
        spec.shape.push_back(dim.value);
        elements *= static_cast<double>(std::max<int64_t>(dim.value, 1));
    }
    if (elements > kMostElements)
        return unknownShape(graph, node, "a tensor has more elements than any machine holds");
    const bool stated = meta.has_stride && meta.stride.size() == meta.shape.size();
    spec.stride.assign(spec.shape.size(), 1);
    int64_t dense = 1;
    for (size_t i = spec.shape.size(); i-- > 0;) {
        spec.stride[i] = stated && meta.stride[i].value >= 0 ? meta.stride[i].value : dense;
        dense *= std::max<int64_t>(spec.shape[i], 1);
        reach += static_cast<double>(spec.shape[i]) * static_cast<double>(spec.stride[i]);
    }
    if (reach > kMostElements)
        return unknownShape(graph, node, "a tensor's strides reach further than any machine's memory");
    spec.fill = dtypeIsFloat(meta.dtype)    ? InputFill::Random
                : meta.dtype == DType::Bool ? InputFill::Mask
                                            : InputFill::Zeros;
    return spec;
}

/// Turns arguments of the graph into values; the first fault stays.
class Rebuilder {
public:
    Rebuilder(const Graph& graph, NodeId node, BenchmarkInputs& inputs)
        : graph_(graph), node_(node), inputs_(inputs) {}

    std::optional<Error> error;

    InputValue value(const Arg& arg) {
        InputValue out;
        switch (arg.kind) {
        case Arg::Kind::None:
            break;
        case Arg::Kind::Node:
            return ofNode(arg.node());
        case Arg::Kind::Int:
        case Arg::Kind::Symbol:
            if (arg.kind == Arg::Kind::Symbol && arg.integer == kUnknownSize)
                error = error ? error : unknownShape(graph_, node_, "a symbolic number has no hint");
            out.kind = InputValue::Kind::Integer;
            out.integer = arg.integer;
            break;
        case Arg::Kind::Bool:
            out.kind = InputValue::Kind::Boolean;
            out.integer = arg.integer;
            break;
        case Arg::Kind::Float:
            out.kind = InputValue::Kind::Real;
            out.real = arg.real;
            break;
        case Arg::Kind::DType:
            out.kind = InputValue::Kind::DType;
            out.dtype = dtypeFromName(graph_.text(arg.text));
            break;
        case Arg::Kind::List:
        case Arg::Kind::Slice:
            out.kind = InputValue::Kind::List;
            for (const Arg& child : graph_.children(arg))
                out.items.push_back(value(child));
            break;
        default:
            out.kind = InputValue::Kind::Text;
            out.text = graph_.text(arg.text);
        }
        return out;
    }

    void outputs(const Value& value) {
        if (value.kind == Value::Kind::Tensor) {
            Result<TensorSpec> spec = specOf(graph_, node_, value.tensor);
            if (!spec)
                error = error ? error : spec.error();
            else
                inputs_.outputs.push_back(std::move(spec).value());
        }
        for (const Value& item : value.items)
            outputs(item);
    }

private:
    InputValue ofNode(NodeId id) {
        const Value& value = readValue(graph_, id);
        const auto known = seen_.find(id);
        if (known != seen_.end())
            return known->second;
        return seen_[id] = ofValue(value, id);
    }

    InputValue ofValue(const Value& value, NodeId id) {
        InputValue out;
        switch (value.kind) {
        case Value::Kind::None:
            error = error ? error
                          : unknownShape(graph_, node_, fmt::format("\"{}\" has no shape", graph_.name(id)));
            break;
        case Value::Kind::Tensor: {
            Result<TensorSpec> spec = specOf(graph_, node_, value.tensor);
            if (!spec) {
                error = error ? error : spec.error();
                break;
            }
            out.kind = InputValue::Kind::Tensor;
            out.tensor = static_cast<uint32_t>(inputs_.tensors.size());
            inputs_.tensors.push_back(std::move(spec).value());
            inputs_.nodes.push_back(id);
            break;
        }
        case Value::Kind::List:
            out.kind = InputValue::Kind::List;
            for (const Value& item : value.items)
                out.items.push_back(item.kind == Value::Kind::None ? InputValue() : ofValue(item, id));
            break;
        case Value::Kind::Symbol:
            if (value.number < 0)
                error = error ? error : unknownShape(graph_, node_, "a symbolic number has no hint");
            out.kind = InputValue::Kind::Integer;
            out.integer = static_cast<int64_t>(value.number);
            break;
        case Value::Kind::Number:
            out.kind = InputValue::Kind::Real;
            out.real = value.number;
            break;
        case Value::Kind::Repr:
            out.kind = InputValue::Kind::Text;
            out.text = graph_.text(value.text);
        }
        return out;
    }

    const Graph& graph_;
    NodeId node_;
    BenchmarkInputs& inputs_;
    std::unordered_map<NodeId, InputValue> seen_;
};

/// aten.index and its kin: argument 1 lists one tensor of indices (or a mask) per indexed dimension of
/// argument 0; a mask indexes as many dimensions as it has.
Status indexList(const Graph&, NodeId, BenchmarkInputs& inputs) {
    const InputValue* self = inputs.find(0);
    for (const InputValue& list : inputs.args) {
        if (!self || self->kind != InputValue::Kind::Tensor || list.kind != InputValue::Kind::List)
            continue;
        const std::vector<int64_t>& shape = inputs.tensors[self->tensor].shape;
        size_t dim = 0;
        for (const InputValue& item : list.items) {
            size_t covers = 1;
            if (item.kind == InputValue::Kind::Tensor && dim < shape.size()) {
                TensorSpec& spec = inputs.tensors[item.tensor];
                const bool mask = spec.dtype == DType::Bool;
                spec.fill = mask ? InputFill::Mask : InputFill::Indices;
                spec.bound = shape[dim];
                covers = mask ? spec.shape.size() : 1;
            }
            dim += covers;
        }
        return Unit{};
    }
    return Unit{};
}

std::optional<size_t> asPosition(std::string_view text) {
    size_t value = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (fault != std::errc() || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

/// Split sizes: numbers that share `bound` evenly.
void splitEvenly(InputValue& list, int64_t bound) {
    const int64_t count = static_cast<int64_t>(list.items.size());
    for (int64_t i = 0; i < count; ++i) {
        InputValue& item = list.items[static_cast<size_t>(i)];
        if (item.kind == InputValue::Kind::Tensor)
            continue;
        item = InputValue();
        item.kind = InputValue::Kind::Integer;
        item.integer = bound / count + (i < bound % count ? 1 : 0);
    }
}

} // namespace

int64_t BenchmarkInputs::bytes() const {
    int64_t total = 0;
    for (const TensorSpec& spec : tensors)
        total += spec.storageBytes();
    for (const TensorSpec& spec : outputs)
        total += spec.storageBytes();
    return total;
}

const InputValue* BenchmarkInputs::find(size_t position, std::string_view name) const {
    if (position < args.size())
        return &args[position];
    const auto found = kwargs.find(std::string(name));
    return found == kwargs.end() ? nullptr : &found->second;
}

BenchmarkInputRegistry::BenchmarkInputRegistry() {
    addHook("index_list", indexList);
    addText(resourceText("benchmark_inputs.json"), "benchmark_inputs.json");
}

BenchmarkInputRegistry& BenchmarkInputRegistry::global() {
    static BenchmarkInputRegistry registry;
    return registry;
}

void BenchmarkInputRegistry::addHook(const std::string& name, Hook hook) {
    hooks_[name] = std::move(hook);
}

const BenchmarkInputRegistry::Entry* BenchmarkInputRegistry::entryOf(std::string_view target) const {
    auto found = entries_.find(target);
    const size_t last = target.rfind('.');
    if (found == entries_.end() && last != std::string_view::npos && target.find('.') != last)
        found = entries_.find(target.substr(0, last));
    return found == entries_.end() ? nullptr : &found->second;
}

bool BenchmarkInputRegistry::knows(std::string_view target) const {
    return entryOf(target) != nullptr;
}

bool BenchmarkInputRegistry::hasInternalCollective(std::string_view target) const {
    const Entry* entry = entryOf(target);
    return entry && entry->internal_collective;
}

Result<int64_t> BenchmarkInputRegistry::boundOf(const Bound& bound, const BenchmarkInputs& inputs) {
    if (bound.kind == Bound::Kind::Number)
        return bound.number;
    const InputValue* of = inputs.find(static_cast<size_t>(bound.of));
    if (bound.kind == Bound::Kind::Value) {
        if (of && of->kind == InputValue::Kind::Integer && of->integer >= 0)
            return of->integer;
        return Error{"unknown-shape", fmt::format("argument {} is no number", bound.of), {}, ""};
    }
    int64_t dim = bound.dim;
    if (bound.dim_arg >= 0) {
        const InputValue* stated = inputs.find(static_cast<size_t>(bound.dim_arg), "dim");
        dim = stated && stated->kind == InputValue::Kind::Integer ? stated->integer : dim;
    }
    const TensorSpec* tensor = nullptr;
    if (bound.kind == Bound::Kind::Output && !inputs.outputs.empty())
        tensor = &inputs.outputs.front();
    else if (bound.kind == Bound::Kind::Size && of && of->kind == InputValue::Kind::Tensor)
        tensor = &inputs.tensors[of->tensor];
    if (!tensor)
        return Error{"unknown-shape", fmt::format("argument {} is no tensor", bound.of), {}, ""};
    const int64_t rank = static_cast<int64_t>(tensor->shape.size());
    dim += dim < 0 ? rank : 0;
    if (dim < 0 || dim >= rank)
        return Error{"unknown-shape", fmt::format("a tensor has no dimension {}", dim), {}, ""};
    return tensor->shape[static_cast<size_t>(dim)];
}

Status BenchmarkInputRegistry::applyRule(const Rule& rule, const OpTraits& traits, BenchmarkInputs& inputs) {
    std::optional<size_t> position = asPosition(rule.argument);
    const auto named = std::find(traits.arg_names.begin(), traits.arg_names.end(), rule.argument);
    if (!position && named != traits.arg_names.end())
        position = static_cast<size_t>(named - traits.arg_names.begin());
    InputValue* value = nullptr;
    if (position && *position < inputs.args.size())
        value = &inputs.args[*position];
    else if (const auto kwarg = inputs.kwargs.find(rule.argument); kwarg != inputs.kwargs.end())
        value = &kwarg->second;
    if (!value || value->kind == InputValue::Kind::None) // optional arguments may be absent
        return Unit{};
    int64_t bound = 0;
    if (needsBound(rule.fill)) {
        Result<int64_t> known = boundOf(rule.bound, inputs);
        if (!known)
            return known.error();
        bound = known.value();
    }
    const auto fill = [&](const InputValue& item) {
        if (item.kind != InputValue::Kind::Tensor)
            return;
        inputs.tensors[item.tensor].fill = rule.fill;
        inputs.tensors[item.tensor].bound = bound;
    };
    fill(*value);
    for (const InputValue& item : value->items)
        fill(item);
    if (value->kind == InputValue::Kind::List && rule.fill == InputFill::Counts)
        splitEvenly(*value, bound);
    return Unit{};
}

Result<BenchmarkInputs> BenchmarkInputRegistry::make(const Graph& graph, NodeId node) const {
    BenchmarkInputs inputs;
    Rebuilder rebuild(graph, node, inputs);
    const Node& call = graph.node(node);
    for (const Arg& arg : graph.children(call.args))
        inputs.args.push_back(rebuild.value(arg));
    const auto kwargs = graph.children(call.kwargs);
    for (size_t i = 0; i + 1 < kwargs.size(); i += 2)
        inputs.kwargs[std::string(graph.text(kwargs[i].text))] = rebuild.value(kwargs[i + 1]);
    rebuild.outputs(graph.value(node));
    const Entry* entry = entryOf(graph.targetText(node));
    if (rebuild.error)
        return *rebuild.error;
    if (!entry)
        return inputs;
    inputs.internal_collective = entry->internal_collective;
    for (const Rule& rule : entry->rules) {
        if (Status done = applyRule(rule, graph.target(node).traits, inputs); !done)
            return done.error();
    }
    if (entry->hook) {
        if (Status done = entry->hook(graph, node, inputs); !done)
            return done.error();
    }
    for (const TensorSpec& spec : inputs.tensors) {
        if (spec.fill == InputFill::Indices && spec.bound <= 0 && spec.numel() > 0)
            return unknownShape(graph, node, "it indexes a tensor without elements");
    }
    return inputs;
}

Result<std::map<NodeId, TensorSpec>>
BenchmarkInputRegistry::makeOutside(const Graph& graph, const std::vector<NodeId>& nodes) const {
    const std::set<NodeId> members(nodes.begin(), nodes.end());
    std::map<NodeId, TensorSpec> outside;
    for (const NodeId node : nodes) {
        const Result<BenchmarkInputs> inputs = make(graph, node);
        if (!inputs)
            return inputs.error();
        for (size_t i = 0; i < inputs->nodes.size(); ++i) {
            if (members.count(inputs->nodes[i]) == 0)
                outside.emplace(inputs->nodes[i], inputs->tensors[i]);
        }
    }
    return outside;
}

} // namespace gs

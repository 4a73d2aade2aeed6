#include "host_op.h"

#include <array>
#include <fmt/format.h>

namespace gs::host {

Error notSupported(const std::string& what) {
    return {"not-supported", what, {}, ""};
}

std::string plainName(const Graph& graph, NodeId node) {
    std::string_view target = graph.targetText(node);
    bool overload = false;
    for (const std::string_view prefix :
         {"torch.nn.functional.", "torch._C._nn.", "torchtitan.", "torch.", "aten.", "prims.", "operator."}) {
        if (target.starts_with(prefix)) {
            overload = prefix == "aten." || prefix == "prims." || prefix == "torchtitan.";
            target.remove_prefix(prefix.size());
            break;
        }
    }
    if (overload) {
        const size_t dot = target.find('.');
        if (dot != std::string_view::npos && target.substr(dot) == ".out")
            return {}; // writes an argument that the others do not describe
        target = target.substr(0, dot);
    }
    return target.find('.') == std::string_view::npos ? std::string(target) : std::string();
}

OpCall::OpCall(const Graph& graph, NodeId node, BenchmarkInputs made)
    : name(plainName(graph, node)), inputs(std::move(made)) {
    if (name.size() > 2 && name.back() == '_' && name[name.size() - 2] != '_') {
        in_place = true;
        name.pop_back();
    }
}

void OpCall::materialise() {
    for (const TensorSpec& spec : inputs.tensors)
        tensors.push_back(makeTensor(spec));
    const Tensor* self = tensor(0);
    for (TensorSpec spec : inputs.outputs) {
        spec.fill = InputFill::Zeros;
        outputs.push_back(in_place && self && outputs.empty() ? *self : makeTensor(spec));
    }
}

const Tensor* OpCall::tensor(size_t position, std::string_view arg_name) const {
    const InputValue* found = value(position, arg_name);
    return found && found->kind == InputValue::Kind::Tensor ? &tensors[found->tensor] : nullptr;
}

std::optional<double> OpCall::number(size_t position, std::string_view arg_name) const {
    const InputValue* found = value(position, arg_name);
    if (!found)
        return std::nullopt;
    switch (found->kind) {
    case InputValue::Kind::Integer:
    case InputValue::Kind::Boolean:
        return static_cast<double>(found->integer);
    case InputValue::Kind::Real:
        return found->real;
    default:
        return std::nullopt;
    }
}

int64_t OpCall::integer(size_t position, std::string_view arg_name, int64_t otherwise) const {
    const InputValue* found = value(position, arg_name);
    const bool whole =
        found && (found->kind == InputValue::Kind::Integer || found->kind == InputValue::Kind::Boolean);
    return whole ? found->integer : otherwise;
}

std::vector<int64_t> OpCall::integers(size_t position, std::string_view arg_name) const {
    const InputValue* found = value(position, arg_name);
    std::vector<int64_t> out;
    if (found && found->kind == InputValue::Kind::Integer)
        out.push_back(found->integer);
    if (found && found->kind == InputValue::Kind::List) {
        for (const InputValue& item : found->items)
            out.push_back(item.integer);
    }
    return out;
}

std::vector<const Tensor*> OpCall::tensorList(size_t position) const {
    std::vector<const Tensor*> out;
    const InputValue* found = value(position);
    if (found && found->kind == InputValue::Kind::List) {
        for (const InputValue& item : found->items)
            out.push_back(item.kind == InputValue::Kind::Tensor ? &tensors[item.tensor] : nullptr);
    }
    return out;
}

Maker makerOf(const std::string& name) {
    for (const auto group : {matmulMaker, pointwiseMaker, reductionMaker, copyMaker, indexMaker}) {
        if (const Maker maker = group(name))
            return maker;
    }
    return nullptr;
}

} // namespace gs::host

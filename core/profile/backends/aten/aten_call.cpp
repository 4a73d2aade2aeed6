#include "profile/backends/aten/aten_call.h"

#include "base/units.h"
#include "profile/backends/aten/aten_device.h"

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>

namespace gs::aten {

namespace {

std::optional<at::ScalarType> scalarType(DType dtype) {
    switch (dtype) {
    case DType::Float64:
        return at::kDouble;
    case DType::Float32:
        return at::kFloat;
    case DType::Float16:
        return at::kHalf;
    case DType::BFloat16:
        return at::kBFloat16;
    case DType::Int64:
        return at::kLong;
    case DType::Int32:
        return at::kInt;
    case DType::Int16:
        return at::kShort;
    case DType::Int8:
        return at::kChar;
    case DType::UInt8:
        return at::kByte;
    case DType::Bool:
        return at::kBool;
    case DType::Complex64:
        return at::kComplexFloat;
    case DType::Complex128:
        return at::kComplexDouble;
    default:
        return std::nullopt;
    }
}

/// "aten.add.Tensor" → ("aten::add", "Tensor").
c10::OperatorName operatorName(std::string_view target) {
    const size_t first = target.find('.'), last = target.rfind('.');
    std::string overload;
    std::string_view packet = target;
    if (first != std::string_view::npos && last != first) {
        overload = target.substr(last + 1);
        packet = target.substr(0, last);
    }
    if (overload == "default")
        overload.clear();
    if (packet == "prims.convert_element_type") // torch's own decomposition of it
        return {"aten::_to_copy", ""};
    std::string name(packet.substr(0, first));
    name += "::";
    name += packet.substr(first == std::string_view::npos ? packet.size() : first + 1);
    return {name, overload};
}

class Call final : public AtenOp {
public:
    Call(c10::OperatorHandle handle, at::Device device) : handle_(std::move(handle)), device_(device) {}

    Status makeTensors(const BenchmarkInputs& inputs) {
        for (const TensorSpec& spec : inputs.tensors) {
            const auto type = scalarType(spec.dtype);
            if (!type)
                return Error{
                    "not-supported", "tensors of type " + std::string(dtypeName(spec.dtype)), {}, {}};
            at::Tensor base = at::empty({spec.storageElements()}, at::TensorOptions(*type));
            fillTensor(spec, static_cast<std::byte*>(base.data_ptr()));
            base = base.to(device_);
            tensors_.push_back(base.as_strided(spec.shape, spec.stride));
        }
        return Unit{};
    }

    Status makeArguments(const BenchmarkInputs& inputs, bool converts) {
        const c10::FunctionSchema& schema = handle_.schema();
        for (size_t i = 0; i < schema.arguments().size(); ++i) {
            const c10::Argument& argument = schema.arguments()[i];
            // convert_element_type(a, dtype) is _to_copy(a, dtype=dtype).
            const InputValue* given = converts && argument.name() == "dtype" ? inputs.find(1)
                                      : converts && i > 0                    ? nullptr
                                      : argument.kwarg_only()                ? named(inputs, argument.name())
                                                              : inputs.find(i, argument.name());
            if (!given) {
                if (argument.default_value())
                    arguments_.push_back(*argument.default_value());
                else
                    arguments_.emplace_back();
                continue;
            }
            Result<c10::IValue> value = convert(*given, argument.type(), argument.name());
            if (!value)
                return value.error();
            arguments_.push_back(std::move(value.value()));
        }
        return Unit{};
    }

    Status run() override {
        const c10::InferenceMode quiet; // no autograd: the graph has its own backward
        results_ = arguments_;
        try {
            handle_.callBoxed(&results_);
        } catch (const c10::Error& error) {
            return Error{"not-supported", error.what_without_backtrace(), {}, {}};
        }
        return Unit{};
    }

    int64_t outputElements() const override {
        int64_t count = 0;
        for (const c10::IValue& value : results_)
            count += value.isTensor() && value.toTensor().defined() ? value.toTensor().numel() : 0;
        return count;
    }

private:
    static const InputValue* named(const BenchmarkInputs& inputs, const std::string& name) {
        auto found = inputs.kwargs.find(name);
        return found == inputs.kwargs.end() ? nullptr : &found->second;
    }

    /// Devices, layouts and memory formats have no value of their own: the argument's name tells them.
    Result<c10::IValue> convertText(const std::string& text, const std::string& name) const {
        if (name == "device")
            return c10::IValue(device_);
        if (name == "layout")
            return c10::IValue(static_cast<int64_t>(at::kStrided));
        if (name == "memory_format")
            return c10::IValue(static_cast<int64_t>(text.find("preserve") != std::string::npos
                                                        ? at::MemoryFormat::Preserve
                                                        : at::MemoryFormat::Contiguous));
        return c10::IValue(text);
    }

    Result<c10::IValue> convert(const InputValue& value, const c10::TypePtr& type,
                                const std::string& name) const {
        if (value.kind == InputValue::Kind::None)
            return c10::IValue();
        if (auto optional = type->cast<c10::OptionalType>())
            return convert(value, optional->getElementType(), name);
        const bool real = type->kind() == c10::TypeKind::FloatType;
        if (type->kind() == c10::TypeKind::TensorType && value.kind == InputValue::Kind::Integer)
            return c10::IValue(
                at::scalar_tensor(value.integer, at::kLong)); // a number where a tensor is meant
        if (type->kind() == c10::TypeKind::TensorType && value.kind == InputValue::Kind::Real)
            return c10::IValue(at::scalar_tensor(value.real, at::kFloat));
        switch (value.kind) {
        case InputValue::Kind::Tensor:
            return c10::IValue(tensors_.at(value.tensor));
        case InputValue::Kind::Integer:
            return real ? c10::IValue(static_cast<double>(value.integer))
                        : one(c10::IValue(value.integer), type);
        case InputValue::Kind::Real:
            return c10::IValue(value.real);
        case InputValue::Kind::Boolean:
            return c10::IValue(value.integer != 0);
        case InputValue::Kind::DType:
            if (const auto dtype = scalarType(value.dtype))
                return c10::IValue(static_cast<int64_t>(*dtype));
            return Error{"not-supported", "a type that torch lacks", {}, {}};
        case InputValue::Kind::Text:
            return convertText(value.text, name);
        default:
            return convertList(value, type, name);
        }
    }

    /// A number where a list is meant ("dim: int[1]").
    static c10::IValue one(c10::IValue value, const c10::TypePtr& type) {
        return type->kind() == c10::TypeKind::ListType ? c10::IValue(c10::List<int64_t>({value.toInt()}))
                                                       : std::move(value);
    }

    Result<c10::IValue> convertList(const InputValue& value, const c10::TypePtr& type,
                                    const std::string& name) const {
        auto list = type->cast<c10::ListType>();
        if (!list)
            return Error{"not-supported", "a list for argument " + name, {}, {}};
        c10::TypePtr element = list->getElementType();
        if (element->kind() == c10::TypeKind::SymIntType)
            element = c10::IntType::get();
        c10::impl::GenericList items(element);
        for (const InputValue& item : value.items) {
            Result<c10::IValue> made = convert(item, element, name);
            if (!made)
                return made;
            items.push_back(std::move(made.value()));
        }
        return c10::IValue(items);
    }

    c10::OperatorHandle handle_;
    at::Device device_;
    std::vector<at::Tensor> tensors_;
    torch::jit::Stack arguments_;
    torch::jit::Stack results_;
};

} // namespace

Result<std::unique_ptr<AtenOp>> prepareCall(const Graph& graph, NodeId node, int device) {
    const std::string_view target = graph.targetText(node);
    const auto handle = c10::Dispatcher::singleton().findSchema(operatorName(target));
    if (!handle)
        return Error{"not-supported", fmt::format("torch has no operator {}", target), {}, {}};
    const Result<BenchmarkInputs> inputs = BenchmarkInputRegistry::global().make(graph, node);
    if (!inputs)
        return inputs.error();
    if (inputs->internal_collective)
        return Error{"not-supported", "it communicates: torch's process groups are not started here", {}, {}};
    const int64_t free = freeBytes(device);
    if (inputs->bytes() > free)
        return Error{"would-not-fit",
                     fmt::format("wants {}, {} are free", formatBytes(inputs->bytes()), formatBytes(free)),
                     {},
                     {}};
    const at::Device where =
        device < 0 ? at::Device(at::kCPU) : at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(device));
    auto call = std::make_unique<Call>(*handle, where);
    try {
        if (Status made = call->makeTensors(inputs.value()); !made)
            return made.error();
        if (Status made = call->makeArguments(inputs.value(), target.starts_with("prims.")); !made)
            return made.error();
    } catch (const std::exception& error) {
        return Error{"not-supported", error.what(), {}, {}};
    }
    // Operators that refuse these arguments do so at once.
    if (Status tried = call->run(); !tried)
        return tried.error();
    return std::unique_ptr<AtenOp>(std::move(call));
}

} // namespace gs::aten

#include "eltwise.h"

#include <map>

namespace gs::host {

namespace {

using dnnl::algorithm;

std::optional<double> numberOf(const InputValue* value) {
    if (value && value->kind == InputValue::Kind::Integer)
        return static_cast<double>(value->integer);
    return value && value->kind == InputValue::Kind::Real ? std::optional(value->real) : std::nullopt;
}

} // namespace

std::optional<Eltwise> eltwiseOf(const std::string& name, const BenchmarkInputs& inputs) {
    static const std::map<std::string, Eltwise> kPlain = {
        {"relu", {algorithm::eltwise_relu}},      {"tanh", {algorithm::eltwise_tanh}},
        {"square", {algorithm::eltwise_square}},  {"abs", {algorithm::eltwise_abs}},
        {"sqrt", {algorithm::eltwise_sqrt}},      {"silu", {algorithm::eltwise_swish, 1}},
        {"exp", {algorithm::eltwise_exp}},        {"sigmoid", {algorithm::eltwise_logistic}},
        {"log", {algorithm::eltwise_log}},        {"rsqrt", {algorithm::eltwise_pow, 1, -0.5f}},
        {"neg", {algorithm::eltwise_linear, -1}}, {"reciprocal", {algorithm::eltwise_pow, 1, -1}}};
    if (const auto found = kPlain.find(name); found != kPlain.end())
        return found->second;
    const std::optional<double> number = numberOf(inputs.find(1, "other"));
    const bool scaled = inputs.find(2, "alpha") || inputs.find(2, "rounding_mode");
    if (name == "gelu") {
        const InputValue* how = inputs.find(1, "approximate");
        return Eltwise{how && how->text == "tanh" ? algorithm::eltwise_gelu_tanh
                                                  : algorithm::eltwise_gelu_erf};
    }
    if (name == "pow" && numberOf(inputs.find(1, "exponent")))
        return Eltwise{algorithm::eltwise_pow, 1, static_cast<float>(*numberOf(inputs.find(1, "exponent")))};
    if (!number || scaled)
        return std::nullopt;
    const float value = static_cast<float>(*number);
    if (name == "mul")
        return Eltwise{algorithm::eltwise_linear, value, 0};
    if (name == "div" || name == "truediv")
        return Eltwise{algorithm::eltwise_linear, 1 / value, 0};
    if (name == "add" || name == "sub")
        return Eltwise{algorithm::eltwise_linear, 1, name == "add" ? value : -value};
    return std::nullopt;
}

std::optional<algorithm> binaryOf(const std::string& name) {
    static const std::map<std::string, algorithm> kOps = {
        {"add", algorithm::binary_add},     {"sub", algorithm::binary_sub},
        {"mul", algorithm::binary_mul},     {"div", algorithm::binary_div},
        {"truediv", algorithm::binary_div}, {"maximum", algorithm::binary_max},
        {"minimum", algorithm::binary_min}};
    const auto found = kOps.find(name);
    return found == kOps.end() ? std::nullopt : std::optional(found->second);
}

} // namespace gs::host

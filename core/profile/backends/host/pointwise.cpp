#include "pointwise.h"

#include "dnnl_ops.h"

#include <map>

namespace gs::host {

namespace {

const std::map<std::string, TileOp>& unaryOps() {
    static const std::map<std::string, TileOp> kOps = {
        {"neg", TileOp::Neg},         {"abs", TileOp::Abs},
        {"exp", TileOp::Exp},         {"exp2", TileOp::Exp2},
        {"expm1", TileOp::Expm1},     {"log", TileOp::Log},
        {"log2", TileOp::Log2},       {"log1p", TileOp::Log1p},
        {"sqrt", TileOp::Sqrt},       {"rsqrt", TileOp::Rsqrt},
        {"sigmoid", TileOp::Sigmoid}, {"reciprocal", TileOp::Reciprocal},
        {"tanh", TileOp::Tanh},       {"relu", TileOp::Relu},
        {"silu", TileOp::Silu},       {"square", TileOp::Square},
        {"sin", TileOp::Sin},         {"cos", TileOp::Cos},
        {"erf", TileOp::Erf},         {"floor", TileOp::Floor},
        {"ceil", TileOp::Ceil},       {"round", TileOp::Round},
        {"sign", TileOp::Sign},       {"sgn", TileOp::Sign},
        {"isnan", TileOp::IsNan},     {"logical_not", TileOp::LogicalNot},
        {"_to_copy", TileOp::Copy},   {"convert_element_type", TileOp::Copy},
        {"clone", TileOp::Copy},      {"contiguous", TileOp::Copy},
        {"positive", TileOp::Copy},   {"float", TileOp::Copy},
        {"bfloat16", TileOp::Copy},   {"to", TileOp::Copy},
        {"type_as", TileOp::Copy},    {"lift_fresh_copy", TileOp::Copy},
        {"expand_copy", TileOp::Copy}};
    return kOps;
}

const std::map<std::string, TileOp>& binaryOps() {
    static const std::map<std::string, TileOp> kOps = {{"mul", TileOp::Mul},
                                                       {"maximum", TileOp::Max},
                                                       {"minimum", TileOp::Min},
                                                       {"floor_divide", TileOp::FloorDiv},
                                                       {"floordiv", TileOp::FloorDiv},
                                                       {"remainder", TileOp::Remainder},
                                                       {"mod", TileOp::Remainder},
                                                       {"eq", TileOp::Eq},
                                                       {"ne", TileOp::Ne},
                                                       {"lt", TileOp::Lt},
                                                       {"le", TileOp::Le},
                                                       {"gt", TileOp::Gt},
                                                       {"ge", TileOp::Ge},
                                                       {"bitwise_and", TileOp::And},
                                                       {"bitwise_or", TileOp::Or},
                                                       {"bitwise_xor", TileOp::Xor},
                                                       {"logical_and", TileOp::LogicalAnd},
                                                       {"logical_or", TileOp::LogicalOr},
                                                       {"logical_xor", TileOp::LogicalXor},
                                                       {"silu_backward", TileOp::SiluBackward},
                                                       {"sigmoid_backward", TileOp::SigmoidBackward},
                                                       {"tanh_backward", TileOp::TanhBackward}};
    return kOps;
}

class Emitter {
public:
    Emitter(TileProgram& program, const std::string& name, const BenchmarkInputs& inputs, DType result,
            const RegisterOf& registerOf)
        : program_(program), name_(name), inputs_(inputs), result_(result), registerOf_(registerOf) {}

    /// A tensor or a number.
    int32_t operand(size_t position, std::string_view name = {}) {
        const InputValue* value = inputs_.find(position, name);
        if (!value)
            return -1;
        switch (value->kind) {
        case InputValue::Kind::Tensor:
            return registerOf_(value->tensor);
        case InputValue::Kind::Integer:
        case InputValue::Kind::Boolean:
            return program_.constant(static_cast<double>(value->integer));
        case InputValue::Kind::Real:
            return program_.constant(value->real);
        default:
            return -1;
        }
    }

    double number(size_t position, std::string_view name, double otherwise) const {
        const InputValue* value = inputs_.find(position, name);
        if (!value)
            return otherwise;
        switch (value->kind) {
        case InputValue::Kind::Integer:
        case InputValue::Kind::Boolean:
            return static_cast<double>(value->integer);
        case InputValue::Kind::Real:
            return value->real;
        default:
            return otherwise;
        }
    }

    std::string text(size_t position, std::string_view name) const {
        const InputValue* value = inputs_.find(position, name);
        return value ? value->text : std::string();
    }

    int32_t step(TileOp op, int32_t a, int32_t b = 0, int32_t c = 0, double p = 0) {
        return a < 0 || b < 0 || c < 0 ? -1 : program_.step(op, a, b, c, p);
    }

    int32_t addition(double sign) {
        const int32_t a = operand(0), b = operand(1, "other");
        const double alpha = sign * number(2, "alpha", 1);
        if (alpha == 1)
            return step(TileOp::Add, a, b);
        return alpha == -1 ? step(TileOp::Sub, a, b) : step(TileOp::ScaleAdd, a, b, 0, alpha);
    }

    int32_t division() {
        const std::string rounding = text(2, "rounding_mode");
        const int32_t a = operand(0), b = operand(1, "other");
        if (rounding == "floor")
            return step(TileOp::FloorDiv, a, b);
        const int32_t quotient = step(TileOp::Div, a, b);
        return rounding == "trunc" ? step(TileOp::Truncate, quotient) : quotient;
    }

    int32_t power() {
        const InputValue* exponent = inputs_.find(1, "exponent");
        const int32_t a = operand(0);
        if (!exponent || exponent->kind == InputValue::Kind::Tensor)
            return step(TileOp::Pow, a, operand(1, "exponent"));
        const double p = number(1, "exponent", 0);
        static const std::map<double, TileOp> kShort = {{2, TileOp::Square},   {3, TileOp::Cube},
                                                        {1, TileOp::Copy},     {0.5, TileOp::Sqrt},
                                                        {-0.5, TileOp::Rsqrt}, {-1, TileOp::Reciprocal}};
        const auto found = kShort.find(p);
        return found != kShort.end() ? step(found->second, a) : step(TileOp::Pow, a, program_.constant(p));
    }

    int32_t clamp() {
        int32_t value = operand(0);
        const bool both = name_ == "clamp" || name_ == "clip";
        const auto stated = [&](size_t position, std::string_view arg) {
            const InputValue* bound = inputs_.find(position, arg);
            return bound && bound->kind != InputValue::Kind::None;
        };
        if ((both || name_ == "clamp_min") && stated(1, "min"))
            value = step(TileOp::Max, value, operand(1, "min"));
        if (both && stated(2, "max"))
            value = step(TileOp::Min, value, operand(2, "max"));
        if (name_ == "clamp_max")
            value = step(TileOp::Min, value, operand(1, "max"));
        return value;
    }

    /// Gradient of a mean (reduction 1), a sum (2) or of single squares (0).
    int32_t squaredErrorBackward() {
        const int64_t elements = inputs_.outputs.empty() ? 1 : inputs_.outputs.front().numel();
        const double scale = number(3, "reduction", 1) == 1 ? 2.0 / static_cast<double>(elements) : 2.0;
        const int32_t difference = step(TileOp::Sub, operand(1), operand(2));
        const int32_t slope = step(TileOp::Mul, difference, program_.constant(scale));
        return step(TileOp::Mul, slope, operand(0));
    }

    int32_t gelu(bool backward) {
        const bool tanh = text(backward ? 2 : 1, "approximate") == "tanh";
        if (backward)
            return tanh ? -1 : step(TileOp::GeluBackward, operand(0), operand(1));
        return step(tanh ? TileOp::GeluTanh : TileOp::GeluErf, operand(0));
    }

    /// In two's complement the other bits are -1 - x.
    int32_t complement() {
        if (result_ == DType::Bool)
            return step(TileOp::LogicalNot, operand(0));
        return step(TileOp::Sub, step(TileOp::Neg, operand(0)), program_.constant(1));
    }

    int32_t emit();

private:
    TileProgram& program_;
    const std::string& name_;
    const BenchmarkInputs& inputs_;
    const DType result_;
    const RegisterOf& registerOf_;
};

using Form = int32_t (*)(Emitter&);

/// What is more than one step on its arguments in their order.
const std::map<std::string, Form>& specialForms() {
    static const Form kClamp = [](Emitter& e) { return e.clamp(); };
    static const Form kDiv = [](Emitter& e) { return e.division(); };
    static const std::map<std::string, Form> kForms = {
        {"add", [](Emitter& e) { return e.addition(1); }},
        {"sub", [](Emitter& e) { return e.addition(-1); }},
        {"rsub",
         [](Emitter& e) {
             return e.step(TileOp::ScaleAdd, e.operand(1), e.operand(0), 0, -e.number(2, "alpha", 1));
         }},
        {"div", kDiv},
        {"truediv", kDiv},
        {"pow", [](Emitter& e) { return e.power(); }},
        {"clamp", kClamp},
        {"clip", kClamp},
        {"clamp_min", kClamp},
        {"clamp_max", kClamp},
        {"where", [](Emitter& e) { return e.step(TileOp::Where, e.operand(0), e.operand(1), e.operand(2)); }},
        {"masked_fill",
         [](Emitter& e) { return e.step(TileOp::Where, e.operand(1), e.operand(2, "value"), e.operand(0)); }},
        {"threshold_backward",
         [](Emitter& e) {
             return e.step(TileOp::ThresholdBackward, e.operand(0), e.operand(1), 0,
                           e.number(2, "threshold", 0));
         }},
        {"gelu", [](Emitter& e) { return e.gelu(false); }},
        {"gelu_backward", [](Emitter& e) { return e.gelu(true); }},
        {"addcmul",
         [](Emitter& e) {
             return e.step(TileOp::MulAdd, e.operand(0), e.operand(1), e.operand(2), e.number(3, "value", 1));
         }},
        {"addcdiv",
         [](Emitter& e) {
             return e.step(TileOp::DivAdd, e.operand(0), e.operand(1), e.operand(2), e.number(3, "value", 1));
         }},
        {"lerp",
         [](Emitter& e) { return e.step(TileOp::Lerp, e.operand(0), e.operand(1), e.operand(2, "weight")); }},
        {"native_dropout_backward",
         [](Emitter& e) {
             const int32_t kept = e.step(TileOp::Mul, e.operand(0), e.operand(1));
             return e.step(TileOp::Mul, kept, e.operand(2));
         }},
        {"mse_loss_backward", [](Emitter& e) { return e.squaredErrorBackward(); }},
        {"copy", [](Emitter& e) { return e.step(TileOp::Copy, e.operand(1, "src")); }},
        {"bitwise_not", [](Emitter& e) { return e.complement(); }},
    };
    return kForms;
}

int32_t Emitter::emit() {
    if (const auto unary = unaryOps().find(name_); unary != unaryOps().end())
        return step(unary->second, operand(0));
    if (const auto binary = binaryOps().find(name_); binary != binaryOps().end())
        return step(binary->second, operand(0), operand(1, "other"));
    const auto special = specialForms().find(name_);
    return special == specialForms().end() ? -1 : special->second(*this);
}

/// The real or the imaginary parts of complex numbers: every other float.
Tensor partOf(const Tensor& tensor, bool imaginary) {
    Tensor part = tensor;
    part.spec.dtype = DType::Float32;
    for (int64_t& stride : part.spec.stride)
        stride *= 2;
    if (part.data && imaginary)
        part.data = std::shared_ptr<std::byte>(tensor.data, tensor.data.get() + sizeof(float));
    return part;
}

/// Products and copies of complex numbers (rotary embeddings); other operators of them are not known.
Result<Body> makeComplex(const OpCall& call) {
    const Tensor *a = call.tensor(0), *b = call.tensor(1, "other");
    TileProgram program(call.out().spec.shape);
    const bool copies = call.name == "clone" || call.name == "_to_copy";
    if (!a || a->spec.dtype != DType::Complex64 ||
        !(copies || (call.name == "mul" && b && b->spec.dtype == DType::Complex64)))
        return notSupported("this form of \"" + call.name + "\" is not known for complex numbers");
    int32_t real = program.load(partOf(*a, false)), imaginary = program.load(partOf(*a, true));
    if (real < 0)
        return notSupported("the operand does not fit the result");
    if (!copies) {
        const int32_t c = program.load(partOf(*b, false)), d = program.load(partOf(*b, true));
        if (c < 0)
            return notSupported("the operands do not fit each other");
        const int32_t cross = program.step(TileOp::Mul, real, d),
                      rest = program.step(TileOp::Mul, imaginary, c);
        real = program.step(TileOp::Sub, program.step(TileOp::Mul, real, c),
                            program.step(TileOp::Mul, imaginary, d));
        imaginary = program.step(TileOp::Add, cross, rest);
    }
    if (!program.store(real, partOf(call.out(), false)) ||
        !program.store(imaginary, partOf(call.out(), true)))
        return notSupported("the result has too many dimensions");
    return program.finish();
}

Result<Body> makePointwise(OpCall& call) {
    if (call.outputs.size() != 1)
        return notSupported("a pointwise operator yields one tensor");
    if (call.out().spec.dtype == DType::Complex64)
        return makeComplex(call);
    if (std::optional<Body> body = dnnlPointwise(call))
        return *std::move(body);
    TileProgram program(call.out().spec.shape);
    const int32_t value = emitPointwise(program, call.name, call.inputs, call.out().spec.dtype,
                                        [&](uint32_t index) { return program.load(call.tensors[index]); });
    if (value < 0 || !program.store(value, call.out()))
        return notSupported("this form of \"" + call.name + "\" is not known");
    return program.finish();
}

} // namespace

bool isPointwise(const std::string& name) {
    return unaryOps().contains(name) || binaryOps().contains(name) || specialForms().contains(name);
}

int32_t emitPointwise(TileProgram& program, const std::string& name, const BenchmarkInputs& inputs,
                      DType result, const RegisterOf& registerOf) {
    const int32_t value = Emitter(program, name, inputs, result, registerOf).emit();
    return value < 0 ? -1 : program.cast(value, result);
}

Maker pointwiseMaker(const std::string& name) {
    return isPointwise(name) ? makePointwise : nullptr;
}

} // namespace gs::host

// From a call of an operator and its row in the table to primitives.
#include "profile/backends/kernels/region_plan.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace gs::kernels {

namespace {

/// Type that arithmetic of `dtype` happens in (ATen's opmath_type).
DType computeType(DType dtype) {
    return dtype == DType::BFloat16 || dtype == DType::Float16 ? DType::Float32 : dtype;
}

int promotionRank(DType dtype) {
    if (dtype == DType::Bool)
        return 0;
    if (dtype == DType::Complex64)
        return 300;
    return (dtypeIsFloat(dtype) ? 200 : 100) + static_cast<int>(dtypeBytes(dtype));
}

std::string numberText(double value) {
    if (std::isnan(value))
        return "gs_nan()";
    if (std::isinf(value))
        return value > 0 ? "gs_infinity()" : "-gs_infinity()";
    return fmt::format("{:.17g}", value);
}

constexpr int64_t kFewRows = 256;
constexpr int64_t kLongRow = 8192;
constexpr int64_t kPieces = 256;

/// One call while its row is worked through.
class OperatorCall {
public:
    OperatorCall(PlanBuilder& builder, NodeId node, const OpProgram& program)
        : builder_(builder), graph_(builder.graph()), node_(node), program_(program) {}

    Status run() {
        for (size_t i = 0; i < program_.params.size(); ++i) {
            if (Status status = bind(i); !status)
                return status;
        }
        if (Status status = chooseType(); !status)
            return status;
        for (const OpStep& step : program_.steps) {
            if (!step.guard_param.empty() && words_[step.guard_param] != step.guard_value)
                continue;
            if (Status status = add(step); !status)
                return status;
        }
        if (!any_result_)
            return no("arguments that its row does not know");
        return Unit{};
    }

private:
    Error no(const std::string& why) const { return notSupported(graph_, node_, why); }

    const Arg* argument(size_t index) const {
        const Arg* arg = graph_.arg(node_, index);
        return arg ? arg : graph_.kwarg(node_, program_.params[index].name);
    }

    bool isRead(const std::string& name) const {
        return std::ranges::any_of(program_.steps, [&](const OpStep& step) {
            return step.expression.find("$" + name) != std::string::npos;
        });
    }

    Status bind(size_t index) {
        const OpParam& param = program_.params[index];
        const Arg* arg = argument(index);
        std::string& word = words_[param.name];
        word = param.fallback;
        if (!arg || arg->kind == Arg::Kind::None)
            return param.required && !arg ? Status(no("argument " + param.name + " is missing")) : Unit{};
        switch (arg->kind) {
        case Arg::Kind::Node:
            // zeros_like(self) and copy_(self, src) do not read self.
            return isRead(param.name) ? bindNode(param, arg->node()) : Unit{};
        case Arg::Kind::Int:
        case Arg::Kind::Symbol:
            word = std::to_string(arg->integer);
            return Unit{};
        case Arg::Kind::Bool:
            word = arg->integer ? "1" : "0";
            return Unit{};
        case Arg::Kind::Float:
            word = numberText(arg->real);
            float_scalar_ = true;
            return Unit{};
        case Arg::Kind::String:
            word = graph_.text(arg->text);
            return Unit{};
        case Arg::Kind::List:
            lists_[param.name] = arg;
            return Unit{};
        default:
            return Unit{}; // a dtype or layout: the result's metadata says it
        }
    }

    Status bindNode(const OpParam& param, NodeId node) {
        const Value& value = graph_.value(node);
        if (value.kind == Value::Kind::Number || value.kind == Value::Kind::Symbol) {
            words_[param.name] = numberText(value.number);
            return Unit{};
        }
        if (param.fallback == "null")
            return no("argument " + param.name + " is not supported");
        const Result<PrimId> prim = builder_.valueOf(node);
        if (!prim)
            return prim.error();
        const DType dtype = builder_.prim(prim.value()).dtype;
        if (!isKernelType(dtype))
            return no("operands of type " + std::string(dtypeName(dtype)));
        values_[param.name] = prim.value();
        return Unit{};
    }

    /// ATen promotes the operands; without dimensions they count only where their kind is higher. The result
    /// says the same, except where it is a truth value or of an operator that only converts.
    Status chooseType() {
        const TensorMeta* result = tensorOf(graph_.value(node_), 0);
        if (!result || !isKernelType(result->dtype))
            return no("a result of this type");
        if (result->dtype != DType::Bool) {
            type_ = computeType(result->dtype);
            return Unit{};
        }
        type_ = float_scalar_ ? DType::Float32 : DType::Bool;
        bool any = false;
        for (const OpParam& param : program_.params) {
            auto found = values_.find(param.name);
            if (found == values_.end() || param.own_type)
                continue;
            const DType dtype = computeType(builder_.prim(found->second).dtype);
            if (!any || promotionRank(dtype) > promotionRank(type_))
                type_ = any || !float_scalar_ || dtypeIsFloat(dtype) ? dtype : type_;
            any = true;
        }
        if (!any)
            type_ = DType::Bool;
        // A truth value compared with a number is a number.
        if (type_ == DType::Bool && any && words_.contains("other") && !words_["other"].empty())
            type_ = DType::Int64;
        return Unit{};
    }

    Status add(const OpStep& step) {
        Result<PrimId> made = Error{};
        switch (step.kind) {
        case StepKind::Map:
            made = map(step.expression);
            break;
        case StepKind::Gather:
        case StepKind::Take:
        case StepKind::Column:
            made = indexed(step);
            break;
        default:
            made = reduce(step);
        }
        if (!made)
            return made.error();
        values_[step.name] = made.value();
        if (step.name.starts_with("out"))
            return setResult(step.name.size() > 3 ? static_cast<size_t>(step.name[3] - '0') : 0,
                             made.value());
        return Unit{};
    }

    /// The step's value in the shape and type that the metadata states for this result.
    Status setResult(size_t item, PrimId prim) {
        const TensorMeta* tensor = tensorOf(graph_.value(node_), item);
        any_result_ = true;
        if (!tensor) // a result that the call did not ask for
            return Unit{};
        const Result<Shape> shape = sizesOf(tensor);
        if (!shape)
            return shape.error();
        if (!isKernelType(tensor->dtype) || elements(shape.value()) == 0)
            return no("a result of this type or size");
        if (elements(builder_.prim(prim).shape) != elements(shape.value())) {
            Prim wide; // full(…) and the like compute one number for all elements
            wide.kind = PrimKind::Expand;
            wide.dtype = builder_.prim(prim).dtype;
            wide.shape = shape.value();
            wide.args = {prim};
            if (elements(builder_.prim(prim).shape) != 1)
                return no("a result of another size than its operands give");
            prim = builder_.add(std::move(wide));
        }
        prim = builder_.reshape(prim, shape.value());
        Prim out;
        out.kind = PrimKind::Map;
        out.dtype = tensor->dtype;
        out.compute = builder_.prim(prim).dtype;
        out.rounded = true;
        out.shape = shape.value();
        out.args = {prim};
        out.arg_types = {DType::Unknown};
        out.expression = "{0}";
        const PrimId result = builder_.add(std::move(out));
        builder_.setResult(node_, item, result);
        // Whoever reads the written tensor later gets what was written.
        if (graph_.hasTrait(node_, kTraitMutable) && item == 0) {
            const Arg* written = graph_.arg(node_, 0);
            if (written && written->node() != kNoNode)
                builder_.setResult(written->node(), 0, result);
        }
        return Unit{};
    }

    /// $name → {i} of an argument, a constant, or an index.
    Result<PrimId> map(const std::string& expression) {
        Prim prim;
        prim.dtype = prim.compute = type_;
        std::string out;
        for (size_t at = 0; at < expression.size();) {
            if (expression[at] != '$') {
                out += expression[at++];
                continue;
            }
            size_t end = ++at;
            while (end < expression.size() && (std::isalnum(expression[end]) || expression[end] == '_'))
                ++end;
            const std::string name = expression.substr(at, end - at);
            at = end;
            const Result<std::string> text = operand(prim, name);
            if (!text)
                return text.error();
            out += text.value();
        }
        prim.expression = std::move(out);
        for (PrimId arg : prim.args) {
            const Status status = widen(prim.shape, builder_.prim(arg).shape);
            if (!status)
                return status.error();
        }
        return builder_.add(std::move(prim));
    }

    Status widen(Shape& shape, const Shape& by) const {
        if (by.size() > shape.size())
            shape.insert(shape.begin(), by.size() - shape.size(), 1);
        for (size_t d = 0; d < by.size(); ++d) {
            int64_t& size = shape[shape.size() - by.size() + d];
            if (by[d] != 1 && size != 1 && size != by[d])
                return no("operands whose sizes do not fit each other");
            size = size == 1 ? by[d] : size;
        }
        return Unit{};
    }

    Result<std::string> operand(Prim& prim, const std::string& name) {
        if (auto found = values_.find(name); found != values_.end()) {
            const OpParam* param = program_.param(name);
            const bool keep = param ? param->own_type : false;
            for (size_t i = 0; i < prim.args.size(); ++i) {
                if (prim.args[i] == found->second)
                    return fmt::format("{{{}}}", i);
            }
            prim.args.push_back(found->second);
            prim.arg_types.push_back(keep ? DType::Unknown : type_);
            return fmt::format("{{{}}}", prim.args.size() - 1);
        }
        if (name == "count")
            return constant(std::to_string(count_));
        if (name.starts_with("index")) {
            const Result<Shape> shape = sizesOf(tensorOf(graph_.value(node_), 0));
            const auto dim = static_cast<size_t>(std::atoi(name.c_str() + 5));
            if (!shape || dim >= shape->size())
                return no("an index along a dimension that it lacks");
            Status status = widen(prim.shape, shape.value());
            return status ? Result<std::string>(fmt::format("{{i{}}}", dim)) : status.error();
        }
        auto word = words_.find(name);
        if (word == words_.end() || word->second.empty())
            return no("argument " + name + " is missing");
        if (word->second == "none" || word->second == "tanh" || word->second == "floor" ||
            word->second == "trunc")
            return "gs_" + word->second + "_mode";
        return constant(word->second);
    }

    /// {c} stands for the C type that the step computes in.
    Result<std::string> constant(const std::string& value) const {
        if (value == "lowest" || value == "highest" || value == "largest" || value == "smallest")
            return fmt::format("gs_{}<{{c}}>()", value);
        return fmt::format("({{c}})({})", value);
    }

    /// Which dimensions of a tensor with `rank` dimensions a step takes together.
    Result<std::vector<bool>> maskOf(const OpStep& step, size_t rank) {
        std::string name = step.dims;
        if (name == "all")
            return std::vector<bool>(rank, true);
        std::vector<bool> mask(rank, false);
        if (const size_t space = name.find(' '); space != std::string::npos) {
            const bool inner = name.starts_with("inner");
            const auto list = lists_.find(name.substr(space + 1));
            if (list == lists_.end() || list->second->count > rank)
                return no("sizes that are no list");
            for (size_t d = 0; d < rank; ++d)
                mask[d] = (d >= rank - list->second->count) == inner;
            return mask;
        }
        std::vector<int64_t> dims;
        if (auto list = lists_.find(name); list != lists_.end()) {
            for (const Arg& item : graph_.children(*list->second))
                dims.push_back(item.integer);
        } else if (const std::string& word = words_[name]; !word.empty() && word != "[]") {
            dims.push_back(std::stoll(word));
        }
        for (int64_t dim : dims) {
            dim = dim < 0 ? dim + static_cast<int64_t>(rank) : dim;
            if (rank == 0)
                continue;
            if (dim < 0 || dim >= static_cast<int64_t>(rank))
                return no("a dimension out of range");
            mask[static_cast<size_t>(dim)] = true;
        }
        return dims.empty() ? std::vector<bool>(rank, true) : mask;
    }

    Result<PrimId> reduce(const OpStep& step) {
        Result<PrimId> source = map(step.expression);
        if (!source)
            return source;
        Shape shape = builder_.prim(source.value()).shape;
        const Result<std::vector<bool>> mask = maskOf(step, shape.size());
        if (!mask)
            return mask.error();
        count_ = 1;
        Prim prim;
        prim.kind = PrimKind::Reduce;
        prim.reduce = step.kind;
        prim.mask = mask.value();
        prim.dtype = prim.compute = type_;
        prim.args = {source.value()};
        for (size_t d = 0; d < shape.size(); ++d) {
            count_ *= prim.mask[d] ? shape[d] : 1;
            shape[d] = prim.mask[d] ? 1 : shape[d];
        }
        prim.shape = shape;
        if (count_ == 1)
            return source;
        const bool trailing = std::ranges::is_sorted(prim.mask);
        if (trailing && elements(shape) < kFewRows && count_ > kLongRow && count_ % kPieces == 0)
            return reduceInPieces(std::move(prim), source.value());
        return builder_.add(std::move(prim));
    }

    /// Few long rows would leave most of a device idle: pieces of them first, then the pieces' results.
    PrimId reduceInPieces(Prim prim, PrimId source) {
        const Shape shape = prim.shape;
        const int64_t rows = elements(shape);
        prim.args = {builder_.reshape(source, {rows, kPieces, count_ / kPieces})};
        prim.mask = {false, false, true};
        prim.shape = {rows, kPieces, 1};
        Prim joined = prim;
        joined.args = {builder_.add(std::move(prim))};
        joined.mask = {false, true, false};
        joined.shape = {rows, 1, 1};
        return builder_.reshape(builder_.add(std::move(joined)), shape);
    }

    Result<PrimId> indexed(const OpStep& step) {
        std::vector<PrimId> args;
        for (const OpParam& param : program_.params) {
            if (values_.contains(param.name) && step.expression.find("$" + param.name) != std::string::npos)
                args.push_back(values_[param.name]);
        }
        const std::string& word = words_.contains(step.dims) ? words_[step.dims] : step.dims;
        if (args.empty() || args.size() != (step.kind == StepKind::Column ? 1u : 2u) || word.empty())
            return no("operands that are no tensors");
        const auto rank = static_cast<int64_t>(builder_.prim(args[0]).shape.size());
        const int64_t dim = std::stoll(word) + (std::stoll(word) < 0 ? rank : 0);
        if (dim < 0 || dim > rank)
            return no("a dimension out of range");
        return step.kind == StepKind::Column ? column(args[0], dim) : readAt(step.kind, args, dim);
    }

    Result<PrimId> column(PrimId source, int64_t dim) {
        Shape shape = builder_.prim(source).shape;
        shape.insert(shape.begin() + dim, 1);
        return builder_.reshape(source, shape);
    }

    Result<PrimId> readAt(StepKind kind, const std::vector<PrimId>& args, int64_t dim) {
        const Shape from = builder_.prim(args[0]).shape;
        Prim prim;
        prim.dim = static_cast<size_t>(dim);
        prim.dtype = builder_.prim(args[0]).dtype;
        prim.args = args;
        if (prim.dim >= from.size() || promotionRank(builder_.prim(args[1]).dtype) / 100 != 1)
            return no("indices that are no integers");
        const Shape index = builder_.prim(args[1]).shape;
        if (kind == StepKind::Take) {
            prim.kind = PrimKind::Take;
            prim.shape.assign(from.begin(), from.begin() + dim);
            prim.shape.insert(prim.shape.end(), index.begin(), index.end());
            prim.shape.insert(prim.shape.end(), from.begin() + dim + 1, from.end());
            return builder_.add(std::move(prim));
        }
        prim.kind = PrimKind::Gather;
        if (index.size() + 1 == from.size()) {
            Shape wide = index;
            wide.insert(wide.begin() + dim, 1);
            prim.args[1] = builder_.reshape(args[1], wide);
        }
        prim.shape = builder_.prim(prim.args[1]).shape;
        if (prim.shape.size() != from.size())
            return no("indices of another rank");
        const PrimId made = builder_.add(std::move(prim));
        return builder_.reshape(made, index);
    }

    PlanBuilder& builder_;
    const Graph& graph_;
    NodeId node_;
    const OpProgram& program_;
    std::map<std::string, PrimId> values_;
    std::map<std::string, std::string> words_;
    std::map<std::string, const Arg*> lists_;
    DType type_ = DType::Unknown;
    bool float_scalar_ = false;
    bool any_result_ = false;
    int64_t count_ = 1;
};

} // namespace

Status addOperator(PlanBuilder& builder, NodeId node) {
    const Graph& graph = builder.graph();
    if (const OpProgram* program = findProgram(graph.targetText(node)))
        return OperatorCall(builder, node, *program).run();
    return addMovement(builder, node);
}

} // namespace gs::kernels

#include "profile/backends/kernels/kernel_writer.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>

namespace gs::kernels {

std::string_view memoryType(DType dtype) {
    switch (dtype) {
    case DType::Float64:
        return "double";
    case DType::Float16:
        return "gs_half";
    case DType::BFloat16:
        return "gs_bfloat16";
    case DType::Int64:
        return "gs_long";
    case DType::Int32:
        return "int";
    case DType::Int16:
        return "short";
    case DType::Int8:
        return "signed char";
    case DType::UInt8:
        return "unsigned char";
    case DType::Bool:
        return "bool";
    case DType::Complex64:
        return "gs_complex";
    default:
        return "float";
    }
}

std::string_view registerType(DType dtype) {
    return dtype == DType::Float16 || dtype == DType::BFloat16 ? "float" : memoryType(dtype);
}

KernelWriter::KernelWriter(const RegionPlan& plan, const std::vector<KernelTensor>& tensors,
                           const Storage& storage, const KernelRequest& request)
    : plan_(plan), tensors_(tensors), storage_(storage), request_(request),
      own_(request.own.begin(), request.own.end()) {}

bool KernelWriter::isFullSize(PrimId id) const {
    return elements(plan_.prims[id].shape) == request_.domain.rows * request_.domain.row_size;
}

/// Number of passes over the row that must be done before a value is known.
int KernelWriter::level(PrimId id) {
    if (auto found = levels_.find(id); found != levels_.end())
        return found->second;
    int result = 0;
    const bool stored_before =
        storage_.contains(id) && !ownsReduction(id) && !std::ranges::count(request_.stores, id);
    if (!stored_before) {
        for (PrimId arg : plan_.prims[id].args)
            result = std::max(result, level(arg));
        result += ownsReduction(id) ? 1 : 0;
    }
    return levels_[id] = result;
}

/// Index of a tensor of this shape whose kept dimensions count rows and whose reduced ones count elements.
Index KernelWriter::rootIndex(const Shape& shape, const std::vector<bool>& mask) const {
    Shape kept, taken;
    for (size_t d = 0; d < shape.size(); ++d)
        (mask[d] ? taken : kept).push_back(shape[d]);
    const Index rows = split(whole("x", request_.domain.rows), kept);
    const Index items = split(whole("r", request_.domain.row_size), taken);
    Index index;
    for (size_t d = 0, k = 0, t = 0; d < shape.size(); ++d)
        index.push_back(mask[d] ? items[t++] : rows[k++]);
    return index;
}

Index KernelWriter::storeIndex(PrimId id) const {
    const Shape& shape = plan_.prims[id].shape;
    if (request_.domain.row_size == 1 || !isFullSize(id))
        return split(whole("x", request_.domain.rows), shape);
    return reshaped(rootIndex(request_.domain.shape, request_.domain.mask), shape);
}

std::string KernelWriter::pointer(uint32_t tensor) {
    if (!std::ranges::count(parameters_, tensor))
        parameters_.push_back(tensor);
    return fmt::format("p{}", tensor);
}

/// Position in memory; `inner` stands for the innermost loop variable.
std::string KernelWriter::offset(uint32_t tensor, const Index& index, const std::string& inner) const {
    const KernelTensor& of = tensors_[tensor];
    std::string out;
    for (size_t d = 0; d < index.size();) {
        // Neighbouring dimensions without gaps between them are one number.
        Index group{index[d]};
        size_t last = d;
        while (last + 1 < index.size() && of.strides[last] == of.strides[last + 1] * of.shape[last + 1])
            group.push_back(index[++last]);
        DimIndex digits = flatten(group);
        for (Digit& digit : digits)
            digit.base = digit.base == inner_ ? inner : digit.base;
        if (!digits.empty() && of.strides[last] != 0) {
            out += out.empty() ? "" : " + ";
            out +=
                of.strides[last] == 1 ? text(digits) : fmt::format("{} * {}", text(digits), of.strides[last]);
        }
        d = last + 1;
    }
    return out.empty() ? "0" : out;
}

/// Whether elements at neighbouring values of the innermost variable are neighbours in memory, aligned to a
/// vector.
bool KernelWriter::isContiguous(uint32_t tensor, const Index& index) const {
    const KernelTensor& of = tensors_[tensor];
    if (vector_ == 1 || !scope_.in_row || scope_.guarded)
        return false;
    bool counts = false;
    for (size_t d = 0; d < index.size(); ++d) {
        int64_t stride = of.strides[d];
        for (size_t i = index[d].size(); i-- > 0;) {
            const Digit& digit = index[d][i];
            if (digit.base == inner_ && digit.div == 1) {
                if (stride != 1 || digit.size % vector_ != 0)
                    return false;
                counts = true;
            } else if (digit.base == "x" || digit.base == "r") {
                if (stride % vector_ != 0 || (digit.base == inner_ && digit.div % vector_ != 0))
                    return false;
            } else {
                return false;
            }
            stride *= digit.size;
        }
    }
    return counts;
}

std::string KernelWriter::load(uint32_t tensor, const Index& index) {
    const std::string at = offset(tensor, index, inner_);
    const std::string key = fmt::format("load {} {}", tensor, at);
    if (auto found = scope_.known.find(key); found != scope_.known.end())
        return found->second;
    const std::string name = variable("v");
    const std::string_view type = registerType(tensors_[tensor].dtype);
    if (isContiguous(tensor, index)) {
        const std::string vec = variable("w");
        scope_.before += fmt::format("        const auto {} = gs_load<{}>({} + ({}));\n", vec, vector_,
                                     pointer(tensor), offset(tensor, index, inner_ + "0"));
        scope_.body += fmt::format("            const {} {} = gs_get({}.at[j]);\n", type, name, vec);
    } else {
        scope_.body +=
            fmt::format("            const {} {} = gs_get({}[{}]);\n", type, name, pointer(tensor), at);
    }
    return scope_.known[key] = name;
}

std::string KernelWriter::reduced(PrimId id, const Index& index) {
    if (flatten(index) != whole("x", request_.domain.rows))
        apart_ = true;
    return fmt::format("red{}", id);
}

std::string KernelWriter::value(PrimId id, const Index& index) {
    const Prim& prim = plan_.prims[id];
    if (ownsReduction(id))
        return reduced(id, index);
    const bool here = std::ranges::count(request_.stores, id) > 0;
    if (auto stored = storage_.find(id); stored != storage_.end() && !here) {
        if (prim.kind != PrimKind::Input)
            loaded_.insert(id);
        return load(stored->second, index);
    }
    if (prim.kind == PrimKind::Reduce) { // of another kernel, not kept anywhere yet
        loaded_.insert(id);
        return "0";
    }
    std::string key = std::to_string(id);
    for (const DimIndex& dim : index)
        key += " " + text(dim);
    if (auto found = scope_.known.find(key); found != scope_.known.end())
        return found->second;
    const std::string result = computed(prim, index);
    return scope_.known[key] = result;
}

std::string KernelWriter::computed(const Prim& prim, const Index& index) {
    const auto source = [&]() -> const Prim& { return plan_.prims[prim.args[0]]; };
    switch (prim.kind) {
    case PrimKind::Map:
        return mapped(prim, index);
    case PrimKind::Reshape:
        return value(prim.args[0], reshaped(index, source().shape));
    case PrimKind::Permute: {
        Index from(index.size());
        for (size_t d = 0; d < index.size(); ++d)
            from[prim.order[d]] = index[d];
        return value(prim.args[0], from);
    }
    case PrimKind::Expand:
        return value(prim.args[0], broadcast(index, source().shape));
    case PrimKind::Slice: {
        Index from = index;
        const int64_t size = source().shape[prim.dim];
        if (size != prim.shape[prim.dim] || prim.step != 1)
            from[prim.dim] =
                whole(fmt::format("({} + {} * {})", prim.start, text(index[prim.dim]), prim.step), size);
        return value(prim.args[0], from);
    }
    case PrimKind::Gather:
    case PrimKind::Take: {
        const bool take = prim.kind == PrimKind::Take;
        const size_t rank = take ? plan_.prims[prim.args[1]].shape.size() : 1;
        const Index at = take ? Index(index.begin() + static_cast<std::ptrdiff_t>(prim.dim),
                                      index.begin() + static_cast<std::ptrdiff_t>(prim.dim + rank))
                              : index;
        const std::string selected = fmt::format("(I){}", value(prim.args[1], at));
        Index from(index.begin(), index.begin() + static_cast<std::ptrdiff_t>(prim.dim));
        from.push_back(whole("(" + selected + ")", source().shape[prim.dim]));
        from.insert(from.end(), index.begin() + static_cast<std::ptrdiff_t>(prim.dim + rank), index.end());
        return value(prim.args[0], from);
    }
    case PrimKind::Parts: {
        const std::string whole_value = value(prim.args[0], Index(index.begin(), index.end() - 1));
        return fmt::format("gs_part({}, {})", whole_value, text(index.back()));
    }
    case PrimKind::FromParts: {
        Index real = index, imaginary = index;
        real.push_back(whole("0", 2));
        imaginary.push_back(whole("1", 2));
        const std::string first = value(prim.args[0], real);
        return fmt::format("gs_complex({}, {})", first, value(prim.args[0], imaginary));
    }
    case PrimKind::Conj:
        return fmt::format("gs_conj({})", value(prim.args[0], index));
    case PrimKind::Pad:
        return padded(prim, index);
    case PrimKind::Concat:
        return concatenated(prim, index);
    default:
        return "0";
    }
}

std::string KernelWriter::mapped(const Prim& prim, const Index& index) {
    std::vector<std::string> args;
    for (size_t i = 0; i < prim.args.size(); ++i) {
        const Prim& arg = plan_.prims[prim.args[i]];
        std::string operand = value(prim.args[i], broadcast(index, arg.shape));
        const DType wanted = prim.arg_types[i];
        if (wanted != DType::Unknown && registerType(wanted) != registerType(arg.dtype))
            operand = fmt::format("gs_cast<{}>({})", registerType(wanted), operand);
        args.push_back(std::move(operand));
    }
    std::string out;
    const std::string& text_of = prim.expression;
    for (size_t at = 0; at < text_of.size(); ++at) {
        if (text_of[at] != '{') {
            out += text_of[at];
            continue;
        }
        const size_t end = text_of.find('}', at);
        const std::string token = text_of.substr(at + 1, end - at - 1);
        if (token == "c")
            out += registerType(prim.compute);
        else if (token[0] == 'i')
            out += fmt::format("((gs_long){})", text(index[std::stoul(token.substr(1))]));
        else
            out += args[std::stoul(token)];
        at = end;
    }
    out = fmt::format("gs_cast<{}>({})", registerType(prim.dtype), out);
    if (prim.rounded && (prim.dtype == DType::BFloat16 || prim.dtype == DType::Float16))
        out = fmt::format("gs_round<{}>({})", memoryType(prim.dtype), out);
    const std::string name = variable("t");
    scope_.body += fmt::format("            const {} {} = {};\n", registerType(prim.dtype), name, out);
    return name;
}

/// `target` gets the value only where the condition holds; what is known inside is forgotten after it.
std::string KernelWriter::guardedValue(PrimId id, const Index& index, const std::string& target,
                                       const std::string& condition) {
    Scope outer = scope_;
    scope_.body.clear();
    scope_.guarded = true;
    const std::string inside = value(id, index);
    const std::string statements = std::move(scope_.body);
    scope_ = std::move(outer);
    return fmt::format("            if ({}) {{\n{}            {} = {};\n            }}\n", condition,
                       statements, target, inside);
}

std::string KernelWriter::padded(const Prim& prim, const Index& index) {
    const std::string name = variable("t");
    const int64_t size = plan_.prims[prim.args[0]].shape[prim.dim];
    const std::string at = fmt::format("({} - {})", text(index[prim.dim]), prim.start);
    Index from = index;
    from[prim.dim] = whole(at, size);
    scope_.body += fmt::format("            {} {} = {};\n", registerType(prim.dtype), name, prim.expression);
    scope_.body += guardedValue(prim.args[0], from, name, fmt::format("{0} >= 0 && {0} < {1}", at, size));
    return name;
}

std::string KernelWriter::concatenated(const Prim& prim, const Index& index) {
    const std::string name = variable("t");
    const std::string at = text(index[prim.dim]);
    scope_.body += fmt::format("            {} {} = 0;\n", registerType(prim.dtype), name);
    int64_t start = 0;
    for (PrimId arg : prim.args) {
        const int64_t size = plan_.prims[arg].shape[prim.dim];
        Index from = index;
        from[prim.dim] = whole(fmt::format("({} - {})", at, start), size);
        scope_.body +=
            guardedValue(arg, from, name, fmt::format("{0} >= {1} && {0} < {2}", at, start, start + size));
        start += size;
    }
    return name;
}

void KernelWriter::store(PrimId id, uint32_t tensor, const Index& index, const std::string& what) {
    const std::string stored = fmt::format("gs_put<{}>({})", memoryType(tensors_[tensor].dtype), what);
    if (!isContiguous(tensor, index)) {
        scope_.body +=
            fmt::format("            {}[{}] = {};\n", pointer(tensor), offset(tensor, index, inner_), stored);
        return;
    }
    const std::string vec = fmt::format("s{}", id);
    scope_.before +=
        fmt::format("        gs_vec<{}, {}> {};\n", memoryType(tensors_[tensor].dtype), vector_, vec);
    scope_.body += fmt::format("            {}.at[j] = {};\n", vec, stored);
    scope_.after += fmt::format("        gs_store<{}>({} + ({}), {});\n", vector_, pointer(tensor),
                                offset(tensor, index, inner_ + "0"), vec);
}

void KernelWriter::store(PrimId id, const Index& index) {
    const Prim& prim = plan_.prims[id];
    // Computed here even if another place could load it: this is where it comes from.
    const std::string what = ownsReduction(id)              ? reduced(id, index)
                             : prim.kind == PrimKind::Input ? load(storage_.at(id), index)
                                                            : value(id, index);
    store(id, storage_.at(id), index, what);
}

/// As many elements as fit 16 bytes, where the loop's length allows it.
void KernelWriter::chooseVector() {
    const Domain& domain = request_.domain;
    inner_ = domain.row_size == 1 ? "x" : "r";
    const int64_t length = domain.row_size == 1 ? domain.rows : domain.row_size;
    int64_t widest = 2;
    for (PrimId id : request_.stores)
        widest = std::max(widest, dtypeBytes(plan_.prims[id].dtype));
    for (const PlanTensor& input : plan_.inputs)
        widest = std::max(widest, dtypeBytes(plan_.prims[input.prim].dtype));
    vector_ = domain.columns ? 1 : 16 / widest;
    while (vector_ > 1 && length % vector_ != 0)
        vector_ /= 2;
    constexpr int64_t kThreads = 256;
    if (domain.row_size == 1) {
        lanes_ = kThreads;
    } else if (domain.columns) {
        lanes_ = static_cast<int32_t>(std::min<int64_t>(32, std::bit_ceil(uint64_t(domain.rows))));
        row_threads_ = 512 / lanes_;
    } else {
        const auto items = static_cast<uint64_t>(domain.row_size / vector_);
        row_threads_ = static_cast<int32_t>(std::min<uint64_t>(512, std::bit_floor(items)));
        lanes_ = static_cast<int32_t>(std::max<int64_t>(1, kThreads / row_threads_));
    }
}

} // namespace gs::kernels

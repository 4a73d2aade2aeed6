// The loops of a kernel and what stands around them.
#include "profile/backends/kernels/kernel_writer.h"

#include <algorithm>
#include <fmt/format.h>

namespace gs::kernels {

namespace {

std::string_view reducerOf(StepKind kind) {
    switch (kind) {
    case StepKind::Prod:
        return "gs_prod_of";
    case StepKind::Max:
        return "gs_max_of";
    case StepKind::Min:
        return "gs_min_of";
    default:
        return "gs_sum_of";
    }
}

} // namespace

std::string KernelWriter::rowLoop(Scope scope) const {
    const bool rows = request_.domain.row_size == 1;
    std::string out;
    if (rows)
        out += "    if (live) {\n";
    else
        out += fmt::format("    for (I r0 = live ? rt * {0} : {1}; r0 < {1}; r0 += kRowThreads * {0}) {{\n",
                           vector_, request_.domain.row_size);
    out += scope.before;
    out += fmt::format("        GS_UNROLL\n        for (int j = 0; j < {}; ++j) {{\n", vector_);
    out += fmt::format("            const I {0} = {0}0 + j;\n            (void){0};\n", inner_);
    out += scope.body + "        }\n" + scope.after + "    }\n";
    return out;
}

/// One loop over the row: the reductions of this level, and results that need only earlier ones.
void KernelWriter::reducePass(int pass) {
    scope_ = {};
    scope_.in_row = true;
    std::string before, after;
    for (PrimId id : request_.own) {
        if (level(id) != pass)
            continue;
        const Prim& prim = plan_.prims[id];
        const Prim& arg = plan_.prims[prim.args[0]];
        const std::string_view type = registerType(prim.dtype), reducer = reducerOf(prim.reduce);
        before += fmt::format("    {} acc{} = {}::first<{}>();\n", type, id, reducer, type);
        const std::string what = value(prim.args[0], rootIndex(arg.shape, prim.mask));
        scope_.body += fmt::format("            acc{0} = {1}::of(acc{0}, gs_cast<{2}>({3}));\n", id, reducer,
                                   type, what);
        after += fmt::format("    const {0} red{1} = gs_together<{2}, kRowThreads, kLanes, {3}>(acc{1}, "
                             "thread);\n    (void)red{1};\n",
                             type, id, reducer, request_.domain.columns ? "true" : "false");
    }
    bool any = !before.empty();
    for (PrimId id : request_.stores) {
        if (ownsReduction(id) || !isFullSize(id) || level(id) != pass - 1)
            continue;
        store(id, storeIndex(id));
        any = true;
    }
    if (any)
        body_ += before + rowLoop(std::move(scope_)) + after;
}

/// Results with one element per row.
void KernelWriter::rowStores() {
    scope_ = {};
    for (PrimId id : request_.stores) {
        if (ownsReduction(id) || !isFullSize(id))
            store(id, storeIndex(id));
    }
    if (!scope_.body.empty())
        body_ += "    if (live && rt == 0) {\n" + scope_.body + "    }\n";
}

std::string KernelWriter::head() const {
    const Domain& domain = request_.domain;
    int64_t most = domain.rows * domain.row_size;
    for (uint32_t tensor : parameters_)
        most = std::max(most, tensors_[tensor].elements());
    // Room for one more step of the widest loop.
    const bool narrow = most < (int64_t{1} << 31) - (int64_t{1} << 16);
    std::string out = fmt::format("    typedef {} I;\n", narrow ? "int" : "gs_long");
    out += fmt::format("    constexpr int kLanes = GS_THREADS({}), kRowThreads = GS_THREADS({});\n", lanes_,
                       row_threads_);
    out += "    (void)kRowThreads;\n";
    if (domain.row_size == 1) {
        out += fmt::format(
            "    const I x0 = ((I)block * kLanes + thread) * {0};\n    const bool live = x0 < {1};\n",
            vector_, domain.rows);
        return out;
    }
    out += domain.columns ? "    const int xt = thread % kLanes, rt = thread / kLanes;\n"
                          : "    const int rt = thread % kRowThreads, xt = thread / kRowThreads;\n";
    out +=
        fmt::format("    const I x = (I)block * kLanes + xt;\n    const bool live = x < {};\n", domain.rows);
    return out;
}

Kernel KernelWriter::finish() {
    const Domain& domain = request_.domain;
    const int64_t items = domain.row_size == 1 ? domain.rows / vector_ : domain.rows;
    Kernel kernel;
    kernel.name = request_.name;
    kernel.tensors = parameters_;
    kernel.threads = lanes_ * row_threads_;
    kernel.blocks = (items + lanes_ - 1) / lanes_;
    std::string parameters, names, casts;
    for (size_t i = 0; i < parameters_.size(); ++i) {
        const KernelTensor& tensor = tensors_[parameters_[i]];
        const bool reads = !std::ranges::any_of(request_.stores, [&](PrimId id) {
            return storage_.at(id) == parameters_[i] && plan_.prims[id].kind != PrimKind::Input;
        });
        const std::string type =
            fmt::format("{}{}* GS_RESTRICT", reads ? "const " : "", memoryType(tensor.dtype));
        const char* comma = i > 0 ? ", " : "";
        parameters += fmt::format("{}{} p{}", comma, type, parameters_[i]);
        names += fmt::format("{}p{}", comma, parameters_[i]);
        casts += fmt::format("{}({}*)p[{}]", comma, memoryType(tensor.dtype), i);
    }
    kernel.source = fmt::format("GS_BODY void {0}_body(gs_long block, int thread, {1}) {{\n{2}{3}}}\n"
                                "GS_KERNEL({0}, {4}, {5}, GS_ARGS({1}), GS_ARGS({6}), GS_ARGS({7}))\n",
                                kernel.name, parameters, head(), body_, kernel.threads, items, names, casts);
    return kernel;
}

std::optional<Kernel> KernelWriter::write() {
    chooseVector();
    int last_level = 0;
    for (PrimId id : request_.own)
        last_level = std::max(last_level, level(id));
    if (request_.domain.row_size == 1) {
        scope_ = {};
        scope_.in_row = true;
        for (PrimId id : request_.stores)
            store(id, storeIndex(id));
        body_ = rowLoop(std::move(scope_));
    } else {
        for (int pass = 1; pass <= last_level + 1; ++pass)
            reducePass(pass);
        rowStores();
    }
    if (apart_)
        return std::nullopt;
    return finish();
}

} // namespace gs::kernels

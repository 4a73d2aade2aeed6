// The arithmetic of generated kernels: the source that devices get, compiled for this machine, against plain
// loops over the single operators.
#include "backends/kernels/host_kernels.h"
#include "backends/kernels/kernel_memory.h"
#include "graph/graph_builder.h"
#include "profile/backends/kernels/region_plan.h"
#include "support/kernel_cases.h"

#include <QTest>
#include <fmt/format.h>
#include <map>

using namespace gs;
using namespace gs::test;

namespace {

struct Case {
    const KernelCase* from = nullptr;
    FusedProgram program;
};

/// Results of the region by plain loops from the same inputs; compares each. Empty if all agree.
std::string check(const Case& item, const HostKernels& kernels, Filling filling, bool& compared) {
    const Graph& graph = *item.from->graph;
    std::vector<std::vector<char>> memory = kernelMemory(item.program, filling, 1);
    NodeReference reference(graph);
    std::vector<void*> pointers;
    for (size_t i = 0; i < memory.size(); ++i) {
        const KernelTensor& tensor = item.program.tensors[i];
        if (tensor.role == KernelTensor::Role::Input)
            reference.set(tensor.node, tensor.item, readTensor(tensor, memory[i]));
        pointers.push_back(memory[i].data());
    }
    for (const Kernel& kernel : item.program.kernels) {
        if (!kernels.run(kernel, pointers))
            return "no function " + kernel.name;
    }
    for (NodeId node : item.from->region.nodes)
        reference.value(node);
    for (size_t i = 0; i < memory.size(); ++i) {
        const KernelTensor& tensor = item.program.tensors[i];
        if (tensor.role != KernelTensor::Role::Output)
            continue;
        const RefTensor* wanted = reference.value(tensor.node, tensor.item);
        if (!wanted)
            return {}; // the reference has no loop: counted by the caller
        compared = true;
        if (const std::string wrong = difference(readTensor(tensor, memory[i]), *wanted); !wrong.empty())
            return fmt::format("{} ({}): {}", graph.name(tensor.node), graph.targetText(tensor.node), wrong);
    }
    return {};
}

struct Counts {
    size_t compared = 0;
    size_t without_loop = 0;
};

void checkAll(const std::vector<Case>& cases, Counts& counts) {
    // Libraries of moderate size: a wrong kernel is found sooner.
    constexpr size_t kBatch = 100;
    for (size_t first = 0; first < cases.size(); first += kBatch) {
        std::vector<const FusedProgram*> programs;
        for (size_t i = first; i < std::min(cases.size(), first + kBatch); ++i)
            programs.push_back(&cases[i].program);
        std::string message;
        const auto kernels = HostKernels::compile(programs, message);
        QVERIFY2(kernels, message.c_str());
        for (size_t i = first; i < std::min(cases.size(), first + kBatch); ++i) {
            bool compared = false;
            for (Filling filling : {Filling::Positive, Filling::Signed}) {
                const std::string wrong = check(cases[i], *kernels, filling, compared);
                QVERIFY2(wrong.empty(), (wrong + "\n" + cases[i].from->from + ": " + cases[i].from->key +
                                         "\n" + cases[i].program.kernels.front().source)
                                            .c_str());
            }
            ++(compared ? counts.compared : counts.without_loop);
        }
    }
}

/// x → operators → output, from a text of calls.
class Chain {
public:
    NodeId input(DType dtype, std::vector<int64_t> shape, std::vector<int64_t> stride = {}) {
        const NodeId id = builder_.addNode("x" + std::to_string(builder_.size()), NodeOp::Placeholder, "x");
        builder_.setValue(id, value(dtype, std::move(shape), std::move(stride)));
        return id;
    }
    NodeId call(const std::string& target, std::vector<Arg> args, DType dtype, std::vector<int64_t> shape) {
        return call(target, std::move(args), {value(dtype, std::move(shape), {})});
    }
    NodeId call(const std::string& target, std::vector<Arg> args, std::vector<Value> values) {
        const NodeId id =
            builder_.addNode("n" + std::to_string(builder_.size()), NodeOp::CallFunction, target);
        builder_.setArgs(id, args);
        Value all;
        all.kind = Value::Kind::List;
        all.items = values;
        builder_.setValue(id, values.size() == 1 ? values.front() : all);
        if (builder_.node(id).kind == NodeKind::Compute)
            members_.push_back(id);
        return id;
    }
    Value value(DType dtype, std::vector<int64_t> shape, std::vector<int64_t> stride) const {
        Value result;
        result.kind = Value::Kind::Tensor;
        result.tensor.dtype = dtype;
        for (int64_t size : shape)
            result.tensor.shape.push_back({size, kEmptyString});
        result.tensor.has_stride = !stride.empty();
        for (int64_t step : stride)
            result.tensor.stride.push_back({step, kEmptyString});
        return result;
    }
    Arg node(NodeId id) const { return builder_.nodeArg(id); }
    Arg number(int64_t v) const { return builder_.intArg(v); }
    Arg real(double v) const { return builder_.floatArg(v); }
    Arg list(std::vector<int64_t> values) {
        std::vector<Arg> items;
        for (int64_t v : values)
            items.push_back(builder_.intArg(v));
        return builder_.listArg(items);
    }
    KernelCase finish(const std::string& name) {
        Diagnostics diagnostics;
        KernelCase made{builder_.finish(&diagnostics), {}, name, name};
        for (NodeId id : members_) {
            if (made.graph->node(id).kind == NodeKind::Compute)
                made.region.nodes.push_back(id);
        }
        return made;
    }

private:
    GraphBuilder builder_;
    std::vector<NodeId> members_;
};

KernelCase layerNorm(DType dtype) {
    Chain c;
    const NodeId x = c.input(dtype, {6, 5, 48}), w = c.input(dtype, {48}), b = c.input(dtype, {48});
    c.call("aten.native_layer_norm.default", {c.node(x), c.list({48}), c.node(w), c.node(b), c.real(1e-5)},
           {c.value(dtype, {6, 5, 48}, {}), c.value(DType::Float32, {6, 5, 1}, {}),
            c.value(DType::Float32, {6, 5, 1}, {})});
    return c.finish("layer norm");
}

KernelCase rmsNormByHand() {
    Chain c;
    const NodeId x = c.input(DType::BFloat16, {4, 7, 64}), w = c.input(DType::Float32, {64});
    const NodeId wide = c.call("prims.convert_element_type.default", {c.node(x)}, DType::Float32, {4, 7, 64});
    const NodeId square =
        c.call("aten.pow.Tensor_Scalar", {c.node(wide), c.number(2)}, DType::Float32, {4, 7, 64});
    const NodeId mean = c.call("aten.mean.dim", {c.node(square), c.list({-1})}, DType::Float32, {4, 7, 1});
    const NodeId eps = c.call("aten.add.Scalar", {c.node(mean), c.real(1e-6)}, DType::Float32, {4, 7, 1});
    const NodeId scale = c.call("aten.rsqrt.default", {c.node(eps)}, DType::Float32, {4, 7, 1});
    const NodeId normed =
        c.call("aten.mul.Tensor", {c.node(wide), c.node(scale)}, DType::Float32, {4, 7, 64});
    const NodeId scaled = c.call("aten.mul.Tensor", {c.node(normed), c.node(w)}, DType::Float32, {4, 7, 64});
    const NodeId flat =
        c.call("aten.view.default", {c.node(scaled), c.list({28, 64})}, DType::Float32, {28, 64});
    c.call("prims.convert_element_type.default", {c.node(flat)}, DType::BFloat16, {28, 64});
    return c.finish("rms norm by hand");
}

/// A sum over rows of another shape than the softmax before it: two kernels with a temporary between.
KernelCase twoSpaces() {
    Chain c;
    const NodeId x = c.input(DType::Float32, {12, 40}, {1, 12});
    const NodeId soft = c.call("aten._softmax.default", {c.node(x), c.number(-1)}, DType::Float32, {12, 40});
    const NodeId rows = c.call("aten.sum.dim_IntList", {c.node(soft), c.list({0})}, DType::Float32, {40});
    const NodeId all = c.call("aten.sum.default", {c.node(rows)}, DType::Float32, {});
    c.call("aten.mul.Tensor", {c.node(soft), c.node(all)}, DType::Float32, {12, 40});
    return c.finish("two iteration spaces");
}

KernelCase views() {
    Chain c;
    const NodeId x = c.input(DType::Float16, {6, 10, 4}), y = c.input(DType::Float16, {10, 6, 4}, {4, 40, 1});
    const NodeId a = c.call("aten.mul.Scalar", {c.node(x), c.real(0.5)}, DType::Float16, {6, 10, 4});
    const NodeId t =
        c.call("aten.transpose.int", {c.node(a), c.number(0), c.number(1)}, DType::Float16, {10, 6, 4});
    const NodeId s = c.call("aten.add.Tensor", {c.node(t), c.node(y)}, DType::Float16, {10, 6, 4});
    const NodeId cut =
        c.call("aten.slice.Tensor", {c.node(s), c.number(1), c.number(1), c.number(6), c.number(2)},
               DType::Float16, {10, 3, 4});
    const NodeId flat = c.call("aten.view.default", {c.node(cut), c.list({15, 8})}, DType::Float16, {15, 8});
    c.call("aten.sigmoid.default", {c.node(flat)}, DType::Float16, {15, 8});
    return c.finish("views between members");
}

KernelCase longSum() {
    Chain c;
    const NodeId x = c.input(DType::Float32, {4, 65536});
    c.call("aten.sum.dim_IntList", {c.node(x), c.list({1})}, DType::Float32, {4});
    return c.finish("few long rows");
}

} // namespace

class TestFusedKernels : public QObject {
    Q_OBJECT

    static Case made(const KernelCase& from, size_t number) {
        Case item{&from, {}};
        auto program = generateKernels(*from.graph, from.region, "k" + std::to_string(number));
        if (program)
            item.program = std::move(program.value());
        return item;
    }

    static void notRun() { std::printf("NOT RUN: generated kernels, there is no C++ compiler here\n"); }

private slots:
    void handMadeRegions() {
        if (!hostCompiler())
            return notRun();
        const std::vector<KernelCase> sources{layerNorm(DType::Float32),
                                              layerNorm(DType::BFloat16),
                                              rmsNormByHand(),
                                              twoSpaces(),
                                              views(),
                                              longSum()};
        std::vector<Case> cases;
        for (const KernelCase& source : sources) {
            cases.push_back(made(source, cases.size()));
            QVERIFY2(!cases.back().program.kernels.empty(), source.key.c_str());
        }
        QCOMPARE(cases[0].program.kernels.size(), size_t{1});
        QCOMPARE(cases[2].program.kernels.size(), size_t{1});
        QVERIFY(cases[3].program.kernels.size() > 1);
        QCOMPARE(cases[5].program.kernels.size(), size_t{2});
        Counts counts;
        checkAll(cases, counts);
        QCOMPARE(counts.compared, sources.size());
    }

    void aWrongKernelIsNoticed() {
        if (!hostCompiler())
            return notRun();
        const KernelCase source = views();
        Case item = made(source, 0);
        std::string& text = item.program.kernels.front().source;
        const size_t sum = text.find("gs_sigmoid(");
        QVERIFY(sum != std::string::npos);
        text.replace(sum, 11, "gs_tanh(   ");
        std::string message;
        const auto kernels = HostKernels::compile({&item.program}, message);
        QVERIFY2(kernels, message.c_str());
        bool compared = false;
        QVERIFY(!check(item, *kernels, Filling::Positive, compared).empty());
        QVERIFY(compared);
    }

    void unknownOperatorsAreNamed() {
        Chain c;
        const NodeId x = c.input(DType::Float32, {8, 8});
        c.call("aten.cumsum.default", {c.node(x), c.number(0)}, DType::Float32, {8, 8});
        const KernelCase one = c.finish("cumsum");
        const auto program = generateKernels(*one.graph, one.region, "k");
        QVERIFY(!program);
        QCOMPARE(program.error().code, std::string("not-supported"));
        QVERIFY(program.error().message.find("aten.cumsum") != std::string::npos);
    }

    /// Longer than a stack is deep.
    void longChainOfViews() {
        Chain c;
        const NodeId x = c.input(DType::Float32, {8, 8});
        NodeId at = c.call("aten.relu.default", {c.node(x)}, DType::Float32, {8, 8});
        for (int i = 0; i < 300'000; ++i)
            at = c.call("aten.view.default", {c.node(at), c.list({8, 8})}, DType::Float32, {8, 8});
        c.call("aten.neg.default", {c.node(at)}, DType::Float32, {8, 8});
        const KernelCase one = c.finish("chain");
        const auto plan = kernels::planRegion(*one.graph, one.region);
        QVERIFY2(plan, plan ? "" : plan.error().message.c_str());
        QCOMPARE(plan->outputs.size(), size_t(1));
    }

    void regionsOfTheSamplesAndTheCorpus() {
        if (!hostCompiler())
            return notRun();
        const std::vector<KernelCase> sources = kernelCases();
        std::vector<Case> cases;
        std::map<std::string, size_t> refused;
        size_t regions = 0, regions_made = 0, kernels = 0, large = 0;
        for (const KernelCase& source : sources) {
            const bool fused = source.region.nodes.size() > 1;
            regions += fused;
            auto program = generateKernels(*source.graph, source.region, "k" + std::to_string(cases.size()));
            if (!program) {
                const std::string& why = program.error().message;
                ++refused[std::string(source.graph->targetText(source.region.nodes[0])) +
                          (fused ? " (region)" : "") + why.substr(std::min(why.size(), why.find("):")))];
                continue;
            }
            regions_made += fused;
            kernels += program->kernels.size() > 1;
            // What a plain loop takes too long for differs from smaller ones in sizes only.
            constexpr int64_t kLargest = 6 << 20;
            if (program->bytes() > kLargest)
                ++large;
            else
                cases.push_back({&source, std::move(program.value())});
        }
        std::printf("%zu kinds of work: %zu fused regions, %zu of them generated; %zu need several kernels; "
                    "%zu too large for plain loops\n",
                    sources.size(), regions, regions_made, kernels, large);
        for (const auto& [what, count] : refused)
            std::printf("not generated: %s (%zu)\n", what.c_str(), count);
        Counts counts;
        checkAll(cases, counts);
        std::printf("compared: %zu; without a loop to compare with: %zu\n", counts.compared,
                    counts.without_loop);
        QVERIFY(counts.compared > 100);
    }
};

QTEST_GUILESS_MAIN(TestFusedKernels)
#include "tst_fused_kernels.moc"

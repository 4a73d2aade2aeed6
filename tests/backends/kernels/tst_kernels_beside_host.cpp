// The arithmetic of generated kernels against the host backend's: the same operators with the same inputs.
#include "backends/kernels/host_kernels.h"
#include "backends/kernels/kernel_memory.h"
#include "host_backend.h"
#include "host_region.h"
#include "profile/benchmark_inputs.h"
#include "support/kernel_cases.h"
#include "support/one_rank.h"

#include <QTest>
#include <algorithm>
#include <cstring>
#include <map>

using namespace gs;
using namespace gs::test;

namespace {

struct Pair {
    const KernelCase* from = nullptr;
    FusedProgram program;
    std::unique_ptr<PreparedOp> host;
    std::vector<NodeId> inputs; ///< of the host's operator, in its order
    std::vector<NodeId> outputs;
};

/// Copies the host operator's inputs into the kernel's memory; false if they are laid out differently.
bool copyInputs(const Pair& pair, const host::HostOp& op, std::vector<std::vector<char>>& memory) {
    for (size_t i = 0; i < memory.size(); ++i) {
        const KernelTensor& tensor = pair.program.tensors[i];
        memory[i].resize(static_cast<size_t>(tensor.bytes()));
        if (tensor.role != KernelTensor::Role::Input)
            continue;
        const auto at =
            static_cast<size_t>(std::ranges::find(pair.inputs, tensor.node) - pair.inputs.begin());
        if (at >= op.inputs.size() || op.inputs[at].spec.storageBytes() != tensor.bytes() ||
            op.inputs[at].spec.dtype != tensor.dtype)
            return false;
        std::memcpy(memory[i].data(), op.inputs[at].data.get(), memory[i].size());
    }
    return true;
}

/// A kernel and the host's operator of the same work, where both can do it.
std::optional<Pair> pairOf(const KernelCase& source, host::HostBackend& backend, size_t number) {
    const Graph& graph = *source.graph;
    const NodeId node = source.region.nodes.front();
    Pair pair;
    pair.from = &source;
    auto program = generateKernels(graph, source.region, "k" + std::to_string(number));
    constexpr int64_t kLargest = 4 << 20;
    if (!program || program.value().bytes() > kLargest || graph.value(node).kind != Value::Kind::Tensor ||
        graph.value(node).tensor.dtype == DType::Complex64 || graph.hasTrait(node, kTraitMutable))
        return std::nullopt;
    pair.program = std::move(program.value());
    if (source.region.nodes.size() > 1) {
        const auto plan = host::planRegion(graph, source.region);
        auto op = backend.prepareRegion(graph, source.region);
        if (!plan || !op)
            return std::nullopt;
        for (const auto& [input, spec] : plan.value().inputs)
            pair.inputs.push_back(input);
        for (const host::RegionMember& member : plan.value().members) {
            if (std::ranges::count(plan.value().outputs, member.node) > 0)
                pair.outputs.push_back(member.node);
        }
        pair.host = std::move(op.value());
        return pair;
    }
    auto op = backend.prepare(graph, node);
    const auto inputs = BenchmarkInputRegistry::global().make(graph, node);
    if (!op || !inputs)
        return std::nullopt;
    pair.inputs = inputs.value().nodes;
    pair.outputs = {node};
    pair.host = std::move(op.value());
    return pair;
}

/// The host keeps what a region hands on inside in float, kernels round it as each operator would.
bool roundsInside(const Pair& pair) {
    return std::ranges::any_of(pair.from->region.nodes, [&](NodeId node) {
        return dtypeBytes(pair.from->graph->value(node).tensor.dtype) == 2;
    });
}

RefTensor hostResult(const host::Tensor& tensor) {
    RefTensor out;
    out.dtype = tensor.spec.dtype;
    out.shape = tensor.spec.shape;
    out.data = host::valuesOf(tensor);
    return out;
}

} // namespace

class TestKernelsBesideHost : public QObject {
    Q_OBJECT

private slots:
    void sameResults() {
        if (!hostCompiler()) {
            std::printf("NOT RUN: generated kernels, there is no C++ compiler here\n");
            return;
        }
        OneRank plane;
        host::HostBackend backend(plane);
        const std::vector<KernelCase> sources = kernelCases();
        std::vector<Pair> pairs;
        std::map<std::string, int> taken;
        size_t regions = 0;
        for (const KernelCase& source : sources) {
            constexpr int kEach = 4; // shapes of one operator
            const bool region = source.region.nodes.size() > 1;
            int& known = taken[std::string(source.graph->targetText(source.region.nodes.front()))];
            if (!region && known >= kEach)
                continue;
            auto pair = pairOf(source, backend, pairs.size());
            const auto* op = pair ? dynamic_cast<host::HostOp*>(pair->host.get()) : nullptr;
            if (!op || !op->body) // not known there, or a view that moves nothing
                continue;
            known += !region;
            regions += region;
            pairs.push_back(std::move(*pair));
        }
        std::vector<const FusedProgram*> programs;
        for (const Pair& pair : pairs)
            programs.push_back(&pair.program);
        std::string message;
        const auto kernels = HostKernels::compile(programs, message);
        QVERIFY2(kernels, message.c_str());
        size_t compared = 0;
        for (const Pair& pair : pairs) {
            auto& op = dynamic_cast<host::HostOp&>(*pair.host);
            std::vector<std::vector<char>> memory(pair.program.tensors.size());
            if (!copyInputs(pair, op, memory))
                continue;
            QVERIFY(op.run());
            std::vector<void*> pointers;
            for (std::vector<char>& bytes : memory)
                pointers.push_back(bytes.data());
            for (const Kernel& kernel : pair.program.kernels)
                QVERIFY(kernels->run(kernel, pointers));
            for (size_t i = 0; i < memory.size(); ++i) {
                const KernelTensor& tensor = pair.program.tensors[i];
                const auto at =
                    static_cast<size_t>(std::ranges::find(pair.outputs, tensor.node) - pair.outputs.begin());
                if (tensor.role != KernelTensor::Role::Output || at >= op.outputs.size())
                    continue;
                RefTensor wanted = hostResult(op.outputs[at]);
                if (roundsInside(pair) && dtypeIsFloat(wanted.dtype))
                    wanted.dtype = DType::BFloat16;
                const std::string wrong = difference(readTensor(tensor, memory[i]), wanted);
                QVERIFY2(wrong.empty(), (wrong + "\n" + pair.from->key).c_str());
                ++compared;
            }
        }
        std::printf("results compared with the host backend: %zu of %zu kinds of work, %zu of them regions\n",
                    compared, pairs.size(), regions);
        QVERIFY(compared >= 40);
    }
};

QTEST_GUILESS_MAIN(TestKernelsBesideHost)
#include "tst_kernels_beside_host.moc"

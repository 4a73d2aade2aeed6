// Times of matrix products by Backend::time() beside an independent loop over the same oneDNN call. Plain
// program: prints both and their ratio, which is 0.85 to 1.15 on a quiet machine; its exit status says so.
#include "backends/host/op_graph.h"
#include "host_backend.h"
#include "support/one_rank.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <oneapi/dnnl/dnnl.hpp>

namespace {

using namespace gs;

/// What other programs add to is never the least.
double least(const std::vector<double>& values) {
    return *std::min_element(values.begin(), values.end());
}

double byBackend(host::HostBackend& backend, int64_t m, int64_t k, int64_t n) {
    test::OpGraph g;
    const Arg a = g.input(DType::Float32, {m, k}), b = g.input(DType::Float32, {k, n});
    const NodeId node = g.call("aten.mm.default", {a, b}, test::stridedValue(DType::Float32, {m, n}));
    const GraphPtr graph = g.finish();
    auto op = backend.prepare(*graph, node);
    if (!op)
        return 0;
    const auto samples = backend.time(*op.value(), {3, 20, false});
    if (!samples)
        return 0;
    return least(std::vector<double>(samples->begin(), samples->end()));
}

double byHand(int64_t m, int64_t k, int64_t n) {
    using dnnl::memory;
    dnnl::engine engine(dnnl::engine::kind::cpu, 0);
    dnnl::stream stream(engine);
    const auto type = memory::data_type::f32;
    const memory::desc da({m, k}, type, memory::format_tag::ab), db({k, n}, type, memory::format_tag::ab),
        dc({m, n}, type, memory::format_tag::ab);
    std::vector<float> a(static_cast<size_t>(m * k), 0.5f), b(static_cast<size_t>(k * n), -0.25f),
        c(static_cast<size_t>(m * n));
    memory ma(da, engine, a.data()), mb(db, engine, b.data()), mc(dc, engine, c.data());
    const dnnl::matmul::primitive_desc pd({da, db, dc}, engine);
    const dnnl::matmul product(pd);
    std::vector<double> samples;
    for (int i = 0; i < 23; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        product.execute(stream, {{DNNL_ARG_SRC, ma}, {DNNL_ARG_WEIGHTS, mb}, {DNNL_ARG_DST, mc}});
        stream.wait();
        const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
        if (i >= 3)
            samples.push_back(took.count());
    }
    return least(samples);
}

} // namespace

int main() {
    test::OneRank plane;
    host::HostBackend backend(plane);
    bool holds = true;
    std::printf("%-20s %12s %12s %7s\n", "float32 product", "backend us", "by hand us", "ratio");
    for (const auto& [m, k, n] : {std::tuple{64, 256, 256},
                                  {256, 512, 512},
                                  {512, 512, 512},
                                  {512, 1024, 1024},
                                  {1024, 1024, 1024}}) {
        double ours = byBackend(backend, m, k, n), theirs = byHand(m, k, n);
        for (int round = 0; round < 4; ++round) { // in turns: the machine's mood is the same for both
            ours = std::min(ours, byBackend(backend, m, k, n));
            theirs = std::min(theirs, byHand(m, k, n));
        }
        const double ratio = ours / theirs;
        holds = holds && ratio > 0.85 && ratio < 1.15;
        std::printf("%5d x %5d x %5d %12.1f %12.1f %7.3f\n", m, k, n, ours / 1e3, theirs / 1e3, ratio);
    }
    return holds ? 0 : 1;
}

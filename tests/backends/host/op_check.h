// Prepares one call, runs it and compares what it yields with plain loops over the same inputs.
#pragma once

#include "backends/host/op_graph.h"
#include "host_backend.h"
#include "profile/benchmark_inputs.h"
#include "support/one_rank.h"

#include <QTest>
#include <cmath>
#include <functional>

namespace gs::test {

using host::HostBackend;
using host::HostOp;

using Values = std::vector<double>;
/// What a call should yield, from its distinct tensors in row-major order.
using Reference = std::function<Values(const std::vector<Values>& in)>;

struct Prepared {
    GraphPtr graph;
    std::unique_ptr<PreparedOp> op;
    Error error;
    HostOp* host() { return dynamic_cast<HostOp*>(op.get()); }
};

inline Prepared prepare(OpGraph& g, NodeId node) {
    static OneRank plane;
    static HostBackend backend(plane);
    Prepared out;
    out.graph = g.finish();
    Result<std::unique_ptr<PreparedOp>> op = backend.prepare(*out.graph, node);
    if (op)
        out.op = std::move(op).value();
    else
        out.error = op.error();
    return out;
}

/// Empty if the results are those of the reference, else what differs.
inline std::string check(OpGraph& g, NodeId node, const Reference& reference, double tolerance = 1e-5) {
    Prepared made = prepare(g, node);
    if (!made.op)
        return made.error.code + ": " + made.error.message;
    std::vector<Values> in;
    for (const host::Tensor& tensor : made.host()->inputs)
        in.push_back(host::valuesOf(tensor));
    const Values want = reference(in);
    if (!made.op->run().ok())
        return "it did not run";
    const Values got = host::valuesOf(made.host()->outputs.front());
    if (got.size() != want.size())
        return "it yields " + std::to_string(got.size()) + " numbers, not " + std::to_string(want.size());
    for (size_t i = 0; i < got.size(); ++i) {
        if (!(std::abs(got[i] - want[i]) <= tolerance * std::max(1.0, std::abs(want[i]))))
            return "element " + std::to_string(i) + " is " + std::to_string(got[i]) + ", not " +
                   std::to_string(want[i]);
    }
    return {};
}

inline Reference each(std::function<double(double)> f) {
    return [f](const std::vector<Values>& in) {
        Values out;
        for (const double x : in[0])
            out.push_back(f(x));
        return out;
    };
}

inline Reference pairs(std::function<double(double, double)> f) {
    return [f](const std::vector<Values>& in) {
        Values out;
        for (size_t i = 0; i < in[0].size(); ++i)
            out.push_back(f(in[0][i], in[1][i]));
        return out;
    };
}

inline constexpr double kHalf = 0.02; ///< tolerance of bfloat16

#define CHECK(...)                                                                                           \
    do {                                                                                                     \
        const std::string fault = check(__VA_ARGS__);                                                        \
        QVERIFY2(fault.empty(), fault.c_str());                                                              \
    } while (false)

} // namespace gs::test

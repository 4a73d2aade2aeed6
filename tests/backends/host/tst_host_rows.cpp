// Reductions, softmax, norms, copies, indexing and fused regions of the host backend, against plain loops.
#include "backends/host/op_check.h"
#include "host_region.h"

#include <algorithm>
#include <numeric>

using namespace gs;
using namespace gs::test;

namespace {

/// Rows of `width`, each mapped by f.
Reference rows(size_t width, std::function<Values(Values)> f) {
    return [=](const std::vector<Values>& in) {
        Values out;
        for (size_t at = 0; at < in[0].size(); at += width) {
            const Values part = f(Values(in[0].begin() + static_cast<std::ptrdiff_t>(at),
                                         in[0].begin() + static_cast<std::ptrdiff_t>(at + width)));
            out.insert(out.end(), part.begin(), part.end());
        }
        return out;
    };
}

double sumOf(const Values& row) {
    return std::accumulate(row.begin(), row.end(), 0.0);
}

Values softmaxOf(const Values& row, bool log) {
    double sum = 0;
    for (const double x : row)
        sum += std::exp(x);
    Values out;
    for (const double x : row)
        out.push_back(log ? x - std::log(sum) : std::exp(x) / sum);
    return out;
}

} // namespace

class TestHostRows : public QObject {
    Q_OBJECT
private slots:
    void reductions() {
        for (const DType dtype : {DType::Float32, DType::BFloat16}) {
            const double tolerance = dtype == DType::Float32 ? 1e-4 : 0.03;
            OpGraph g;
            Arg x = g.input(dtype, {20, 700});
            CHECK(g,
                  g.call("aten.sum.dim_IntList", {x, g.ints({1}), g.b.boolArg(true)},
                         stridedValue(dtype, {20, 1})),
                  rows(700, [](Values r) { return Values{sumOf(r)}; }), tolerance);
            OpGraph m; // the dimension is dropped
            x = m.input(dtype, {4, 5, 70});
            CHECK(m, m.call("aten.mean.dim", {x, m.ints({-1})}, stridedValue(dtype, {4, 5})),
                  rows(70, [](Values r) { return Values{sumOf(r) / 70}; }), tolerance);
            OpGraph all;
            x = all.input(dtype, {60, 700}, {1, 60});
            CHECK(
                all, all.call("aten.sum.default", {x}, stridedValue(dtype, {})),
                [](const std::vector<Values>& in) { return Values{sumOf(in[0])}; },
                dtype == DType::Float32 ? 1e-3 : 0.03);
            OpGraph down; // gradient of a bias
            x = down.input(dtype, {90, 33});
            CHECK(
                down,
                down.call("aten.sum.dim_IntList", {x, down.ints({0}), down.b.boolArg(true)},
                          stridedValue(dtype, {1, 33})),
                [](const std::vector<Values>& in) {
                    Values out(33, 0.0);
                    for (size_t i = 0; i < in[0].size(); ++i)
                        out[i % 33] += in[0][i];
                    return out;
                },
                tolerance);
            OpGraph most;
            x = most.input(dtype, {7, 40});
            CHECK(most,
                  most.call("aten.amax.default", {x, most.ints({1}), most.b.boolArg(true)},
                            stridedValue(dtype, {7, 1})),
                  rows(40, [](Values r) { return Values{*std::max_element(r.begin(), r.end())}; }));
        }
        OpGraph cast; // yields another type than it reads
        Arg x = cast.input(DType::BFloat16, {6, 50});
        CHECK(cast,
              cast.call("aten.sum.dim_IntList", {x, cast.ints({0})}, stridedValue(DType::Float32, {50})),
              [](const std::vector<Values>& in) {
                  Values out(50, 0.0);
                  for (size_t i = 0; i < in[0].size(); ++i)
                      out[i % 50] += in[0][i];
                  return out;
              });
        OpGraph any;
        x = any.input(DType::Bool, {1, 9});
        CHECK(any, any.call("aten.all.default", {x}, stridedValue(DType::Bool, {})),
              [](const std::vector<Values>& in) {
                  return Values{*std::min_element(in[0].begin(), in[0].end())};
              });
    }

    void softmaxes() {
        for (const bool log : {false, true}) {
            OpGraph g;
            const Arg x = g.input(DType::Float32, {12, 100});
            CHECK(g,
                  g.call(log ? "aten._log_softmax.default" : "aten._softmax.default",
                         {x, g.i(-1), g.b.boolArg(false)}, stridedValue(DType::Float32, {12, 100})),
                  rows(100, [log](Values r) { return softmaxOf(r, log); }));
            OpGraph back;
            const Arg slope = back.input(DType::Float32, {12, 100}),
                      y = back.input(DType::Float32, {12, 100});
            CHECK(back,
                  back.call(log ? "aten._log_softmax_backward_data.default"
                                : "aten._softmax_backward_data.default",
                            {slope, y, back.i(1), back.i(6)}, stridedValue(DType::Float32, {12, 100})),
                  [log](const std::vector<Values>& in) {
                      Values out;
                      for (size_t r = 0; r < 12; ++r) {
                          double sum = 0;
                          for (size_t i = r * 100; i < r * 100 + 100; ++i)
                              sum += log ? in[0][i] : in[0][i] * in[1][i];
                          for (size_t i = r * 100; i < r * 100 + 100; ++i)
                              out.push_back(log ? in[0][i] - std::exp(in[1][i]) * sum
                                                : in[1][i] * (in[0][i] - sum));
                      }
                      return out;
                  });
        }
    }

    void norms() {
        OpGraph g;
        const Arg x = g.input(DType::BFloat16, {3, 8, 64}), w = g.input(DType::BFloat16, {64});
        CHECK(
            g, g.call("torch.rms_norm", {x, g.ints({64}), w, {}}, stridedValue(DType::BFloat16, {3, 8, 64})),
            [](const std::vector<Values>& in) {
                Values out;
                for (size_t r = 0; r < 24; ++r) {
                    double squares = 0;
                    for (size_t i = 0; i < 64; ++i)
                        squares += in[0][r * 64 + i] * in[0][r * 64 + i];
                    for (size_t i = 0; i < 64; ++i)
                        out.push_back(in[0][r * 64 + i] / std::sqrt(squares / 64 + 0x1p-23) * in[1][i]);
                }
                return out;
            },
            kHalf);
        for (const DType dtype : {DType::Float32, DType::BFloat16}) {
            OpGraph layer;
            const Arg y = layer.input(dtype, {6, 64});
            CHECK(layer,
                  layer.call("torch.nn.functional.layer_norm", {y, layer.ints({64}), {}, {}, layer.f(1e-5)},
                             stridedValue(dtype, {6, 64})),
                  rows(64,
                       [](Values r) {
                           const double mean = sumOf(r) / 64;
                           double squares = 0;
                           for (double& v : r) {
                               v -= mean;
                               squares += v * v;
                           }
                           for (double& v : r)
                               v /= std::sqrt(squares / 64 + 1e-5);
                           return r;
                       }),
                  dtype == DType::Float32 ? 1e-4 : kHalf);
        }
    }

    void copies() {
        OpGraph cat;
        const Arg a = cat.input(DType::BFloat16, {4, 3}), b = cat.input(DType::BFloat16, {4, 5});
        CHECK(cat,
              cat.call("aten.cat.default", {cat.b.listArg({a, b}), cat.i(1)},
                       stridedValue(DType::BFloat16, {4, 8})),
              [](const std::vector<Values>& in) {
                  Values out;
                  for (size_t r = 0; r < 4; ++r) {
                      out.insert(out.end(), in[0].begin() + 3 * r, in[0].begin() + 3 * r + 3);
                      out.insert(out.end(), in[1].begin() + 5 * r, in[1].begin() + 5 * r + 5);
                  }
                  return out;
              });
        OpGraph pad;
        const Arg x = pad.input(DType::Float32, {2, 3});
        CHECK(pad,
              pad.call("aten.constant_pad_nd.default", {x, pad.ints({1, 0, 0, 1}), pad.f(9)},
                       stridedValue(DType::Float32, {3, 4})),
              [](const std::vector<Values>& in) {
                  return Values{9, in[0][0], in[0][1], in[0][2], 9, in[0][3], in[0][4], in[0][5], 9, 9, 9, 9};
              });
        OpGraph slice;
        const Arg y = slice.input(DType::Float32, {2, 2});
        CHECK(slice,
              slice.call("aten.slice_backward.default",
                         {y, slice.ints({2, 5}), slice.i(1), slice.i(1), slice.i(4), slice.i(2)},
                         stridedValue(DType::Float32, {2, 5})),
              [](const std::vector<Values>& in) {
                  return Values{0, in[0][0], 0, in[0][1], 0, 0, in[0][2], 0, in[0][3], 0};
              });
        OpGraph full;
        CHECK(
            full,
            full.call("aten.full.default", {full.ints({3}), full.f(2.5)}, stridedValue(DType::Float32, {3})),
            [](const std::vector<Values>&) { return Values(3, 2.5); });
        OpGraph empty; // [0] beside tensors of two dimensions
        const Arg none = empty.input(DType::Float32, {0}), some = empty.input(DType::Float32, {2, 2});
        CHECK(empty,
              empty.call("aten.cat.default", {empty.b.listArg({none, some})},
                         stridedValue(DType::Float32, {2, 2})),
              [](const std::vector<Values>& in) { return in[1]; });
    }

    void indexing() {
        OpGraph g;
        const Arg w = g.input(DType::BFloat16, {50, 16}), i = g.input(DType::Int64, {2, 7});
        CHECK(g, g.call("aten.embedding.default", {w, i}, stridedValue(DType::BFloat16, {2, 7, 16})),
              [](const std::vector<Values>& in) {
                  Values out;
                  for (const double row : in[1])
                      for (size_t c = 0; c < 16; ++c)
                          out.push_back(in[0][size_t(row) * 16 + c]);
                  return out;
              });
        OpGraph back;
        const Arg slope = back.input(DType::Float32, {2, 7, 16}), at = back.input(DType::Int64, {2, 7});
        CHECK(back,
              back.call("aten.embedding_dense_backward.default",
                        {slope, at, back.i(5), back.i(-1), back.b.boolArg(false)},
                        stridedValue(DType::Float32, {5, 16})),
              [](const std::vector<Values>& in) {
                  Values out(80, 0.0);
                  for (size_t r = 0; r < 14; ++r)
                      for (size_t c = 0; c < 16; ++c)
                          out[size_t(in[1][r]) * 16 + c] += in[0][r * 16 + c];
                  return out;
              });
        OpGraph gather;
        const Arg t = gather.input(DType::Float32, {6, 9}), k = gather.input(DType::Int64, {6, 2});
        CHECK(gather,
              gather.call("aten.gather.default", {t, gather.i(1), k}, stridedValue(DType::Float32, {6, 2})),
              [](const std::vector<Values>& in) {
                  Values out;
                  for (size_t r = 0; r < 12; ++r)
                      out.push_back(in[0][r / 2 * 9 + size_t(in[1][r])]);
                  return out;
              });
    }

    void scatteringAndSelecting() {
        OpGraph scatter;
        const Arg s = scatter.input(DType::Float32, {6, 9}), p = scatter.input(DType::Int64, {6, 1});
        CHECK(scatter,
              scatter.call("aten.scatter.value", {s, scatter.i(1), p, scatter.f(-1)},
                           stridedValue(DType::Float32, {6, 9})),
              [](const std::vector<Values>& in) {
                  Values out = in[0];
                  for (size_t r = 0; r < 6; ++r)
                      out[r * 9 + size_t(in[1][r])] = -1;
                  return out;
              });
        OpGraph top;
        const Arg v = top.input(DType::Float32, {3, 8});
        Value pair;
        pair.kind = Value::Kind::List;
        pair.items = {stridedValue(DType::Float32, {3, 2}), stridedValue(DType::Int64, {3, 2})};
        CHECK(top,
              top.call("aten.topk.default",
                       {v, top.i(2), top.i(-1), top.b.boolArg(true), top.b.boolArg(true)}, pair),
              rows(8, [](Values r) {
                  std::sort(r.rbegin(), r.rend());
                  return Values{r[0], r[1]};
              }));
        OpGraph loss;
        const Arg logits = loss.input(DType::Float32, {10, 4}), target = loss.input(DType::Int64, {10});
        pair.items = {stridedValue(DType::Float32, {}), stridedValue(DType::Float32, {})};
        CHECK(loss,
              loss.call("aten.nll_loss_forward.default", {logits, target, {}, loss.i(1), loss.i(-100)}, pair),
              [](const std::vector<Values>& in) {
                  double sum = 0;
                  for (size_t r = 0; r < 10; ++r)
                      sum -= in[0][r * 4 + size_t(in[1][r])];
                  return Values{sum / 10};
              });
    }

    void regionsAreOneLoop() {
        OpGraph g;
        const Arg x = g.input(DType::BFloat16, {40, 64}), y = g.input(DType::Float32, {64});
        const Value wide = stridedValue(DType::Float32, {40, 64});
        const NodeId cast = g.call("aten._to_copy.default", {x}, wide);
        const NodeId product = g.call("aten.mul.Tensor", {g.b.nodeArg(cast), y}, wide);
        const NodeId silu = g.call("aten.silu.default", {g.b.nodeArg(product)}, wide);
        const NodeId back =
            g.call("aten._to_copy.default", {g.b.nodeArg(silu)}, stridedValue(DType::BFloat16, {40, 64}));
        const GraphPtr graph = g.finish();
        OneRank plane;
        HostBackend backend(plane);
        auto op = backend.prepareRegion(*graph, {{cast, product, silu, back}});
        QVERIFY2(op.ok(), op.ok() ? "" : op.error().message.c_str());
        auto* made = dynamic_cast<HostOp*>(op.value().get());
        QCOMPARE(made->inputs.size(), size_t{2});
        QCOMPARE(made->outputs.size(), size_t{1});
        QVERIFY(made->run().ok());
        const Values a = host::valuesOf(made->inputs[0]), b = host::valuesOf(made->inputs[1]);
        const Values got = host::valuesOf(made->outputs[0]);
        for (size_t i = 0; i < got.size(); ++i) {
            const double v = a[i] * b[i % 64];
            QVERIFY(std::abs(got[i] - v / (1 + std::exp(-v))) < kHalf);
        }
    }

    void chainsArePostOps() {
        // silu(a + b) · c, with c one row. A processor without the instructions may have no fast form of it.
        OpGraph g;
        const Arg a = g.input(DType::Float32, {48, 64}), b = g.input(DType::Float32, {48, 64}),
                  c = g.input(DType::Float32, {64});
        const Value value = stridedValue(DType::Float32, {48, 64});
        const NodeId sum = g.call("aten.add.Tensor", {a, b}, value);
        const NodeId silu = g.call("aten.silu.default", {g.b.nodeArg(sum)}, value);
        const NodeId product = g.call("aten.mul.Tensor", {c, g.b.nodeArg(silu)}, value);
        const GraphPtr graph = g.finish();
        const auto plan = host::planRegion(*graph, {{sum, silu, product}});
        QVERIFY(plan.ok());
        std::map<NodeId, host::Tensor> tensors;
        for (const auto& [node, spec] : plan->inputs)
            tensors[node] = host::makeTensor(spec);
        const host::Tensor out = host::makeTensor(plan->result(plan->members.back()));
        const auto body = host::dnnlRegion(plan.value(), tensors, out);
        if (!body) {
            qInfo("NOT RUN: oneDNN has no post-ops of its own here");
            return;
        }
        (*body)();
        const Values x = host::valuesOf(tensors.at(a.node())), y = host::valuesOf(tensors.at(b.node())),
                     z = host::valuesOf(tensors.at(c.node())), got = host::valuesOf(out);
        for (size_t i = 0; i < got.size(); ++i) {
            const double v = x[i] + y[i];
            QVERIFY(std::abs(got[i] - v / (1 + std::exp(-v)) * z[i % 64]) < 1e-4);
        }
    }

    void regionsOfSeveralShapesAreRefused() {
        OpGraph g;
        const Arg x = g.input(DType::Float32, {40, 64});
        const NodeId mean = g.call("aten.mean.dim", {x, g.ints({1})}, stridedValue(DType::Float32, {40}));
        const NodeId root =
            g.call("aten.rsqrt.default", {g.b.nodeArg(mean)}, stridedValue(DType::Float32, {40}));
        const GraphPtr graph = g.finish();
        OneRank plane;
        HostBackend backend(plane);
        const auto op = backend.prepareRegion(*graph, {{mean, root}});
        QVERIFY(!op.ok());
        QCOMPARE(op.error().code, std::string("not-supported"));
    }
};

QTEST_GUILESS_MAIN(TestHostRows)
#include "tst_host_rows.moc"

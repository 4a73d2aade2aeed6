// What the host backend computes, against plain loops over the same inputs.
#include "backends/host/op_check.h"

#include <algorithm>

using namespace gs;
using namespace gs::test;

namespace {

Reference product(int64_t batch, int64_t rows, int64_t terms, int64_t cols, size_t a = 0, size_t b = 1) {
    return [=](const std::vector<Values>& in) {
        Values out;
        for (int64_t n = 0; n < batch; ++n)
            for (int64_t r = 0; r < rows; ++r)
                for (int64_t c = 0; c < cols; ++c) {
                    double sum = 0;
                    for (int64_t k = 0; k < terms; ++k)
                        sum += in[a][static_cast<size_t>((n * rows + r) * terms + k)] *
                               in[b][static_cast<size_t>((n * terms + k) * cols + c)];
                    out.push_back(sum);
                }
        return out;
    };
}

} // namespace

class TestHostOps : public QObject {
    Q_OBJECT
private slots:
    void unary_data() {
        QTest::addColumn<QString>("target");
        QTest::addColumn<int>("which");
        const char* names[] = {"relu", "silu", "exp", "rsqrt", "neg", "sigmoid", "tanh", "abs", "sin", "log"};
        for (int i = 0; i < 10; ++i)
            QTest::newRow(names[i]) << QString("aten.%1.default").arg(names[i]) << i;
    }
    void unary() {
        QFETCH(QString, target);
        QFETCH(int, which);
        const auto f = [which](double x) {
            switch (which) {
            case 0:
                return std::max(x, 0.0);
            case 1:
                return x / (1 + std::exp(-x));
            case 2:
                return std::exp(x);
            case 3:
                return 1 / std::sqrt(x);
            case 4:
                return -x;
            case 5:
                return 1 / (1 + std::exp(-x));
            case 6:
                return std::tanh(x);
            case 7:
                return std::abs(x);
            case 8:
                return std::sin(x);
            default:
                return std::log(x);
            }
        };
        for (const DType dtype : {DType::Float32, DType::BFloat16}) {
            for (const std::vector<int64_t>& stride :
                 {std::vector<int64_t>{}, std::vector<int64_t>{1, 37}, std::vector<int64_t>{50, 1}}) {
                OpGraph g;
                const Arg x = g.input(dtype, {37, 41}, stride);
                const NodeId node = g.call(target.toStdString(), {x}, stridedValue(dtype, {37, 41}));
                CHECK(g, node, each(f), dtype == DType::Float32 ? 1e-4 : kHalf);
            }
        }
    }

    void binaryAndScalars() {
        const std::vector<int64_t> shape = {8, 96};
        for (const DType dtype : {DType::Float32, DType::BFloat16, DType::Int64}) {
            const double tolerance = dtype == DType::BFloat16 ? kHalf : 1e-6;
            OpGraph add;
            Arg x = add.input(dtype, shape), y = add.input(dtype, shape);
            CHECK(add, add.call("aten.add.Tensor", {x, y}, stridedValue(dtype, shape)),
                  pairs([](double a, double b) { return a + b; }), tolerance);
            OpGraph mul;
            x = mul.input(dtype, shape), y = mul.input(dtype, shape);
            CHECK(mul, mul.call("aten.mul.Tensor", {x, y}, stridedValue(dtype, shape)),
                  pairs([](double a, double b) { return a * b; }), tolerance);
            OpGraph scaled;
            x = scaled.input(dtype, shape), y = scaled.input(dtype, shape);
            CHECK(scaled,
                  scaled.call("aten.sub.Tensor", {x, y}, stridedValue(dtype, shape),
                              {scaled.text("alpha"), scaled.i(3)}),
                  pairs([](double a, double b) { return a - 3 * b; }), tolerance);
        }
        OpGraph div;
        const Arg x = div.input(DType::Float32, shape);
        CHECK(div, div.call("aten.div.Scalar", {x, div.i(256)}, stridedValue(DType::Float32, shape)),
              each([](double a) { return a / 256; }));
        OpGraph pow;
        const Arg base = pow.input(DType::Float32, shape);
        CHECK(pow, pow.call("aten.pow.Tensor_Scalar", {base, pow.i(2)}, stridedValue(DType::Float32, shape)),
              each([](double a) { return a * a; }));
        OpGraph same; // one tensor twice
        const Arg twice = same.input(DType::Float32, shape);
        CHECK(same, same.call("aten.mul.Tensor", {twice, twice}, stridedValue(DType::Float32, shape)),
              each([](double a) { return a * a; }));
        OpGraph ge;
        const Arg left = ge.input(DType::Float32, shape);
        CHECK(ge, ge.call("aten.ge.Scalar", {left, ge.i(0)}, stridedValue(DType::Bool, shape)),
              each([](double a) { return a >= 0; }));
    }

    void exponentialsOfTheLoops() {
        // Strided inputs go through our own loops.
        OpGraph g;
        const Arg x = g.input(DType::Float32, {64, 64}, {1, 64});
        const NodeId scaled = g.call("aten.mul.Scalar", {x, g.f(60)}, stridedValue(DType::Float32, {64, 64}));
        const NodeId back =
            g.call("aten.exp.default", {g.b.nodeArg(scaled)}, stridedValue(DType::Float32, {64, 64}));
        const GraphPtr graph = g.finish();
        OneRank plane;
        HostBackend backend(plane);
        auto op = backend.prepareRegion(*graph, {{scaled, back}});
        QVERIFY(op.ok());
        auto* made = dynamic_cast<HostOp*>(op.value().get());
        QVERIFY(made->run().ok());
        const Values in = host::valuesOf(made->inputs[0]), got = host::valuesOf(made->outputs[0]);
        for (size_t i = 0; i < got.size(); ++i) {
            const double want = std::exp(in[i] * 60);
            QVERIFY2(std::abs(got[i] - want) <= 1e-5 * want, std::to_string(in[i] * 60).c_str());
        }
    }

    void complexNumbersMultiply() {
        OpGraph g;
        const Arg x = g.input(DType::Complex64, {3, 40}), y = g.input(DType::Complex64, {1, 40});
        Prepared made =
            prepare(g, g.call("aten.mul.Tensor", {x, y}, stridedValue(DType::Complex64, {3, 40})));
        QVERIFY2(made.op, made.error.message.c_str());
        const auto floats = [](const host::Tensor& tensor) {
            return reinterpret_cast<float*>(tensor.data.get());
        };
        float* a = floats(made.host()->inputs[0]);
        float* b = floats(made.host()->inputs[1]);
        for (int i = 0; i < 240; ++i)
            a[i] = 0.25f * float(i % 7) - 1;
        for (int i = 0; i < 80; ++i)
            b[i] = 0.5f * float(i % 5) - 1;
        QVERIFY(made.op->run().ok());
        const float* got = floats(made.host()->outputs[0]);
        for (int i = 0; i < 120; ++i) {
            const int j = i % 40;
            QCOMPARE(got[2 * i], a[2 * i] * b[2 * j] - a[2 * i + 1] * b[2 * j + 1]);
            QCOMPARE(got[2 * i + 1], a[2 * i] * b[2 * j + 1] + a[2 * i + 1] * b[2 * j]);
        }
    }

    void broadcastsBothWays() {
        const auto column = [](const std::vector<Values>& in) {
            Values out;
            for (size_t i = 0; i < in[0].size(); ++i)
                out.push_back(in[0][i] * in[1][i / 64]);
            return out;
        };
        OpGraph g;
        Arg x = g.input(DType::Float32, {2, 30, 64}), y = g.input(DType::Float32, {2, 30, 1});
        CHECK(g, g.call("aten.mul.Tensor", {x, y}, stridedValue(DType::Float32, {2, 30, 64})), column);
        OpGraph h;
        x = h.input(DType::Float32, {2, 30, 1}), y = h.input(DType::Float32, {2, 30, 64});
        CHECK(h, h.call("aten.mul.Tensor", {x, y}, stridedValue(DType::Float32, {2, 30, 64})),
              [&](const std::vector<Values>& in) {
                  return column({in[1], in[0]});
              });
        OpGraph row; // types differ: f32 × bf16 of one row
        x = row.input(DType::Float32, {30, 64}), y = row.input(DType::BFloat16, {64});
        CHECK(row, row.call("aten.mul.Tensor", {x, y}, stridedValue(DType::Float32, {30, 64})),
              [](const std::vector<Values>& in) {
                  Values out;
                  for (size_t i = 0; i < in[0].size(); ++i)
                      out.push_back(in[0][i] * in[1][i % 64]);
                  return out;
              });
        OpGraph expanded; // stride 0
        x = expanded.input(DType::Float32, {30, 64}, {1, 0});
        CHECK(expanded,
              expanded.call("aten.div.Scalar", {x, expanded.i(2)}, stridedValue(DType::Float32, {30, 64})),
              each([](double a) { return a / 2; }));
    }

    void casts() {
        for (const auto& [from, to] :
             {std::pair{DType::Float32, DType::BFloat16}, std::pair{DType::BFloat16, DType::Float32},
              std::pair{DType::Float32, DType::Float16},
              std::pair{DType::Int64, DType::Float32}, // indices of a mask
              std::pair{DType::Bool, DType::Int64}}) {
            for (const std::vector<int64_t>& stride : {std::vector<int64_t>{}, std::vector<int64_t>{1, 60}}) {
                OpGraph g;
                const Arg x = g.input(from, {60, 50}, stride);
                CHECK(g, g.call("aten._to_copy.default", {x}, stridedValue(to, {60, 50})),
                      each([](double a) { return a; }), 0.005);
            }
        }
    }

    void products() {
        for (const DType dtype : {DType::Float32, DType::BFloat16}) {
            const double tolerance = dtype == DType::Float32 ? 1e-4 : 0.05;
            OpGraph g;
            Arg a = g.input(dtype, {33, 40}), b = g.input(dtype, {40, 17});
            CHECK(g, g.call("aten.mm.default", {a, b}, stridedValue(dtype, {33, 17})), product(1, 33, 40, 17),
                  tolerance);
            OpGraph t; // both transposed
            a = t.input(dtype, {33, 40}, {1, 33}), b = t.input(dtype, {40, 17}, {1, 40});
            CHECK(t, t.call("aten.mm.default", {a, b}, stridedValue(dtype, {33, 17})), product(1, 33, 40, 17),
                  tolerance);
            OpGraph gaps; // rows further apart than they are long
            a = gaps.input(dtype, {33, 40}, {64, 1}), b = gaps.input(dtype, {40, 17}, {20, 1});
            CHECK(gaps, gaps.call("aten.mm.default", {a, b}, stridedValue(dtype, {33, 17})),
                  product(1, 33, 40, 17), tolerance);
            OpGraph batch;
            a = batch.input(dtype, {3, 9, 40}), b = batch.input(dtype, {3, 40, 17});
            CHECK(batch, batch.call("aten.bmm.default", {a, b}, stridedValue(dtype, {3, 9, 17})),
                  product(3, 9, 40, 17), tolerance);
            OpGraph add;
            const Arg bias = add.input(dtype, {17});
            a = add.input(dtype, {33, 40}), b = add.input(dtype, {40, 17}, {1, 40});
            CHECK(
                add, add.call("aten.addmm.default", {bias, a, b}, stridedValue(dtype, {33, 17})),
                [](const std::vector<Values>& in) {
                    Values out = product(1, 33, 40, 17, 1, 2)(in);
                    for (size_t i = 0; i < out.size(); ++i)
                        out[i] += in[0][i % 17];
                    return out;
                },
                tolerance);
            OpGraph linear;
            a = linear.input(dtype, {3, 11, 40}), b = linear.input(dtype, {17, 40});
            CHECK(
                linear, linear.call("torch._C._nn.linear", {a, b, {}}, stridedValue(dtype, {3, 11, 17})),
                [](const std::vector<Values>& in) {
                    Values turned(40 * 17);
                    for (size_t r = 0; r < 17; ++r)
                        for (size_t c = 0; c < 40; ++c)
                            turned[c * 17 + r] = in[1][r * 40 + c];
                    return product(1, 33, 40, 17)({in[0], turned});
                },
                tolerance);
        }
    }

    void emptyTensors() {
        OpGraph g;
        const Arg a = g.input(DType::BFloat16, {0, 40}), b = g.input(DType::BFloat16, {40, 17});
        CHECK(g, g.call("aten.mm.default", {a, b}, stridedValue(DType::BFloat16, {0, 17})),
              [](const std::vector<Values>&) { return Values(); });
        OpGraph k; // sums without terms
        const Arg c = k.input(DType::Float32, {5, 0}), d = k.input(DType::Float32, {0, 7});
        CHECK(k, k.call("aten.mm.default", {c, d}, stridedValue(DType::Float32, {5, 7})),
              [](const std::vector<Values>&) { return Values(35, 0.0); });
        OpGraph p;
        const Arg x = p.input(DType::Float32, {0, 3});
        CHECK(p, p.call("aten.relu.default", {x}, stridedValue(DType::Float32, {0, 3})),
              [](const std::vector<Values>&) { return Values(); });
        OpGraph s; // without dimensions
        const Arg y = s.input(DType::Float32, {});
        CHECK(s, s.call("aten.neg.default", {y}, stridedValue(DType::Float32, {})),
              each([](double v) { return -v; }));
    }

    void inPlaceWritesItsArgument() {
        OpGraph g;
        const Arg x = g.input(DType::Float32, {4, 5});
        Prepared made =
            prepare(g, g.call("aten.add_.Scalar", {x, g.f(2)}, stridedValue(DType::Float32, {4, 5})));
        QVERIFY2(made.op, made.error.message.c_str());
        const Values before = host::valuesOf(made.host()->inputs.front());
        QVERIFY(made.op->run().ok());
        const Values after = host::valuesOf(made.host()->inputs.front());
        for (size_t i = 0; i < before.size(); ++i)
            QCOMPARE(float(after[i]), float(before[i]) + 2);
    }

    void unknownIsRefused() {
        OpGraph g;
        const Arg x = g.input(DType::Float32, {4});
        QCOMPARE(prepare(g, g.call("my.own_op.default", {x}, stridedValue(DType::Float32, {4}))).error.code,
                 std::string("not-supported"));
        OpGraph h;
        const Arg y = h.input(DType::Float32, {kUnknownSize});
        QCOMPARE(prepare(h, h.call("aten.relu.default", {y}, stridedValue(DType::Float32, {kUnknownSize})))
                     .error.code,
                 std::string("unknown-shape"));
    }

    void memoryIsChecked() {
        OneRank plane;
        HostBackend backend(plane);
        backend.setMemoryLimit(1 << 20);
        OpGraph g;
        const Arg x = g.input(DType::Float32, {1024, 1024});
        const NodeId node = g.call("aten.relu.default", {x}, stridedValue(DType::Float32, {1024, 1024}));
        const GraphPtr graph = g.finish();
        const auto op = backend.prepare(*graph, node);
        QVERIFY(!op.ok());
        QCOMPARE(op.error().code, std::string("would-not-fit"));
        QVERIFY2(op.error().message.find("8.0 MiB") != std::string::npos ||
                     op.error().message.find("8 MiB") != std::string::npos,
                 op.error().message.c_str());
        OpGraph huge; // nothing is touched before the check
        const Arg y = huge.input(DType::Float32, {1 << 20, 1 << 20});
        QCOMPARE(prepare(huge, huge.call("aten.relu.default", {y},
                                         stridedValue(DType::Float32, {1 << 20, 1 << 20})))
                     .error.code,
                 std::string("would-not-fit"));
    }

    void timesGrowWithTheWork() {
        // One thread: several would wait for each other on a machine that does other things.
        class Crowded : public OneRank {
            int32_t localSize() const override { return 100'000; }
        };
        Crowded plane;
        HostBackend backend(plane);
        backend.setMemoryLimit(int64_t{1} << 50);
        // The least of many: other programs only make it longer.
        const auto least = [&](int64_t n, bool cold) {
            OpGraph g;
            const Arg a = g.input(DType::Float32, {n, n}), b = g.input(DType::Float32, {n, n});
            const NodeId node = g.call("aten.mm.default", {a, b}, stridedValue(DType::Float32, {n, n}));
            const GraphPtr graph = g.finish();
            auto op = backend.prepare(*graph, node);
            if (!op)
                return int64_t{-1};
            const auto samples = backend.time(*op.value(), {2, 20, cold});
            if (!samples || samples->size() != 20)
                return int64_t{-2};
            return *std::min_element(samples->begin(), samples->end());
        };
        const int64_t small = least(128, false), large = least(512, false);
        QVERIFY2(small > 0, std::to_string(small).c_str());
        QVERIFY2(large > 4 * small, std::to_string(large).c_str()); // 64 times the work
        QVERIFY(least(128, true) > 0);
    }

    void failuresWhileRunningAreErrors() {
        class Throws : public PreparedOp {
            Status run() override { throw std::runtime_error("no more"); }
        };
        OneRank plane;
        HostBackend backend(plane);
        Throws op;
        const auto samples = backend.time(op, {});
        QVERIFY(!samples.ok());
        QVERIFY(samples.error().message.find("no more") != std::string::npos);
    }

    void factsSayWhatItIs() {
        OneRank plane;
        HostBackend backend(plane);
        const DeviceFacts facts = backend.facts();
        QVERIFY(facts.name.find("core") != std::string::npos);
        QVERIFY(facts.versions.contains("oneDNN") && facts.versions.contains("MPI"));
        QVERIFY(facts.memory_bytes > facts.free_bytes && facts.free_bytes > 0);
    }
};

QTEST_GUILESS_MAIN(TestHostOps)
#include "tst_host_ops.moc"

// Inputs rebuilt from metadata, and the registry of operators whose inputs must agree with each other.
#include "backends/host/op_graph.h"
#include "profile/benchmark_inputs.h"
#include "support/test_data.h"

#include <QTemporaryFile>
#include <QTest>
#include <algorithm>
#include <cstring>
#include <numeric>

using namespace gs;
using namespace gs::test;

namespace {

std::vector<int64_t> integersOf(const TensorSpec& spec) {
    std::vector<std::byte> memory(static_cast<size_t>(spec.storageBytes()));
    fillTensor(spec, memory.data());
    std::vector<int64_t> out(memory.size() / 8);
    std::memcpy(out.data(), memory.data(), memory.size());
    return out;
}

Result<BenchmarkInputs> make(OpGraph& g, NodeId node,
                             const BenchmarkInputRegistry& registry = BenchmarkInputRegistry()) {
    const GraphPtr graph = g.finish();
    return registry.make(*graph, node);
}

std::string entry(const std::string& op, const std::string& text) {
    return R"({"format": "gatherscope.benchmark_inputs", "version": 1, "ops": {")" + op + "\": " + text +
           "}}";
}

} // namespace

class TestBenchmarkInputs : public QObject {
    Q_OBJECT
private slots:
    void rebuildsWhatTheGraphStates() {
        OpGraph g;
        const Arg x = g.input(DType::BFloat16, {4, 6}, {1, 8}), y = g.input(DType::Int64, {3});
        const NodeId node = g.call("some.op.default", {x, y, x, g.i(7), g.f(0.5), {}, g.ints({1, 2})},
                                   stridedValue(DType::Float32, {4, 6}), {g.text("mode"), g.text("fast")});
        const auto made = make(g, node);
        QVERIFY(made.ok());
        QCOMPARE(made->tensors.size(), size_t{2}); // x counts once
        QCOMPARE(made->args[0].tensor, made->args[2].tensor);
        QCOMPARE(made->nodes, (std::vector<NodeId>{x.node(), y.node()}));
        QVERIFY((made->tensors[0].stride == std::vector<int64_t>{1, 8}));
        QCOMPARE(made->tensors[0].storageBytes(), int64_t{2 * (3 + 5 * 8 + 1)});
        QVERIFY(made->tensors[0].fill == InputFill::Random);
        QVERIFY(made->tensors[1].fill == InputFill::Zeros); // whatever it indexes, 0 is there
        QCOMPARE(made->args[3].integer, int64_t{7});
        QCOMPARE(made->args[4].real, 0.5);
        QVERIFY(made->args[5].kind == InputValue::Kind::None);
        QCOMPARE(made->args[6].items.size(), size_t{2});
        QCOMPARE(made->kwargs.at("mode").text, std::string("fast"));
        QCOMPARE(made->outputs.size(), size_t{1});
        QVERIFY(!made->internal_collective);
    }

    void symbolsCountByTheirHints() {
        OpGraph g;
        Value value = stridedValue(DType::Float32, {5, 4});
        value.tensor.shape[0] = {12, g.b.intern("s0")};
        const NodeId input = g.b.addNode("x", NodeOp::Placeholder, "x");
        g.b.setValue(input, value);
        const NodeId node = g.call("aten.relu.default", {g.b.nodeArg(input)}, value);
        const auto made = make(g, node);
        QVERIFY(made.ok());
        QCOMPARE(made->tensors[0].shape[0], int64_t{12});
    }

    void unknownSizesAreErrors() {
        OpGraph g;
        const Arg x = g.input(DType::Float32, {kUnknownSize, 4});
        QCOMPARE(make(g, g.call("aten.relu.default", {x}, stridedValue(DType::Float32, {4}))).error().code,
                 std::string("unknown-shape"));
        OpGraph h;
        const Arg y = h.input(DType::Unknown, {4});
        QCOMPARE(make(h, h.call("aten.relu.default", {y}, stridedValue(DType::Float32, {4}))).error().code,
                 std::string("unknown-shape"));
        OpGraph s;
        const Arg z = s.input(DType::Float32, {4});
        QCOMPARE(make(s, s.call("aten.view.default", {z, s.b.symbolArg("u0", kUnknownSize)},
                                stridedValue(DType::Float32, {4})))
                     .error()
                     .code,
                 std::string("unknown-shape"));
        OpGraph big; // sizes whose product overflows
        const Arg b = big.input(DType::Float32, {int64_t{1} << 40, int64_t{1} << 40});
        QCOMPARE(
            make(big, big.call("aten.relu.default", {b}, stridedValue(DType::Float32, {4}))).error().code,
            std::string("unknown-shape"));
    }

    void indicesStayBelowWhatTheyIndex() {
        OpGraph g;
        const Arg w = g.input(DType::Float32, {11, 3}), i = g.input(DType::Int64, {500});
        const auto made =
            make(g, g.call("aten.embedding.default", {w, i}, stridedValue(DType::Float32, {500, 3})));
        QVERIFY(made.ok());
        const std::vector<int64_t> values = integersOf(made->tensors[1]);
        QCOMPARE(*std::max_element(values.begin(), values.end()), int64_t{10});
        QCOMPARE(*std::min_element(values.begin(), values.end()), int64_t{0});
        OpGraph along; // the dimension is an argument, counted from the end
        const Arg t = along.input(DType::Float32, {11, 5}), k = along.input(DType::Int64, {11, 200});
        const auto gather = make(along, along.call("aten.gather.default", {t, along.i(-1), k},
                                                   stridedValue(DType::Float32, {11, 200})));
        QCOMPARE(gather->tensors[1].bound, int64_t{5});
        OpGraph list; // one tensor per dimension
        const Arg s = list.input(DType::Float32, {7, 9, 2}), a = list.input(DType::Int64, {4}),
                  b = list.input(DType::Int64, {4});
        const auto index = make(list, list.call("aten.index.Tensor", {s, list.b.listArg({a, b})},
                                                stridedValue(DType::Float32, {4, 2})));
        QCOMPARE(index->tensors[1].bound, int64_t{7});
        QCOMPARE(index->tensors[2].bound, int64_t{9});
        OpGraph empty;
        const Arg none = empty.input(DType::Float32, {0, 3}), at = empty.input(DType::Int64, {2});
        QCOMPARE(make(empty,
                      empty.call("aten.embedding.default", {none, at}, stridedValue(DType::Float32, {2, 3})))
                     .error()
                     .code,
                 std::string("unknown-shape"));
    }

    void offsetsCountsAndSplitsAddUp() {
        const std::vector<int64_t> offsets = integersOf({DType::Int64, {4}, {1}, InputFill::Offsets, 10});
        QCOMPARE(offsets.back(), int64_t{10});
        QVERIFY(std::is_sorted(offsets.begin(), offsets.end()) && offsets.front() > 0);
        const std::vector<int64_t> counts = integersOf({DType::Int64, {4}, {1}, InputFill::Counts, 10});
        QCOMPARE(std::accumulate(counts.begin(), counts.end(), int64_t{0}), int64_t{10});
        std::vector<int64_t> order = integersOf({DType::Int64, {24}, {1}, InputFill::Permutation, 0});
        QVERIFY(!std::is_sorted(order.begin(), order.end()));
        std::sort(order.begin(), order.end());
        for (int64_t i = 0; i < 24; ++i)
            QCOMPARE(order[static_cast<size_t>(i)], i);
        OpGraph g; // split sizes that the graph does not know
        const Arg x = g.input(DType::Float32, {10, 2});
        const Arg unknown = g.b.symbolArg("u0", kUnknownSize);
        const NodeId node =
            g.call("_c10d_functional.all_to_all_single.default",
                   {x, g.ints({1, 9}), g.ints({3, 7}), g.text("0")}, stridedValue(DType::Float32, {10, 2}));
        const auto made = make(g, node);
        QVERIFY(made.ok());
        QVERIFY(made->internal_collective);
        QCOMPARE(made->args[1].items[0].integer, int64_t{5});
        QCOMPARE(made->args[2].items[1].integer, int64_t{5});
        QVERIFY(unknown.kind == Arg::Kind::Symbol);
    }

    void fillsAreTheSameEverywhere() {
        for (const DType dtype : {DType::Float32, DType::BFloat16, DType::Float16, DType::Float8E4M3FN,
                                  DType::Bool, DType::Complex64}) {
            const TensorSpec spec{dtype, {100, 200}, {200, 1}, InputFill::Random, 0};
            std::vector<std::byte> a(static_cast<size_t>(spec.storageBytes())), b = a;
            fillTensor(spec, a.data());
            fillTensor(spec, b.data());
            QVERIFY(a == b);
            QVERIFY(std::any_of(a.begin(), a.end(), [](std::byte x) { return x != std::byte{0}; }));
        }
        const TensorSpec floats{DType::Float32, {50'000}, {1}, InputFill::Random, 0};
        std::vector<float> values(50'000);
        fillTensor(floats, reinterpret_cast<std::byte*>(values.data()));
        QVERIFY(std::all_of(values.begin(), values.end(), [](float x) { return x >= -1 && x < 1; }));
        // Rows far apart: what lies between them is left alone.
        const TensorSpec sparse{DType::Float32, {2, 3}, {100'000, 1}, InputFill::Ones, 0};
        std::vector<float> storage(100'003, -1);
        fillTensor(sparse, reinterpret_cast<std::byte*>(storage.data()));
        QCOMPARE(std::count(storage.begin(), storage.end(), 1.0f), std::ptrdiff_t{6});
        QCOMPARE(storage[100'002], 1.0f);
        QCOMPARE(storage[3], -1.0f);
        const TensorSpec empty{DType::Float32, {0, 4}, {4, 1}, InputFill::Random, 0};
        fillTensor(empty, nullptr);
        QCOMPARE(empty.storageBytes(), int64_t{0});
    }

    void usersAddTheirOwn() {
        BenchmarkInputRegistry registry;
        QVERIFY(registry.knows("aten.index_put.default"));
        QVERIFY(!registry.knows("my.route.default"));
        QVERIFY(registry
                    .addText(entry("my.route",
                                   R"({"args": {"1": {"fill": "offsets", "bound": {"of": 0, "dim": 0}}},
                                                  "internal_collective": true})"),
                             "own.json")
                    .ok());
        QVERIFY(registry.knows("my.route.default"));
        QVERIFY(registry.hasInternalCollective("my.route.default"));
        OpGraph g;
        const Arg x = g.input(DType::Float32, {40, 2}), y = g.input(DType::Int64, {4});
        const auto made =
            make(g, g.call("my.route.default", {x, y}, stridedValue(DType::Float32, {40, 2})), registry);
        QVERIFY(made.ok());
        QVERIFY((integersOf(made->tensors[1]) == std::vector<int64_t>{10, 20, 30, 40}));
        QTemporaryFile file;
        QVERIFY(file.open());
        file.write(entry("my.other", "{}").c_str());
        file.flush();
        QVERIFY(registry.addFile(file.fileName().toStdString()).ok());
        QVERIFY(registry.knows("my.other"));
        QCOMPARE(registry.addFile("no such file").error().code, std::string("missing-file"));
    }

    void hooksMayDoAnything() {
        BenchmarkInputRegistry registry;
        registry.addHook("refuse", [](const Graph&, NodeId, BenchmarkInputs&) -> Status {
            return Error{"not-supported", "needs a file", {}, ""};
        });
        QVERIFY(registry.addText(entry("my.op", R"({"hook": "refuse"})"), "own.json").ok());
        OpGraph g;
        const Arg x = g.input(DType::Float32, {4});
        QCOMPARE(make(g, g.call("my.op", {x}, stridedValue(DType::Float32, {4})), registry).error().message,
                 std::string("needs a file"));
    }

    void faultsNameTheirPlace_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("part");
        QTest::newRow("no JSON") << "nonsense"
                                 << "syntax error";
        QTest::newRow("another format") << R"({"format": "x", "version": 1, "ops": {}})"
                                        << "gatherscope.benchmark_inputs";
        const auto row = [](const char* name, const char* text, const char* part) {
            QTest::newRow(name) << QString::fromStdString(entry("a.b", text)) << part;
        };
        row("no object", "3", "a.b");
        row("unknown key", R"({"arg": {}})", "internal_collective");
        row("unknown fill", R"({"args": {"0": {"fill": "noise"}}})", "permutation");
        row("no bound", R"({"args": {"0": {"fill": "indices"}}})", "bound");
        row("bound is text", R"({"args": {"0": {"fill": "indices", "bound": "n"}}})", "output_dim");
        row("negative", R"({"args": {"0": {"fill": "indices", "bound": -4}}})", "negative");
        row("huge", R"({"args": {"0": {"fill": "indices", "bound": {"of": 1e300}}}})", "whole number");
        row("no hook", R"({"hook": "nowhere"})", "nowhere");
    }
    void faultsNameTheirPlace() {
        QFETCH(QString, text);
        QFETCH(QString, part);
        BenchmarkInputRegistry registry;
        const Status added = registry.addText(text.toStdString(), "own.json");
        QVERIFY(!added.ok());
        QCOMPARE(added.error().code, std::string("not-benchmark-inputs"));
        QVERIFY2(added.error().message.find(part.toStdString()) != std::string::npos,
                 added.error().message.c_str());
        QCOMPARE(added.error().where.file, std::string("own.json"));
        QVERIFY(added.error().message.find("own.json") != std::string::npos);
        QVERIFY(!registry.knows("a.b"));
    }

    void faultsHaveLines() {
        BenchmarkInputRegistry registry;
        std::string text = "{\"format\": \"gatherscope.benchmark_inputs\", \"version\": 1,\n \"ops\": {\n"
                           "  \"a.b\": {},\n    \"c.d\": {\"hook\": \"nowhere\"}}}\n";
        Status added = registry.addText(text, "own.json");
        QCOMPARE(added.error().where.line, 4U);
        QCOMPARE(added.error().where.column, 5U);
        QVERIFY(added.error().message.find("\"c.d\"") != std::string::npos);
        text.replace(text.find("{},"), 3, "{},,");
        added = registry.addText(text, "own.json");
        QCOMPARE(added.error().where.line, 3U);
        QCOMPARE(added.error().where.column, 13U);
    }

    /// Of nodes that run as one kernel: what they read from outside, filled as the first reader wants.
    void kernelsAreAskedFromOutside() {
        OpGraph g;
        const Arg x = g.input(DType::Float32, {4}), y = g.input(DType::Float32, {4});
        const Value value = stridedValue(DType::Float32, {4});
        const NodeId root = g.call("aten.sqrt.default", {x}, value);
        const NodeId sum = g.call("aten.add.Tensor", {g.b.nodeArg(root), y}, value);
        const NodeId last = g.call("aten.mul.Tensor", {g.b.nodeArg(sum), x}, value);
        const GraphPtr graph = g.finish();
        const auto outside = BenchmarkInputRegistry().makeOutside(*graph, {root, sum, last});
        QVERIFY(outside.ok());
        QCOMPARE(outside->size(), size_t{2});
        QVERIFY(outside->at(x.node()).fill == InputFill::Positive);
        QVERIFY(outside->at(y.node()).fill == InputFill::Random);
    }
};

QTEST_GUILESS_MAIN(TestBenchmarkInputs)
#include "tst_benchmark_inputs.moc"

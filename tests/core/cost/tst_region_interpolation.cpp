// Fused regions that were measured at other sizes: equal members in another size are one kind.
#include "cost/cost_sources.h"
#include "cost/fused_regions.h"
#include "cost/interpolated_model.h"
#include "cost/key_size.h"
#include "support/cost_graph.h"

#include <QTest>
#include <numeric>

using namespace gs;
using test::CostGraph;

namespace {

struct Shape {
    int64_t rows = 64;
    int64_t columns = 8;
    bool broadcast = false; ///< the second operand is a column
    std::string last = "aten.mul.Tensor";
};

/// neg of one tensor, times another one; then a product, which is in no region.
GraphPtr graphOf(const Shape& shape) {
    CostGraph g;
    const NodeId x = g.input("x", {shape.rows, shape.columns});
    const NodeId y = g.input("y", {shape.rows, shape.broadcast ? 1 : shape.columns});
    const NodeId w = g.input("w", {shape.columns, 8});
    const NodeId neg = g.call("neg", "aten.neg.default", {x}, {shape.rows, shape.columns});
    const NodeId mul = g.call("mul", shape.last, {neg, y}, {shape.rows, shape.columns});
    const NodeId mm = g.call("mm", "aten.mm.default", {mul, w}, {shape.rows, 8});
    return g.finish({mm});
}

std::string regionKey(const Shape& shape) {
    const GraphPtr graph = graphOf(shape);
    const std::vector<FusedRegion> regions = findFusedRegions(*graph);
    return regions.empty() ? std::string() : fusedRegionKey(*graph, regions.front());
}

/// Time and provenance of the whole region; -1 where it is not known.
std::pair<int64_t, Provenance> priced(const Shape& shape,
                                      const std::vector<std::pair<std::string, int64_t>>& points,
                                      Provenance of_points = Provenance::Measured) {
    auto profile = std::make_shared<Profile>();
    for (const auto& [key, ns] : points)
        profile->entries.push_back({key, "fused", "", ns, 10, 3, 1, 1, of_points, ""});
    const GraphPtr graph = graphOf(shape);
    CostChain chain;
    chain.models = {makeInterpolatedModel(profile, {})};
    const CostTablePtr table = priceGraph(*graph, CollectiveTable(*graph), chain);
    std::pair<int64_t, Provenance> sum{0, Provenance::Missing};
    for (const char* name : {"neg", "mul"}) {
        const CostEntry& entry = *table->entry(graph->find(name).value());
        if (entry.provenance == Provenance::Missing)
            return {-1, Provenance::Missing};
        sum = {sum.first + table->ns(graph->find(name).value()), entry.provenance};
    }
    if (table->entry(graph->find("mm").value())->provenance != Provenance::Missing)
        return {-2, Provenance::Missing};
    return sum;
}

} // namespace

class TestRegionInterpolation : public QObject {
    Q_OBJECT

private slots:
    void sizeIsWhatItMoves() {
        const auto size = keySize(regionKey({}));
        QVERIFY(size);
        QCOMPARE(size->size, int64_t(3 * 64 * 8 * 2)); // two inputs, one result; not what is between
        QCOMPARE(size->kind,
                 std::string("fused{aten.neg.default(bf16[2d]) -> bf16[2d]; aten.mul.Tensor(%0, bf16[2d]) -> "
                             "bf16[2d]} -> (%1)"));
        const auto two = keySize("fused{aten.neg.default(f32[4,2;2,1]) -> (f32[4,2;2,1], i64[3;1]); "
                                 "aten.add.Tensor(%0[8], $0) -> f32[8;1]} -> (%0.1, %1)");
        QVERIFY(two);
        QCOMPARE(two->size, int64_t(32 + 24 + 32));
        QVERIFY2(two->kind.find("%0[1d]") != std::string::npos, two->kind.c_str());
    }

    void whatIsBroadcastIsAnotherKind() {
        const auto plain = keySize(regionKey({})), column = keySize(regionKey({64, 8, true}));
        QVERIFY(plain && column);
        QVERIFY(plain->kind != column->kind);
        QVERIFY2(column->kind.find("bf16[2db1]") != std::string::npos, column->kind.c_str());
        QCOMPARE(keySize(regionKey({128, 8, true}))->kind, column->kind);
    }

    void malformed_data() {
        QTest::addColumn<QString>("key");
        for (const char* key :
             {"fused{", "fused{} -> ()", "fused{aten.neg.default(f32[4", "fused{a(f32[?])} -> (%0)",
              "fused{a(%0[?]) -> f32[4]} -> (%0)", "fused{a() -> 3} -> (%0)"})
            QTest::newRow(key) << key;
    }
    void malformed() {
        QFETCH(QString, key);
        QVERIFY(!keySize(key.toStdString()));
    }

    void results() { // outputs that are not there count nothing
        const auto size = keySize("fused{a(f32[4;1]) -> f32[4;1]} -> (%7, %0.9, %, %0)");
        QVERIFY(size);
        QCOMPARE(size->size, int64_t(32));
    }

    void betweenSizes() {
        const std::vector<std::pair<std::string, int64_t>> points = {{regionKey({64}), 1000},
                                                                     {regionKey({1024}), 4000}};
        QCOMPARE(priced({256}, points), std::pair(int64_t(2000), Provenance::Interpolated)); // log-log
        QCOMPARE(priced({64}, points), std::pair(int64_t(1000), Provenance::Interpolated));
        // Other dimensions of the same number of elements: the same bytes.
        QCOMPARE(priced({128, 16}, points), std::pair(int64_t(2000), Provenance::Interpolated));
    }

    void bounds() {
        const std::vector<std::pair<std::string, int64_t>> points = {{regionKey({64}), 1000},
                                                                     {regionKey({256}), 4000}};
        QCOMPARE(priced({31}, points).first, int64_t(-1));
        QCOMPARE(priced({32}, points).second, Provenance::Extrapolated);
        QCOMPARE(priced({512}, points), std::pair(int64_t(8000), Provenance::Extrapolated));
        QCOMPARE(priced({513}, points).first, int64_t(-1));
    }

    void othersAreNoPoints() {
        const std::vector<std::pair<std::string, int64_t>> points = {{regionKey({64}), 1000},
                                                                     {regionKey({256}), 4000}};
        QCOMPARE(priced({128, 8, true}, points).first, int64_t(-1));
        QCOMPARE(priced({128, 8, false, "aten.add.Tensor"}, points).first, int64_t(-1));
        QCOMPARE(priced({128}, points, Provenance::Analytical).first, int64_t(-1));
        QCOMPARE(priced({128}, points, Provenance::Reused).first, int64_t(2000));
    }
};

QTEST_GUILESS_MAIN(TestRegionInterpolation)
#include "tst_region_interpolation.moc"

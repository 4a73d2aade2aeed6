#include "base/median.h"

#include <QTest>
#include <limits>

using namespace gs;

class TestMedian : public QObject {
    Q_OBJECT
private slots:
    void median_data() {
        QTest::addColumn<QList<qlonglong>>("values");
        QTest::addColumn<qlonglong>("expected");
        const auto row = [](const char* name, const QList<qlonglong>& values, qlonglong expected) {
            QTest::newRow(name) << values << expected;
        };
        constexpr qlonglong kMost = std::numeric_limits<qlonglong>::max();
        row("none", {}, 0);
        row("one", {7}, 7);
        row("two", {9, 2}, 5); // 5.5 rounded down
        row("odd", {5, 1, 9}, 5);
        row("even", {40, 10, 20, 31}, 25);
        row("equal", {3, 3, 3, 3}, 3);
        row("negative", {-2, -5}, -4); // -3.5 rounded down
        row("large", {kMost, kMost - 1}, kMost - 1);
        row("far apart", {kMost, -kMost}, 0);
    }
    void median() {
        QFETCH(QList<qlonglong>, values);
        QFETCH(qlonglong, expected);
        QCOMPARE(qlonglong(gs::median({values.begin(), values.end()})), expected);
    }
};

QTEST_APPLESS_MAIN(TestMedian)
#include "tst_median.moc"

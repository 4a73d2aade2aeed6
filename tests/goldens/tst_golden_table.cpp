// The last test: one table of all goldens, by what the golden tests of this run left in the build tree. It
// fails where a test did not report, or where rows were left out although their files are at hand.
#include "schedule/scheduler.h"
#include "support/golden_count.h"
#include "support/test_data.h"

#include <QTest>
#include <algorithm>
#include <cstdio>

using namespace gs;

namespace {

struct Sum {
    test::GoldenCount count;
    size_t not_run = 0;
};

Sum sumOf(const std::map<std::string, test::GoldenCount>& parts) {
    Sum sum;
    for (const auto& [part, count] : parts) {
        sum.count.compared += count.compared;
        sum.count.errors += count.errors;
        for (const auto& [file, rows] : count.not_run) {
            sum.count.not_run[file] += rows;
            sum.not_run += rows;
        }
    }
    return sum;
}

} // namespace

class TestGoldenTable : public QObject {
    Q_OBJECT
private slots:
    void table() {
        const auto reported = test::takeGoldenCounts();
        std::vector<std::string> faults;
        std::printf("\n%-20s %10s %10s %22s %8s\n", "goldens", "at hand", "compared", "error rows answered",
                    "not run");
        for (const auto& [kind, rows] : test::goldenRows()) {
            const auto found = reported.find(kind);
            const Sum sum = found == reported.end() ? Sum() : sumOf(found->second);
            std::printf("%-20s %10zu %10zu %22zu %8zu\n", kind.c_str(), rows, sum.count.compared,
                        sum.count.errors, rows - std::min(rows, sum.count.compared + sum.count.errors));
            for (const auto& [file, count] : sum.count.not_run) {
                std::printf("%20s %zu rows not run: no %s\n", "", count, file.c_str());
                if (test::corpusPath(file))
                    faults.push_back(kind + ": " + file + " is at hand, its rows were not run");
            }
            const bool exists = kind != "overlap215" || findScheduler("overlap-scheduler-upstream");
            if (!exists)
                std::printf("%20s no scheduler of torch 2.15 in this build\n", "");
            else if (found == reported.end() && rows > 0)
                faults.push_back(kind + ": its test reported nothing; run it before this one");
            else if (sum.count.compared + sum.count.errors + sum.not_run != rows)
                faults.push_back(kind + ": " + std::to_string(rows) + " rows at hand, " +
                                 std::to_string(sum.count.compared + sum.count.errors + sum.not_run) +
                                 " accounted for");
        }
        std::printf("\n");
        std::fflush(stdout);
        for (const std::string& fault : faults)
            qWarning("%s", fault.c_str());
        QVERIFY2(faults.empty(), faults.empty() ? "" : faults.front().c_str());
    }
};

QTEST_GUILESS_MAIN(TestGoldenTable)
#include "tst_golden_table.moc"

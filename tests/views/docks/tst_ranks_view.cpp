// The Ranks dock: what it says in each state, the table's folds, the ring, links, drops.
#include "dock_test.h"
#include "support/line_graph.h"
#include "views/docks/data_table.h"
#include "views/docks/ranks_view.h"
#include "views/docks/wait_ring.h"

#include <QAbstractItemModelTester>
#include <QDir>
#include <QDropEvent>
#include <QMimeData>
#include <QPushButton>
#include <QSignalSpy>
#include <fmt/format.h>

using namespace gs;
using gs::test::GraphLine;

namespace {

using Lines = std::vector<GraphLine>;

/// `count` layers; the last all_reduce and all_gather are swapped with a host sync between for `other`.
Lines layers(int count, bool other) {
    Lines lines{{"x", ""}};
    for (int i = 0; i < count; ++i) {
        const std::string n = fmt::format("{}", i);
        const int64_t rows = 512 + 8 * i; // of different sizes, so that it can be said which one is missing
        lines.push_back({"p" + n, "", {}, "0", rows / 8});
        lines.push_back({"ag_" + n, "gather", {"p" + n}, "fsdp", rows});
        lines.push_back({"wait_" + n, "wait", {"ag_" + n}, "fsdp", rows});
        lines.push_back({"mm_" + n, "aten.mm.default", {"x", "wait_" + n}});
    }
    const GraphLine reduce{"grad", "reduce", {"mm_0"}, "replicate"};
    const GraphLine a2a{"dispatch", "a2a", {"mm_0"}, "shard"};
    lines.push_back(other ? reduce : a2a);
    lines.push_back({"item", "aten._local_scalar_dense.default", {"mm_0"}});
    lines.push_back(other ? a2a : reduce);
    lines.push_back({"wait_grad", "wait", {"grad"}});
    lines.push_back({"wait_dispatch", "wait", {"dispatch"}});
    lines.push_back({"out", "output", {"wait_grad", "wait_dispatch"}});
    return lines;
}

RankComparisonPtr compareLines(const std::vector<Lines>& ranks) {
    std::vector<RankProgram> programs;
    for (size_t i = 0; i < ranks.size(); ++i) {
        RankProgram program;
        program.rank = static_cast<int32_t>(i);
        program.label = fmt::format("rank {}", i);
        program.file = i == 0 ? "sample.json" : fmt::format("rank{}.json", i);
        program.graphs.push_back({"graph", {}, test::lineGraph(ranks[i])});
        programs.push_back(std::move(program));
    }
    return compareRanks(std::move(programs));
}

Lines withoutOne(Lines lines) {
    for (size_t i = 0; i < lines.size(); ++i) {
        if (lines[i].name == "ag_2") {
            lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(i),
                        lines.begin() + static_cast<std::ptrdiff_t>(i) + 2);
            lines[i].inputs = {"x", "p2"};
            break;
        }
    }
    return lines;
}

AnalysisPtr analysisWith(RankComparisonPtr ranks, std::optional<Error> error = std::nullopt) {
    test::SampleOptions options;
    options.edit = [&](Analysis& analysis) {
        analysis.request.graph_file = "sample.json";
        if (ranks || error)
            analysis.request.rank_files = {"rank1.json"};
        analysis.ranks = ranks;
        analysis.ranks_error = error;
        if (ranks)
            analysis.before.graph = ranks->ranks[0].program.graphs[0].graph;
    };
    return test::sampleAnalysis(options);
}

QString cell(const RanksView& view, int row, int column) {
    return view.table()->model()->index(row, column).data().toString();
}

} // namespace

class TestRanksView : public QObject {
    Q_OBJECT
private slots:
    void init() {
        QSettings().clear();
        Theme::apply(false);
    }

    void states() {
        RanksView view;
        QVERIFY(view.words().contains(QStringLiteral("No graph is open")));
        QVERIFY(!view.addButton()->isEnabled());
        view.setSnapshot(analysisWith(nullptr));
        test::showAt(view, 700, 400);
        QVERIFY(view.words().contains(QStringLiteral("Drop the graphs of other ranks")));
        QVERIFY(view.addButton()->isEnabled() && !view.removeButton()->isVisible());
        QVERIFY(!view.table()->isVisible());
        view.setSnapshot(
            analysisWith(nullptr, Error{"missing-file", "rank1.json: no such file", {}, "check the path"}));
        QVERIFY(view.words().contains(QStringLiteral("no such file")) &&
                view.words().contains(QStringLiteral("check the path")));
        QVERIFY(view.removeButton()->isVisible());
        QSignalSpy spy(&view, &View::rankFilesRequested);
        QTest::mouseClick(view.removeButton(), Qt::LeftButton);
        QCOMPARE(spy.count(), 1);
        QVERIFY(spy[0][0].toStringList().isEmpty());
        view.setSnapshot(nullptr);
        QVERIFY(view.words().contains(QStringLiteral("No graph is open")));
    }

    void table() {
        RanksModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        const auto comparison =
            compareLines({layers(6, false), layers(6, false), withoutOne(layers(6, false))});
        QCOMPARE(comparison->mode, RankMode::Abort);
        model.setComparison(comparison);
        QCOMPARE(model.classCount(), 2);
        QCOMPARE(model.headerData(RanksModel::First, Qt::Horizontal, Qt::DisplayRole).toString(),
                 QStringLiteral("ranks 0–1"));
        const int first = model.firstDifference();
        QVERIFY(first > 0);
        QCOMPARE(model.index(first, RanksModel::First + 1).data().toString(), QStringLiteral("nothing"));
        QCOMPARE(model.index(first, RanksModel::What).data().toString(), QStringLiteral("missing"));
        QCOMPARE(model.index(first, RanksModel::What).data(MarkRole).toInt(), static_cast<int>(Mark::Error));
        QVERIFY(model.isFold(first - 1)); // two equal ones before it
        const int rows = model.rowCount();
        model.toggle(first - 1);
        QCOMPARE(model.rowCount(), rows + 2);
        model.toggle(first - 1);
        QCOMPARE(model.rowCount(), rows);
        model.setComparison(nullptr);
        QCOMPARE(model.rowCount(), 0);
    }

    void deadlockIsNamed() {
        RanksView view;
        view.setSnapshot(analysisWith(compareLines({layers(4, false), layers(4, true)})));
        test::showAt(view, 760, 560);
        QCOMPARE(view.ring()->ranks(), QStringList({"rank 0", "rank 1"}));
        QCOMPARE(view.ring()->arrows(), QStringList({"on shard", "on replicate"}));
        QVERIFY(view.ring()->isVisible());
        const QString words = view.words();
        QVERIFY2(words.contains(QStringLiteral("Deadlock: ranks wait for each other")), qPrintable(words));
        QVERIFY(words.contains(QStringLiteral("rank 0 waits at \"item\" for all_to_all")) ||
                words.contains(QStringLiteral("rank 0 waits at &quot;item&quot; for all_to_all")));
    }

    void foldsAndSelection() {
        RanksView view;
        test::Asked asked(view);
        view.setSnapshot(analysisWith(compareLines({layers(6, false), withoutOne(layers(6, false))})));
        test::showAt(view, 760, 700);
        int fold = -1, differs = -1;
        const auto* model = view.table()->model();
        for (int row = 0; row < model->rowCount(); ++row) {
            fold = fold < 0 && cell(view, row, 0) == QStringLiteral("▸") ? row : fold;
            differs =
                differs < 0 && cell(view, row, RanksModel::What) == QStringLiteral("missing") ? row : differs;
        }
        QVERIFY(fold >= 0 && differs >= 0);
        view.table()->setCurrentIndex(model->index(differs, RanksModel::First));
        QTest::keyClick(view.table(), Qt::Key_Return);
        QCOMPARE(asked.selections.size(), size_t(1));
        QCOMPARE(asked.selections[0].name, QStringLiteral("ag_2"));
        const int rows = model->rowCount();
        const QRect at = view.table()->visualRect(model->index(fold, 0));
        view.table()->scrollTo(model->index(fold, 0));
        QTest::mouseClick(view.table()->viewport(), Qt::LeftButton, {},
                          view.table()->visualRect(model->index(fold, 0)).center());
        QVERIFY(model->rowCount() > rows || !at.isValid());
    }

    void droppedFiles() {
        RanksView view;
        view.setSnapshot(analysisWith(nullptr));
        test::showAt(view, 500, 300);
        QSignalSpy spy(&view, &View::rankFilesRequested);
        QMimeData mime;
        mime.setUrls({QUrl::fromLocalFile(QStringLiteral("/a/rank1.json")),
                      QUrl::fromLocalFile(QStringLiteral("/a/rank2.json"))});
        QDragEnterEvent enter(QPoint(20, 20), Qt::CopyAction, &mime, Qt::LeftButton, Qt::NoModifier);
        QCoreApplication::sendEvent(&view, &enter);
        QVERIFY(enter.isAccepted());
        QDropEvent drop(QPointF(20, 20), Qt::CopyAction, &mime, Qt::LeftButton, Qt::NoModifier);
        QCoreApplication::sendEvent(&view, &drop);
        QCOMPARE(spy.count(), 1);
        QCOMPARE(spy[0][0].toStringList(), QStringList({"/a/rank1.json", "/a/rank2.json"}));
        QVERIFY(view.words().contains(QStringLiteral("Reading 2 file")));
    }

    void hugeProgramsFold() {
        RanksView view;
        const auto comparison = compareLines({layers(3000, false), layers(3000, false)});
        QCOMPARE(comparison->mode, RankMode::Identical);
        view.setSnapshot(analysisWith(comparison));
        test::showAt(view, 700, 400);
        QVERIFY(view.table()->model()->rowCount() < 10);
        QVERIFY(!view.ring()->isVisible());
        QVERIFY(view.words().contains(QStringLiteral("run the same program")));
    }

    void pictures_data() {
        QTest::addColumn<bool>("dark");
        QTest::newRow("light") << false;
        QTest::newRow("dark") << true;
    }
    void pictures() {
        QFETCH(bool, dark);
        Theme::apply(dark);
        const QString folder = qEnvironmentVariable("GATHERSCOPE_PICTURES");
        const std::pair<QString, AnalysisPtr> all[] = {
            {"ranks-deadlock", analysisWith(compareLines({layers(8, false), layers(8, true)}))},
            {"ranks-missing", analysisWith(compareLines({layers(8, false), layers(8, false), layers(8, false),
                                                         withoutOne(layers(8, false))}))},
            {"ranks-identical", analysisWith(compareLines({layers(8, false), layers(8, false)}))},
            {"ranks-empty", analysisWith(nullptr)},
            {"ranks-error",
             analysisWith(nullptr, Error{"missing-file", "rank1.json: no such file", {}, "check the path"})}};
        for (const auto& [name, analysis] : all) {
            RanksView view;
            view.setSnapshot(analysis);
            test::showAt(view, 640, 520);
            QTest::qWait(20);
            const QImage image = view.grab().toImage();
            QVERIFY(!image.isNull());
            if (!folder.isEmpty())
                QVERIFY(image.save(
                    QDir(folder).filePath(QStringLiteral("%1-%2.png").arg(name, dark ? "dark" : "light"))));
        }
    }

private:
    test::IsolatedSettings settings_;
};

QTEST_MAIN(TestRanksView)
#include "tst_ranks_view.moc"

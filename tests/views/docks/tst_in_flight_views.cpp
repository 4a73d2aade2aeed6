// Collectives in flight at entry in the windows: rows, chip, card and bars. GATHERSCOPE_PICTURES=DIR keeps
// the pictures.
#include "dock_test.h"
#include "explain/why.h"
#include "support/test_data.h"
#include "views/docks/data_table.h"
#include "views/docks/gathers_view.h"
#include "views/docks/why_view.h"
#include "views/timeline/timeline_data.h"
#include "views/timeline/timeline_text.h"
#include "views/timeline/timeline_view.h"

#include <QAbstractItemModel>
#include <QDir>

using namespace gs;

namespace {

AnalysisPtr analyse(const std::string& durations) {
    AnalysisRequest request;
    request.graph_file = *test::corpusPath("graphs/partial_wait_on_input.json");
    static_cast<void>(request.settings.set("scheduler", "overlap-scheduler"));
    static_cast<void>(request.settings.set("in_flight_ns", durations));
    static_cast<void>(request.settings.set("in_flight_elapsed_ns", "arg4_1=20000"));
    Result<AnalysisPtr> result = Analyser().analyse(request, {});
    return result ? result.value() : nullptr;
}

} // namespace

class TestInFlightViews : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        analysis_ = analyse("arg3_1=350000,arg4_1=100000");
        QVERIFY(analysis_);
    }

    void table() {
        GathersView view;
        test::Asked asked(view);
        view.setSnapshot(analysis_);
        const auto* table = view.findChild<DataTable*>();
        QCOMPARE(table->model()->rowCount(), 2);
        const auto cell = [&](int row, int column) {
            return table->model()->index(row, column).data().toString();
        };
        QCOMPARE(cell(0, GathersModel::Parameter), QStringLiteral("arg3_1"));
        QCOMPARE(cell(0, GathersModel::VerdictText), QStringLiteral("in flight at entry"));
        QCOMPARE(cell(0, GathersModel::Place), QStringLiteral("12 → 15"));
        QCOMPARE(cell(1, GathersModel::Need), QStringLiteral("80 µs"));
        QCOMPARE(table->model()->index(0, GathersModel::State).data(MarkRole).toInt(), int(Mark::InFlight));
        view.setSelection({Selection::Kind::Node, QStringLiteral("wait_tensor_1")}); // its wait stands for it
        QCOMPARE(table->currentIndex().row(), 1);
        view.step(-1);
        QCOMPARE(asked.selections.back().name, QStringLiteral("arg3_1"));
        QVERIFY(asked.selections.back().kind == Selection::Kind::Node);
    }

    void card() {
        const Graph& graph = *analysis_->after.graph;
        for (const char* name : {"arg3_1", "wait_tensor"}) {
            const WhyCard card = explainNode(*analysis_, *graph.find(name));
            QCOMPARE(card.title, std::string("in flight at entry · arg3_1"));
            QVERIFY2(card.headline.find("has 350.0 µs left, of which") != std::string::npos,
                     card.headline.c_str());
            QCOMPARE(card.costs.size(), size_t{1});
        }
        const WhyCard hidden = explainNode(*analysis_, *graph.find("arg4_1"));
        QVERIFY2(hidden.headline.find("the 80.0 µs that are left of it are hidden") != std::string::npos,
                 hidden.headline.c_str());
        const AnalysisPtr missing = analyse("none");
        const WhyCard unknown = explainNode(*missing, *missing->after.graph->find("arg3_1"));
        QVERIFY(unknown.reason.text.find("in_flight_ns=arg3_1=NS") != std::string::npos);
    }

    void bars() {
        const TimelineDataPtr data = TimelineData::build(analysis_);
        QVERIFY(data->has(SliceKind::InFlight) && !data->has(SliceKind::OtherComm));
        for (size_t band = 0; band < 2; ++band) {
            QCOMPARE(data->bands[band].lanes.size(), size_t{3});
            QCOMPARE(data->bands[band].lanes[1].label, QStringLiteral("in flight at entry"));
            const auto bar = data->findCollective(band, 0);
            QVERIFY(bar);
            QCOMPARE(data->slice(*bar).start_ns, 0);
            QVERIFY(sliceTip(*data, *bar).contains(QStringLiteral("in flight at entry · arg3_1")));
            QCOMPARE(data->selectionFor(*bar).name, QStringLiteral("wait_tensor"));
        }
    }

    void pictures_data() {
        QTest::addColumn<bool>("dark");
        QTest::newRow("light") << false;
        QTest::newRow("dark") << true;
    }
    void pictures() {
        QFETCH(bool, dark);
        Theme::apply(dark);
        GathersView gathers;
        picture(gathers, QStringLiteral("gathers"), {620, 200}, analysis_);
        WhyView why;
        picture(why, QStringLiteral("why"), {420, 420}, analysis_);
        WhyView missing;
        picture(missing, QStringLiteral("why-missing"), {420, 420}, analyse("none"));
        TimelineView timeline;
        picture(timeline, QStringLiteral("timeline"), {1000, 330}, analysis_);
    }

private:
    static void picture(View& view, const QString& name, QSize size, const AnalysisPtr& analysis) {
        view.setSnapshot(analysis);
        view.setSelection({Selection::Kind::Node, QStringLiteral("arg3_1")});
        test::showAt(view, size.width(), size.height());
        QTest::qWait(20);
        const QImage image = view.grab().toImage();
        QCOMPARE(image.size(), size * view.devicePixelRatio());
        const QString folder = qEnvironmentVariable("GATHERSCOPE_PICTURES");
        if (!folder.isEmpty())
            QVERIFY(image.save(QDir(folder).filePath(
                QStringLiteral("in-flight-%1-%2.png").arg(name, Theme::current().dark ? "dark" : "light"))));
    }

    test::IsolatedSettings settings_;
    AnalysisPtr analysis_;
};

QTEST_MAIN(TestInFlightViews)
#include "tst_in_flight_views.moc"

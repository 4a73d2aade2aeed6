// The timeline on 100,000 slices: preparing a snapshot, making the scene, and painting the real widget
// offscreen at several zooms. The promise is 16 ms a frame.
#include "views/theme.h"
#include "views/timeline/timeline_canvas.h"
#include "views/timeline/timeline_view.h"

#include "views/timeline/timeline_fixture.h"

#include <QApplication>
#include <QPixmap>
#include <benchmark/benchmark.h>

namespace {

using namespace gs;

AnalysisPtr bigAnalysis(int groups) {
    static std::map<int, AnalysisPtr> made;
    AnalysisPtr& analysis = made[groups];
    if (!analysis) {
        test::TimelineShape shape;
        shape.layers = 400;
        shape.pointwise = 240; // with the rest of a layer: 100,000 slices of compute per band
        shape.groups = groups;
        shape.scatters = true;
        analysis = test::makeAnalysis(shape);
    }
    return analysis;
}

/// Range of 1/2^zoom of the step, from its middle.
TimeRange zoomed(const TimelineData& data, int64_t zoom) {
    const int64_t begin = data.end_ns / 2;
    return {begin, begin + std::max<int64_t>(1400, data.end_ns >> zoom)};
}

void prepare(benchmark::State& state) {
    const AnalysisPtr analysis = bigAnalysis(1);
    for (auto _ : state)
        benchmark::DoNotOptimize(TimelineData::build(analysis));
    state.counters["slices"] =
        static_cast<double>(TimelineData::build(analysis)->bands[1].lanes[0].slices.size());
}
BENCHMARK(prepare)->Unit(benchmark::kMillisecond);

void index(benchmark::State& state) {
    const auto data = TimelineData::build(bigAnalysis(1));
    const auto slices = data->bands[1].lanes[0].slices.slices();
    for (auto _ : state)
        benchmark::DoNotOptimize(SliceIndex(std::vector<Slice>(slices.begin(), slices.end())));
}
BENCHMARK(index)->Unit(benchmark::kMillisecond);

/// A frame after the range changed: scene and painting. Arguments: zoom, groups, height, scale in percent.
void frame(benchmark::State& state) {
    const AnalysisPtr analysis = bigAnalysis(static_cast<int>(state.range(1)));
    TimelineView view;
    view.resize(1440, static_cast<int>(state.range(2)));
    view.setSnapshot(analysis);
    view.setSelection({Selection::Kind::Gather, QString::fromStdString(test::launchName(*analysis, 1400))});
    const double scale = static_cast<double>(state.range(3)) / 100;
    QPixmap pixmap(view.size() * scale);
    pixmap.setDevicePixelRatio(scale);
    const TimeRange range = zoomed(*view.canvas()->data(), state.range(0));
    int64_t shift = 0;
    for (auto _ : state) {
        shift = (shift + 1) % 64; // never the same scene twice
        view.canvas()->setRange({range.begin_ns - shift, range.end_ns - shift});
        view.render(&pixmap);
    }
    state.counters["marks"] = static_cast<double>(view.canvas()->scene().marks.size());
}
BENCHMARK(frame)
    ->Unit(benchmark::kMillisecond)
    ->ArgNames({"zoom", "groups", "height", "scale"})
    ->ArgsProduct({{0, 2, 4, 6, 8, 10, 12, 14, 16, 20}, {1}, {380}, {100}})
    ->ArgsProduct({{0, 6, 8, 10, 12}, {20}, {1400}, {100}})
    ->ArgsProduct({{0, 8, 10}, {1}, {380}, {200}});

} // namespace

int main(int argc, char** argv) {
    qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication app(argc, argv);
    gs::Theme::apply(false);
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}

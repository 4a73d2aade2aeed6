// The window on the largest graph at hand, real widgets offscreen: file to first full picture, a slider step
// to updated views, and painting. Prints which graph it used; without the corpus a generated one of the same
// size.
#include "app/main_window.h"
#include "app/workspace.h"
#include "support/layered_graph.h"
#include "support/test_data.h"
#include "views/theme.h"

#include <QApplication>
#include <QPixmap>
#include <QTemporaryDir>
#include <benchmark/benchmark.h>
#include <cstdio>
#include <fstream>
#include <memory>

using namespace gs;

namespace {

struct Input {
    std::string graph;
    std::string costs;
};

Input input() {
    static const Input found = [] {
        const auto graph = test::corpusPath("graphs/llama3_405b_fsdp64_joint.json");
        const auto costs = test::corpusPath("costs/llama3_405b_fsdp64_joint.roofline.json");
        if (graph && costs)
            return Input{*graph, *costs};
        static QTemporaryDir folder;
        const std::string path = folder.filePath("layers.json").toStdString();
        std::ofstream(path) << test::graphJson(*test::layeredGraph(36'891));
        return Input{path, {}};
    }();
    return found;
}

/// Runs the event loop until the document has taken the snapshot of its request.
void settle(MainWindow& window, const SnapshotPtr& before) {
    while (window.document().snapshot() == before || window.document().busy())
        QApplication::processEvents(QEventLoop::AllEvents, 1);
}

std::unique_ptr<MainWindow> openWindow() {
    auto analyser = std::make_shared<Analyser>();
    auto window =
        std::make_unique<MainWindow>([analyser](const AnalysisRequest& request, const JobContext& job) {
            return analyser->analyse(request, job);
        });
    window->resize(1440, 900);
    window->show();
    AnalysisRequest request;
    request.graph_file = input().graph;
    if (!input().costs.empty())
        request.cost_files = {input().costs};
    window->open(request);
    settle(*window, nullptr);
    return window;
}

MainWindow& sharedWindow() {
    static const std::unique_ptr<MainWindow> window = openWindow();
    return *window;
}

void openToFirstPicture(benchmark::State& state) {
    for (auto _ : state) {
        const auto window = openWindow();
        benchmark::DoNotOptimize(window->grab());
    }
}

void sliderStep(benchmark::State& state) {
    MainWindow& window = sharedWindow();
    static int step = 0; // across runs: a value that is set already makes no new snapshot
    for (auto _ : state) {
        const SnapshotPtr before = window.document().snapshot();
        window.document().setSetting("contention", QString::number(1.2 + 0.01 * (step++ % 40)));
        settle(window, before);
        benchmark::DoNotOptimize(window.grab());
    }
}

/// Repaints one view as it stands.
void paintView(benchmark::State& state, const char* id) {
    MainWindow& window = sharedWindow();
    QWidget* view = window.workspace().view(id);
    if (!view) {
        state.SkipWithError("there is no such view");
        return;
    }
    QPixmap pixmap(view->size());
    for (auto _ : state)
        view->render(&pixmap);
}

} // namespace

BENCHMARK(openToFirstPicture)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(sliderStep)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(paintView, timeline, "timeline")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(paintView, graph, "graph")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(paintView, gathers, "gathers")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(paintView, costs, "costs")->Unit(benchmark::kMillisecond);

int main(int argc, char** argv) {
    qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication application(argc, argv);
    Theme::apply(false);
    benchmark::Initialize(&argc, argv);
    std::printf("graph: %s\n", input().graph.substr(input().graph.rfind('/') + 1).c_str());
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}

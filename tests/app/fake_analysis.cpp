#include "fake_analysis.h"

#include "cost/cost_model.h"
#include "graph/graph_builder.h"

#include <QMutex>
#include <QPainter>
#include <QThread>
#include <QVBoxLayout>

#include <cmath>

namespace gs::test {

namespace {

constexpr int kLayers = 6;

GraphPtr makeGraph(bool bucketed) {
    GraphBuilder builder;
    builder.info().name = "fake";
    builder.info().world_size = 8;
    std::vector<NodeId> parameters;
    for (int i = 0; i < kLayers; ++i)
        parameters.push_back(builder.addNode("p_" + std::to_string(i), NodeOp::Placeholder, "p"));
    NodeId x = builder.addNode("x", NodeOp::Placeholder, "x");
    NodeId bucket = kNoNode;
    for (int i = 0; i < kLayers; ++i) {
        const std::string n = std::to_string(i);
        NodeId launch = bucket;
        if (!bucketed || i > 1 || bucket == kNoNode) {
            const bool is_bucket = bucketed && i == 0;
            launch = builder.addNode(is_bucket ? "bucket_0" : "ag_" + n, NodeOp::CallFunction,
                                     "_c10d_functional.all_gather_into_tensor.default");
            builder.setArgs(launch, {builder.nodeArg(parameters[static_cast<size_t>(i)]), builder.intArg(8),
                                     builder.textArg(Arg::Kind::String, "fsdp")});
            if (is_bucket) {
                bucket = launch;
                builder.addOrigin(launch, builder.intern("ag_0"));
                builder.addOrigin(launch, builder.intern("ag_1"));
            }
        }
        const NodeId wait =
            builder.addNode("wait_" + n, NodeOp::CallFunction, "_c10d_functional.wait_tensor.default");
        builder.setArgs(wait, {builder.nodeArg(launch)});
        const NodeId mm = builder.addNode("mm_" + n, NodeOp::CallFunction, "aten.mm.default");
        builder.setArgs(mm, {builder.nodeArg(x), builder.nodeArg(wait)});
        x = mm;
    }
    const NodeId output = builder.addNode("output", NodeOp::Output, "output");
    builder.setArgs(output, {builder.nodeArg(x)});
    Diagnostics diagnostics;
    return builder.finish(&diagnostics);
}

Program makeProgram(const GraphPtr& graph, double step_ms, const std::string& scheduler) {
    Program program;
    program.graph = graph;
    program.collectives = std::make_shared<CollectiveTable>(*graph);
    CostChain chain;
    for (NodeId node = 0; node < graph->size(); ++node)
        chain.node_overrides[std::string(graph->name(node))] = 1000;
    program.costs = priceGraph(*graph, *program.collectives, chain);
    auto schedule = std::make_shared<Schedule>();
    schedule->scheduler = scheduler;
    schedule->order = identityOrder(*graph);
    schedule->run_ms = 4.1;
    for (size_t i = 0; i < program.collectives->size(); ++i) {
        Decision decision;
        decision.collective = static_cast<int32_t>(i);
        decision.launch = (*program.collectives)[i].launch;
        decision.cur = decision.launch;
        decision.target = i > 1 ? decision.launch - 2 : decision.launch;
        decision.verdict = i == 3 ? Verdict::ComputeLimited : Verdict::Hidden;
        schedule->decisions.push_back(decision);
    }
    schedule->candidates = schedule->decisions.size();
    program.schedule = schedule;
    auto timeline = std::make_shared<Timeline>();
    timeline->step_ns = std::llround(step_ms * 1e6);
    timeline->exposed_ns = timeline->step_ns / 10;
    timeline->peak_gathered_bytes = 448LL << 20;
    timeline->start_ns.assign(graph->size(), 0);
    timeline->end_ns.assign(graph->size(), 0);
    timeline->transfers.resize(program.collectives->size());
    program.timeline = timeline;
    return program;
}

QMutex warnings_mutex;
QStringList warnings;

void collect(QtMsgType type, const QMessageLogContext&, const QString& text) {
    // The offscreen platform has no window manager to ask.
    if (type == QtDebugMsg || type == QtInfoMsg ||
        text.startsWith(QLatin1String("This plugin does not support")))
        return;
    const QMutexLocker lock(&warnings_mutex);
    warnings.append(text);
}

} // namespace

AnalysisPtr fakeAnalysis(const AnalysisRequest& request) {
    auto analysis = std::make_shared<Analysis>();
    analysis->request = request;
    analysis->asked = request.settings;
    const GraphPtr plain = makeGraph(false);
    const bool bucketed = request.settings.text(Setting::BucketMode) == "coalesced";
    analysis->source.graph = plain;
    analysis->before = makeProgram(plain, 10, "program-order");
    analysis->after =
        makeProgram(bucketed ? makeGraph(true) : plain, request.settings.number(Setting::Contention),
                    request.settings.text(Setting::Scheduler));
    analysis->lower_bound_ns = 995'000;
    return analysis;
}

Result<AnalysisPtr> FakeCore::analyse(const AnalysisRequest& request, const JobContext& job) {
    ++started;
    most_running = std::max(most_running.load(), ++running);
    const struct Leave {
        std::atomic<int>& running;
        ~Leave() { --running; }
    } leave{running};
    for (int waited = 0; waited < delay_ms; waited += 2) {
        if (job.cancelled() && !ignore_stop) {
            ++stopped;
            return Error{"cancelled", "stopped", {}, ""};
        }
        job.report("waiting", waited / static_cast<double>(delay_ms));
        QThread::msleep(2);
    }
    if (fail || request.graph_file.find("bad") != std::string::npos)
        return Error{"not-a-graph", "no reader knows this file", {request.graph_file, 3, 7}, "Open a graph."};
    return fakeAnalysis(request);
}

AnalyseFunction fakeAnalyse(const std::shared_ptr<FakeCore>& core) {
    return
        [core](const AnalysisRequest& request, const JobContext& job) { return core->analyse(request, job); };
}

FakeView::FakeView(QWidget* parent) : View(parent) {
    setFocusPolicy(Qt::StrongFocus);
}

void FakeView::paintEvent(QPaintEvent*) {
    QPainter(this).drawText(rect(), Qt::AlignCenter, objectName());
}

std::span<const ViewInfo> fakeViews() {
    static constexpr auto make = [](QWidget* parent) -> View* { return new FakeView(parent); };
    static const ViewInfo kViews[] = {
        {"gathers", "Gathers", DockPlace::Left, make},         {"costs", "Costs", DockPlace::Left, make},
        {"diagnostics", "Diagnostics", DockPlace::Left, make}, {"why", "Why", DockPlace::Middle, make},
        {"settings", "Settings", DockPlace::Middle, make},     {"graph", "Graph", DockPlace::Right, make},
        {"timeline", "Timeline", DockPlace::Bottom, make},
    };
    return kViews;
}

WarningGuard::WarningGuard() {
    previous_ = qInstallMessageHandler(collect);
}

WarningGuard::~WarningGuard() {
    qInstallMessageHandler(previous_);
}

QStringList WarningGuard::take() {
    const QMutexLocker lock(&warnings_mutex);
    return std::exchange(warnings, {});
}

} // namespace gs::test

// Counterfactuals: what they promise holds when tried, from scratch, on sampled gathers of the corpus.
#include "explain/counterfactuals.h"
#include "support/test_data.h"

#include <QElapsedTimer>
#include <QtTest>

#include <map>
#include <random>

using namespace gs;
using namespace gs::test;

class TestCounterfactuals : public QObject {
    Q_OBJECT
private slots:
    void smallestHidesTheGather();
    void nothingForHiddenGathers();
    void cancelled();
};

namespace {

AnalysisPtr analyse(const AnalysisRequest& request) {
    Analyser fresh;
    return fresh.analyse(request, {}).value();
}

std::optional<AnalysisRequest> request(const std::string& graph, const std::string& costs,
                                       std::vector<std::pair<const char*, const char*>> settings) {
    const auto file = corpusPath("graphs/" + graph + ".json");
    const auto cost_file = corpusPath("costs/" + graph + "." + costs + ".json");
    if (!file || !cost_file)
        return std::nullopt;
    AnalysisRequest request;
    request.graph_file = *file;
    request.cost_files = {*cost_file};
    for (const auto& [name, value] : settings)
        (void)request.settings.set(std::string_view(name), value);
    return request;
}

std::vector<NodeId> exposedGathers(const Analysis& analysis) {
    std::vector<NodeId> launches;
    for (const Decision& decision : analysis.after.schedule->decisions) {
        if (decision.verdict != Verdict::NotCandidate &&
            analysis.after.timeline->transfers[static_cast<size_t>(decision.collective)].exposed_ns > 0)
            launches.push_back(decision.launch);
    }
    return launches;
}

struct Configuration {
    std::vector<std::pair<const char*, const char*>> settings;
};

const std::vector<Configuration> kConfigurations = {
    {{}},
    {{{"bucket_mode", "coalesced"}}},
    {{{"scheduler", "just-in-time"}, {"gather_budget_mib", "16"}}},
    {{{"scheduler", "overlap-scheduler"}, {"max_in_flight_gb", "0.01"}}},
    {{{"scheduler", "parameter-prefetch"}}},
};

} // namespace

void TestCounterfactuals::smallestHidesTheGather() {
    std::mt19937 random(2026);
    size_t sampled = 0, without = 0, all = 0, longer = 0;
    std::map<Counterfactual::Kind, size_t> smallest;
    QElapsedTimer clock;
    clock.start();
    for (const char* graph : {"mlp4_fsdp8_joint", "lm2_fsdp8_fwd", "aot_lm2_fsdp8_joint", "lm2_fsdp8_joint",
                              "lm3_multidtype_fsdp8_joint", "llama3_debug_fsdp8_joint"}) {
        for (const char* costs : {"roofline", "commheavy"}) {
            for (const Configuration& configuration : kConfigurations) {
                const auto wanted = request(graph, costs, configuration.settings);
                if (!wanted)
                    continue;
                const AnalysisPtr analysis = analyse(*wanted);
                std::vector<NodeId> launches = exposedGathers(*analysis);
                std::shuffle(launches.begin(), launches.end(), random);
                launches.resize(std::min<size_t>(launches.size(), 5));
                for (const NodeId launch : launches) {
                    ++sampled;
                    const auto found = findCounterfactuals(*analysis, launch, {}).value();
                    all += found.size();
                    if (found.empty()) {
                        ++without;
                        continue;
                    }
                    ++smallest[found.front().kind];
                    longer += found.front().lengthens_step ? 1 : 0;
                    QVERIFY(std::is_sorted(found.begin(), found.end(), [](const auto& a, const auto& b) {
                        return std::tie(a.lengthens_step, a.smallness) <
                               std::tie(b.lengthens_step, b.smallness);
                    }));
                    const AnalysisPtr tried = analyse(found.front().request);
                    QVERIFY2(exposedIn(*tried, *analysis, launch) == 0,
                             qPrintable(QString("%1 %2: %3").arg(graph, costs, found.front().text.c_str())));
                    QCOMPARE(tried->after.timeline->step_ns, found.front().step_ns);
                    QVERIFY(!findBrokenEdge(*tried->after.graph, tried->after.schedule->order));
                }
            }
        }
    }
    QString kinds;
    for (const auto& [kind, count] : smallest)
        kinds += QString(" kind %1: %2").arg(static_cast<int>(kind)).arg(count);
    qInfo("%zu gathers sampled, %zu changes found, %zu gathers that nothing hides, %zu only with a longer "
          "step, %lld ms; smallest by%s",
          sampled, all, without, longer, clock.elapsed(), qPrintable(kinds));
    QVERIFY(sampled - without >= (casePath("README.md") ? 200U : 50U));
}

void TestCounterfactuals::nothingForHiddenGathers() {
    const auto wanted = request("mlp4_fsdp8_joint", "roofline", {});
    QVERIFY(wanted);
    const AnalysisPtr analysis = analyse(*wanted);
    for (const Decision& decision : analysis->after.schedule->decisions) {
        if (exposedIn(*analysis, *analysis, decision.launch) == 0)
            QVERIFY(findCounterfactuals(*analysis, decision.launch, {}).value().empty());
    }
}

void TestCounterfactuals::cancelled() {
    const auto wanted = request("mlp4_fsdp8_joint", "commheavy", {});
    QVERIFY(wanted);
    const AnalysisPtr analysis = analyse(*wanted);
    const std::vector<NodeId> launches = exposedGathers(*analysis);
    QVERIFY(!launches.empty());
    std::stop_source stop;
    stop.request_stop();
    const auto found = findCounterfactuals(*analysis, launches.front(), {stop.get_token(), nullptr});
    QVERIFY(!found.ok());
    QCOMPARE(found.error().code, std::string("cancelled"));
}

QTEST_GUILESS_MAIN(TestCounterfactuals)
#include "tst_counterfactuals.moc"

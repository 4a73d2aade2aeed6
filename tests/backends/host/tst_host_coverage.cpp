// Which operators of the samples and of the corpus the host backend can measure.
#include "core/import/open_graph.h"
#include "host_backend.h"
#include "support/test_data.h"

#include <QTest>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>

using namespace gs;
using namespace gs::test;

namespace {

struct Count {
    size_t known = 0, unknown = 0;
};

class Coverage {
public:
    void add(const std::string& path) {
        const Opened opened = open(path);
        if (!opened.result)
            return;
        const Graph& graph = opened.graph();
        for (NodeId node = 0; node < graph.size(); ++node) {
            if (graph.node(node).kind != NodeKind::Compute || !graph.isCall(node))
                continue;
            const bool known = host::knowsOperator(graph, node);
            Count& count = rows_[std::string(graph.targetText(node))];
            ++(known ? count.known : count.unknown);
            ++(known ? all_.known : all_.unknown);
        }
    }
    double share() const {
        const size_t total = all_.known + all_.unknown;
        return total == 0 ? 0 : static_cast<double>(all_.known) / static_cast<double>(total);
    }
    void print(const char* title) const {
        std::printf("%s: %.1f %% of %zu operators can be measured; the others:\n", title, 100 * share(),
                    all_.known + all_.unknown);
        std::vector<std::pair<size_t, std::string>> missing;
        for (const auto& [target, count] : rows_) {
            if (count.unknown > 0)
                missing.emplace_back(count.unknown, target);
        }
        std::sort(missing.rbegin(), missing.rend());
        for (const auto& [count, target] : missing)
            std::printf("  %6zu  %s\n", count, target.c_str());
    }

private:
    std::map<std::string, Count> rows_;
    Count all_;
};

} // namespace

class TestHostCoverage : public QObject {
    Q_OBJECT
private slots:
    void samples() {
        Coverage coverage;
        for (const auto& file : std::filesystem::directory_iterator(GATHERSCOPE_SOURCE_DIR "/samples")) {
            if (file.path().string().ends_with(".json.gz"))
                coverage.add(file.path().string());
        }
        coverage.print("samples");
        QVERIFY2(coverage.share() > 0.9, std::to_string(coverage.share()).c_str());
    }

    void corpus() {
        Coverage coverage;
        for (const std::string& name : corpusGraphs()) {
            if (const auto path = corpusPath("graphs/" + name + ".json"))
                coverage.add(*path);
        }
        coverage.print("corpus");
        QVERIFY2(coverage.share() > 0.9, std::to_string(coverage.share()).c_str());
    }
};

QTEST_GUILESS_MAIN(TestHostCoverage)
#include "tst_host_coverage.moc"

// Which operators of the samples and of the corpus the host backend can measure.
#include "core/import/open_graph.h"
#include "host_backend.h"
#include "support/one_rank.h"
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
    /// With a backend, what it knows by name is prepared too.
    void add(const std::string& path, Backend* backend = nullptr) {
        const Opened opened = open(path);
        if (!opened.result)
            return;
        const Graph& graph = opened.graph();
        for (NodeId node = 0; node < graph.size(); ++node) {
            if (graph.node(node).kind != NodeKind::Compute || !graph.isCall(node))
                continue;
            const bool known =
                host::knowsOperator(graph, node) && (!backend || formIsKnown(*backend, graph, node));
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
    /// One of each target and result; what does not fit or has no sizes is not the backend's fault.
    bool formIsKnown(Backend& backend, const Graph& graph, NodeId node) {
        const TensorMeta* result = graph.value(node).firstTensor();
        const std::string form =
            std::string(graph.targetText(node)) + ' ' + std::to_string(graph.node(node).args.count) + ' ' +
            std::to_string(
                result ? static_cast<int>(result->dtype) * 100 + static_cast<int>(result->shape.size()) : 0);
        const auto known = forms_.find(form);
        if (known != forms_.end())
            return known->second;
        const auto op = backend.prepare(graph, node);
        const bool fine = op.ok() || op.error().code != "not-supported";
        if (!fine)
            std::printf("  %s: %s\n", form.c_str(), op.error().message.c_str());
        if (op.ok() || !fine)
            forms_[form] = fine;
        return fine;
    }

    std::map<std::string, bool> forms_;
    std::map<std::string, Count> rows_;
    Count all_;
};

} // namespace

class TestHostCoverage : public QObject {
    Q_OBJECT
private slots:
    void samples() {
        Coverage coverage;
        OneRank plane;
        host::HostBackend backend(plane);
        backend.setMemoryLimit(64 << 20);
        for (const auto& file : std::filesystem::directory_iterator(GATHERSCOPE_SOURCE_DIR "/samples")) {
            if (file.path().string().ends_with(".json.gz"))
                coverage.add(file.path().string(), &backend);
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

// Every public case and every cost file of ours, cut at 200 random places and given as costs: never a crash,
// and it says where the text stopped. Compressed files and databases are cut as bytes.
#include "cost/readers/kineto.h"
#include "cost/readers/trace_link.h"
#include "support/cost_graph.h"
#include "support/cost_reading.h"
#include "support/test_data.h"

#include <QTemporaryDir>
#include <QTest>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <random>

using namespace gs;
namespace fs = std::filesystem;
using test::LoadedCosts;

namespace {

std::string bytesOfFile(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// A place in an error or in something that was said: a line of the text.
bool saysWhere(const LoadedCosts& loaded) {
    if (!loaded.ok())
        return !loaded.model.error().message.empty() && loaded.model.error().where.line > 0;
    const auto& all = loaded.diagnostics.all();
    return std::any_of(all.begin(), all.end(), [](const Diagnostic& item) { return item.where.line > 0; });
}

} // namespace

class TstCostTruncation : public QObject {
    Q_OBJECT
private slots:
    void cutFiles_data();
    void cutFiles();
    void cutTracesSayWhichByte();
};

void TstCostTruncation::cutFiles_data() {
    QTest::addColumn<QString>("path");
    std::vector<fs::path> inputs;
    if (const auto cases = test::casePath("README.md")) {
        for (const auto& item : fs::recursive_directory_iterator(fs::path(*cases).parent_path())) {
            if (item.path().filename().string().rfind("input", 0) == 0)
                inputs.push_back(item.path());
        }
    }
    for (const auto& item : fs::directory_iterator(test::testDataPath("cost")))
        inputs.push_back(item.path());
    std::sort(inputs.begin(), inputs.end());
    for (const fs::path& path : inputs) {
        const std::string name = path.parent_path().filename().string() + "/" + path.filename().string();
        QTest::newRow(name.c_str()) << QString::fromStdString(path.string());
    }
}

void TstCostTruncation::cutFiles() {
    QFETCH(QString, path);
    const std::string whole = bytesOfFile(path.toStdString());
    const GraphPtr graph = test::CostGraph::make();
    const CollectiveTable table(*graph);
    const QTemporaryDir folder;
    const std::string name = folder.filePath("cut").toStdString();
    std::mt19937_64 random(whole.size());
    for (int round = 0; round < 200; ++round) {
        const size_t length = 1 + random() % (whole.size() - 1);
        std::ofstream(name, std::ios::binary) << whole.substr(0, length);
        const LoadedCosts loaded(name);
        // between two lines a table or a log looks whole
        const bool between = whole[length - 1] == '\n' || whole[length] == '\n' || whole[length] == '\r';
        const std::string text =
            loaded.ok() ? "no place" : loaded.model.error().code + ": " + loaded.model.error().message;
        QVERIFY2((loaded.ok() && between) || saysWhere(loaded), fmt::format("{}: {}", length, text).c_str());
        if (!loaded.ok())
            continue;
        Diagnostics checked;
        loaded.model.value()->check(*graph, checked);
        for (NodeId id = 0; id < graph->size(); ++id) {
            const auto cost = loaded.model.value()->estimate(*graph, table, id);
            QVERIFY(!cost || cost->ns >= 0);
        }
    }
}

void TstCostTruncation::cutTracesSayWhichByte() {
    for (const char* name :
         {"50-kineto-ddp-pg-metadata/input.json", "51-kineto-allgather-without-metadata/input.json",
          "52-kineto-two-ranks-sendrecv/input_rank0.json", "52-kineto-two-ranks-sendrecv/input_rank1.json",
          "54-kineto-ddp-rank1-pid1/input.json", "59-kineto-doc-annotation-and-cudagraph/input.json"}) {
        const auto path = test::casePath(name);
        if (!path)
            continue;
        const std::string whole = test::readAll(*path);
        std::mt19937_64 random(7);
        for (int round = 0; round < 200; ++round) {
            const size_t length = 1 + random() % (whole.size() - 1);
            const auto bytes = bytesOf(std::string_view(whole).substr(0, length));
            Result<TraceEvents> events = readKineto("cut.json", *bytes, {});
            if (!events) {
                QCOMPARE(events.error().code, std::string("not-a-trace"));
                QVERIFY(events.error().where.line > 0 && events.error().where.column > 0);
                continue;
            }
            if (whole.substr(length).find_first_not_of(" \t\r\n") != std::string::npos) {
                QVERIFY2(!events->stopped.empty(), fmt::format("{} {}", name, length).c_str());
                QVERIFY(events->stopped_at.line > 0 && events->stopped_at.column > 0);
                QCOMPARE(events->stopped_byte, length);
            }
            QVERIFY(linkTrace(events.value(), {}).ok());
        }
    }
}

QTEST_GUILESS_MAIN(TstCostTruncation)
#include "tst_cost_truncation.moc"

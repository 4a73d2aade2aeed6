// Every public case, cut at 200 random places: never a crash, and the text says where it stopped.
#include "core/import/open_graph.h"
#include "graph/collectives.h"
#include "support/test_data.h"

#include <QTest>
#include <filesystem>
#include <random>

using namespace gs;
using namespace gs::test;
namespace fs = std::filesystem;

class TstTruncation : public QObject {
    Q_OBJECT
private slots:
    void everyCase_data();
    void everyCase();
};

void TstTruncation::everyCase_data() {
    QTest::addColumn<QString>("path");
    const auto cases = casePath("README.md");
    const auto add = [](const fs::path& path) {
        const std::string name = path.parent_path().filename().string() + "/" + path.filename().string();
        QTest::newRow(name.c_str()) << QString::fromStdString(path.string());
    };
    if (cases) {
        std::vector<fs::path> inputs;
        for (const auto& item : fs::recursive_directory_iterator(fs::path(*cases).parent_path())) {
            if (item.path().filename().string().rfind("input", 0) == 0)
                inputs.push_back(item.path());
        }
        std::sort(inputs.begin(), inputs.end());
        for (const fs::path& path : inputs)
            add(path);
    }
    for (const auto& item : fs::directory_iterator(testDataPath("import"))) {
        if (item.is_regular_file())
            add(item.path());
    }
}

/// A line of the text in the error, or, where the graph's end is missing, in a warning.
static bool saysWhere(const Opened& opened, size_t lines) {
    if (!opened.result.ok()) {
        const Error& error = opened.result.error();
        return !error.message.empty() && !error.where.file.empty() && error.where.line > 0;
    }
    if (opened.graph().output() != kNoNode)
        return true; // the graph that was read is whole
    for (const Diagnostic& item : opened.diagnostics.all()) {
        if (item.where.line > 0 && item.where.line <= lines && item.severity >= Severity::Warning)
            return true;
    }
    return false;
}

void TstTruncation::everyCase() {
    QFETCH(QString, path);
    std::string text;
    try {
        text = readAll(path.toStdString());
    } catch (const std::exception&) {
        return; // one of the inputs that cannot be read at all
    }
    std::mt19937_64 random(text.size());
    for (int round = 0; round < 200; ++round) {
        const size_t length = 1 + random() % text.size();
        const Opened opened = openText(text.substr(0, length));
        const size_t lines = 1 + static_cast<size_t>(std::count(
                                     text.begin(), text.begin() + static_cast<std::ptrdiff_t>(length), '\n'));
        QVERIFY2(saysWhere(opened, lines), std::to_string(length).c_str());
        if (opened.result.ok()) {
            QVERIFY(!findBrokenEdge(opened.graph(), identityOrder(opened.graph())).has_value());
            const CollectiveTable table(opened.graph());
            Q_UNUSED(table);
        }
    }
}

QTEST_GUILESS_MAIN(TstTruncation)
#include "tst_truncation.moc"

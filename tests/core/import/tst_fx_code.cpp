#include "core/import/fx_compare.h"
#include "import/importer.h"
#include "support/test_data.h"

#include <QTest>

using namespace gs;
using namespace gs::test;

class TstFxCode : public QObject {
    Q_OBJECT
private slots:
    void corpusTextsEqualTheirJson_data();
    void corpusTextsEqualTheirJson();
};

void TstFxCode::corpusTextsEqualTheirJson_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("json");
    for (const std::string& name : corpusGraphs()) {
        const auto text = corpusPath("graphs/" + name + ".readable.txt");
        const auto json = corpusPath("graphs/" + name + ".json");
        if (text && json)
            QTest::newRow(name.c_str()) << QString::fromStdString(*text) << QString::fromStdString(*json);
    }
}

void TstFxCode::corpusTextsEqualTheirJson() {
    QFETCH(QString, text);
    QFETCH(QString, json);
    Diagnostics diagnostics;
    const auto imported = importGraph(text.toStdString(), -1, -1, diagnostics, {});
    QVERIFY(imported.ok());
    const Json file = Json::parse(readAll(json.toStdString()));
    const auto found = differences(*imported->graph, file, {});
    for (size_t i = 0; i < found.size() && i < 6; ++i)
        qWarning("%s", found[i].c_str());
    QCOMPARE(found.size(), size_t{0});
}

QTEST_GUILESS_MAIN(TstFxCode)
#include "tst_fx_code.moc"

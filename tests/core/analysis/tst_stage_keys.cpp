// Keys of the stages' caches: whatever changed is another key.
#include "analysis/stage_keys.h"
#include "export/file_writer.h"

#include <QDir>
#include <QTemporaryDir>
#include <QTest>

using namespace gs;

class TestStageKeys : public QObject {
    Q_OBJECT

private slots:
    void foldersChangeWithTheirFiles() {
        const QTemporaryDir folder;
        QVERIFY(QDir(folder.path()).mkdir("rank0"));
        const std::string root = folder.path().toStdString();
        const std::string file = folder.filePath("rank0/graph.json").toStdString();
        QVERIFY(writeFile(file, "one").ok());
        const std::string before = fileKey(root);
        QCOMPARE(fileKey(root), before);
        QVERIFY(writeFile(file, "another").ok());
        QVERIFY(fileKey(root) != before);
        QVERIFY(fileKey(root + "/missing") != fileKey(root));
    }

    void editsBelongToTheirStage() {
        const Edits edits = {parseEdit("move:a:b").value(), parseEdit("bucket:c,d").value()};
        QCOMPARE(editsKey(edits, true), std::string("bucket:c,d\n"));
        QCOMPARE(editsKey(edits, false), std::string("move:a:b\n"));
    }

    void settingsBelongToTheirStage() {
        Settings changed;
        QVERIFY(changed.set(Setting::SlackNs, "7").ok());
        QVERIFY(settingsKey(changed, Stage::Schedule) != settingsKey(Settings(), Stage::Schedule));
        QCOMPARE(settingsKey(changed, Stage::Passes), settingsKey(Settings(), Stage::Passes));
    }
};

QTEST_GUILESS_MAIN(TestStageKeys)
#include "tst_stage_keys.moc"

// A store that somebody writes into is told apart from one that is free.
#include "cost/profile_store.h"
#include "cost/profile_store_lock.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <sqlite3.h>

using namespace gs;

class TestProfileStoreLock : public QObject {
    Q_OBJECT
private slots:
    void freeAndLocked() {
        const QTemporaryDir folder;
        const std::string path = folder.filePath(QStringLiteral("p.db")).toStdString();
        QVERIFY(checkStoreIsFree(path));
        QVERIFY(!QFile::exists(QString::fromStdString(path))); // asking makes none
        QVERIFY(ProfileStore::open(path)->add(Profile()));
        QVERIFY(checkStoreIsFree(path));
        sqlite3* other = nullptr;
        QCOMPARE(sqlite3_open(path.c_str(), &other), SQLITE_OK);
        QCOMPARE(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
        const Status locked = checkStoreIsFree(path);
        QVERIFY(!locked);
        QCOMPARE(locked.error().code, std::string("store-locked"));
        sqlite3_exec(other, "ROLLBACK", nullptr, nullptr, nullptr);
        sqlite3_close(other);
        QVERIFY(checkStoreIsFree(path));
        QVERIFY(checkStoreIsFree(folder.path().toStdString())); // checkStorePath() says what it is
    }
};

QTEST_GUILESS_MAIN(TestProfileStoreLock)
#include "tst_profile_store_lock.moc"

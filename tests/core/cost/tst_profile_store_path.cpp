// What can hold a profile store, found out before anything is measured.
#include "cost/profile_store.h"
#include "cost/profile_store_path.h"

#include <QTemporaryDir>
#include <QTest>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

using namespace gs;

class TestProfileStorePath : public QObject {
    Q_OBJECT

private:
    QTemporaryDir dir_;
    std::string at(const std::string& name) const { return dir_.path().toStdString() + "/" + name; }

private slots:
    void usable() {
        QVERIFY(checkStorePath("").ok());
        QVERIFY(checkStorePath(at("new.db")).ok());
        QVERIFY(!std::filesystem::exists(at("new.db")));
        QVERIFY(ProfileStore::open(at("old.db")).ok());
        QVERIFY(checkStorePath(at("old.db")).ok());
        std::ofstream(at("empty.db")).close();
        QVERIFY(checkStorePath(at("empty.db")).ok());
        QCOMPARE(std::filesystem::file_size(at("empty.db")), uintmax_t(0));
        QCOMPARE(symlink("new.db", at("link.db").c_str()), 0);
        QVERIFY(checkStorePath(at("link.db")).ok());
    }

    void refused_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("code");
        QTest::addColumn<QString>("says");
        const auto row = [](const char* name, const char* code, const char* says) {
            QTest::newRow(name) << QString(name) << QString(code) << QString(says);
        };
        row(".", "not-a-profile-store", "is a folder, no profile store");
        row("pipe", "not-a-profile-store", "is no ordinary file");
        row("text", "not-a-profile-store", "is no profile store");
        row("text/x.db", "store-read-only", "is no folder");
        row("no/x.db", "store-read-only", "its folder");
        row("away", "store-read-only", "is not there");
        row("newer.db", "newer-profile-store", "schema 99");
        const std::string longest(300, 'x');
        QTest::newRow("long") << QString::fromStdString(longest) << "store-read-only"
                              << "cannot be made";
    }

    void refused() {
        QFETCH(QString, name);
        QFETCH(QString, code);
        QFETCH(QString, says);
        mkfifo(at("pipe").c_str(), 0600);
        std::ofstream(at("text")) << "no store\n";
        std::filesystem::remove(at("away"));
        std::filesystem::create_symlink("nowhere/x.db", at("away"));
        if (ProfileStore::open(at("newer.db")).ok()) {
            std::fstream file(at("newer.db"), std::ios::in | std::ios::out | std::ios::binary);
            file.seekp(60); // the user version in SQLite's header, big-endian
            file.write("\0\0\0\x63", 4);
        }
        const std::string path = at(name.toStdString());
        const Status status = checkStorePath(path);
        QVERIFY(!status.ok());
        QCOMPARE(QString::fromStdString(status.error().code), code);
        QVERIFY2(status.error().message.find(says.toStdString()) != std::string::npos,
                 status.error().message.c_str());
        QVERIFY(!status.error().hint.empty());
        QCOMPARE(status.error().where.file, path);
    }

    void opensRefuseWhatIsNoFile() {
        mkfifo(at("pipe").c_str(), 0600);
        for (const std::string& path : {at("pipe"), at(".")}) {
            QCOMPARE(ProfileStore::open(path).error().code, std::string("not-a-profile-store"));
            QCOMPARE(ProfileStore::openReadOnly(path).error().code, std::string("not-a-profile-store"));
        }
    }

    void foldersThatTheCallerMakes() {
        QVERIFY(checkStorePath(at("a/b/c.db"), StoreFolder::IsMade).ok());
        QVERIFY(!std::filesystem::exists(at("a")));
        std::ofstream(at("file")).close();
        QVERIFY(!checkStorePath(at("file/b/c.db"), StoreFolder::IsMade).ok());
    }

    void withoutPermission() {
        if (geteuid() == 0) {
            std::printf("NOT RUN: stores that cannot be written (root can write everywhere)\n");
            return;
        }
        namespace fs = std::filesystem;
        QVERIFY(ProfileStore::open(at("closed.db")).ok());
        fs::permissions(at("closed.db"), fs::perms::owner_read);
        QCOMPARE(checkStorePath(at("closed.db")).error().code, std::string("store-read-only"));
        fs::create_directory(at("closed"));
        fs::permissions(at("closed"), fs::perms::owner_read | fs::perms::owner_exec);
        const Status status = checkStorePath(at("closed/x.db"));
        const Status deeper = checkStorePath(at("closed/y/x.db"), StoreFolder::IsMade);
        fs::permissions(at("closed"), fs::perms::owner_all);
        QCOMPARE(status.error().code, std::string("store-read-only"));
        QCOMPARE(deeper.error().code, std::string("store-read-only"));
    }
};

QTEST_GUILESS_MAIN(TestProfileStorePath)
#include "tst_profile_store_path.moc"

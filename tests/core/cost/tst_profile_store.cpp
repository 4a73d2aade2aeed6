// The profile store: what goes in comes out, in every accident either the old or the new state.
#include "cost/profile_compare.h"
#include "cost/profile_store.h"

#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <random>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace gs;

namespace {

Profile sampleProfile(const std::string& device, int entries = 3, int64_t scale = 1) {
    Profile profile;
    profile.unix_time_s = 1'760'000'000;
    profile.device = device;
    profile.driver = "550.54";
    profile.versions = {{"cublasLt", "12.4"}, {"nccl", "2.21.5"}};
    profile.clocks = "1980 MHz of 1980 MHz, not throttled";
    profile.backend = "cuda";
    profile.ranks = 2;
    profile.graph_name = std::to_string(entries);
    profile.graph_hash = "0123456789abcdef";
    profile.mode = "identical";
    for (int i = 0; i < entries; ++i) {
        char key[32];
        std::snprintf(key, sizeof key, "key %06d; 'quoted'", i);
        profile.entries.push_back({key, "compute", "label", 1000 * scale + i, 10, 5, i % 2 ? -1 : 7, 4,
                                   Provenance::Measured, "a note"});
    }
    profile.contention.push_back({"gather", "mm", 1 << 20, 100, 150, 200, 210});
    profile.no_contention.push_back({"other", "mm", 1 << 21, 0, 0, 0, 0, "one queue"});
    return profile;
}

class Sqlite {
public:
    explicit Sqlite(const std::string& path) { sqlite3_open(path.c_str(), &database_); }
    ~Sqlite() { sqlite3_close(database_); }
    bool run(const std::string& sql) {
        return sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK;
    }
    std::string text(const std::string& sql) {
        sqlite3_stmt* statement = nullptr;
        std::string out;
        if (sqlite3_prepare_v2(database_, sql.c_str(), -1, &statement, nullptr) == SQLITE_OK &&
            sqlite3_step(statement) == SQLITE_ROW)
            out = reinterpret_cast<const char*>(sqlite3_column_text(statement, 0));
        sqlite3_finalize(statement);
        return out;
    }

private:
    sqlite3* database_ = nullptr;
};

/// Runs `body` in a child process, which ends with its result.
pid_t inChild(const std::function<int()>& body) {
    const pid_t child = fork();
    if (child == 0)
        _exit(body());
    return child;
}

int exitOf(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

} // namespace

class TestProfileStore : public QObject {
    Q_OBJECT
private slots:
    void init();
    void roundTrip();
    void listAndLatest();
    void removeTakesAll();
    void missingAndForeignFiles();
    void emptyFile();
    void newerSchema();
    void olderSchema();
    void olderContention();
    void readOnly();
    void locked();
    void full();
    void fullDisk();
    void damaged();
    void killedWriters();
    void readersDoNotWait();
    void writersTakeTurns();
    void comparison();
    void contention();

private:
    QTemporaryDir folder_;
    std::string path_;
    int count_ = 0;
};

void TestProfileStore::init() {
    path_ = folder_.filePath(QString("store%1.db").arg(++count_)).toStdString();
}

void TestProfileStore::roundTrip() {
    Profile profile = sampleProfile("NVIDIA H200");
    profile.entries[1].provenance = Provenance::Extrapolated;
    profile.entries[2].provenance = Provenance::Analytical;
    profile.entries[2].note = "";
    profile.driver = "";
    {
        auto store = ProfileStore::open(path_);
        QVERIFY2(store.ok(), store.ok() ? "" : store.error().message.c_str());
        const auto id = store->add(profile);
        QVERIFY(id.ok());
        QCOMPARE(id.value(), int64_t(1));
    }
    const auto store = ProfileStore::openReadOnly(path_);
    QVERIFY(store.ok());
    const auto read = store->read(1);
    QVERIFY(read.ok());
    profile.id = 1;
    QVERIFY(read.value() == profile);
    QCOMPARE(Sqlite(path_).text("PRAGMA journal_mode"), std::string("wal"));
}

void TestProfileStore::listAndLatest() {
    auto store = ProfileStore::open(path_);
    QVERIFY(store.ok());
    QCOMPARE(store->latest("").error().code, std::string("no-such-profile"));
    QVERIFY(store->add(sampleProfile("a", 1)).ok());
    QVERIFY(store->add(sampleProfile("b", 2)).ok());
    QVERIFY(store->add(sampleProfile("a", 5)).ok());
    const auto list = store->list();
    QVERIFY(list.ok());
    QCOMPARE(list->size(), 3U);
    QCOMPARE(list->front().id, int64_t(3));
    QCOMPARE(list->front().entries, int64_t(5));
    QCOMPARE(list->front().contention_points, int64_t(1));
    QCOMPARE(list->front().device, std::string("a"));
    QCOMPARE(store->latest("")->id, int64_t(3));
    QCOMPARE(store->latest("b")->id, int64_t(2));
    const auto none = store->latest("c");
    QVERIFY(!none.ok());
    QCOMPARE(none.error().hint, std::string("it knows \"a\", \"b\""));
    QCOMPARE(store->read(9).error().hint, std::string("it has 3, 2, 1"));
}

void TestProfileStore::removeTakesAll() {
    {
        auto store = ProfileStore::open(path_);
        QVERIFY(store.ok());
        QVERIFY(store->add(sampleProfile("a")).ok());
        QVERIFY(store->remove(1).ok());
        QCOMPARE(store->remove(1).error().code, std::string("no-such-profile"));
        QCOMPARE(store->add(sampleProfile("a")).value(), int64_t(2)); // ids are never used again
        QVERIFY(store->remove(2).ok());
    }
    Sqlite raw(path_);
    for (const char* table : {"profile", "version", "entry", "contention"})
        QCOMPARE(raw.text(std::string("SELECT count(*) FROM ") + table), std::string("0"));
}

void TestProfileStore::missingAndForeignFiles() {
    QCOMPARE(ProfileStore::openReadOnly(path_).error().code, std::string("no-such-file"));
    QVERIFY(!std::filesystem::exists(path_));
    QCOMPARE(ProfileStore::open(path_ + "/in/no/folder").error().code, std::string("store-failed"));
    std::ofstream(path_) << std::string(5000, 'x');
    QCOMPARE(ProfileStore::open(path_).error().code, std::string("not-a-profile-store"));
    QCOMPARE(ProfileStore::openReadOnly(path_).error().code, std::string("not-a-profile-store"));
    QCOMPARE(std::filesystem::file_size(path_), uintmax_t(5000));
    const std::string other = path_ + ".other";
    QVERIFY(Sqlite(other).run("CREATE TABLE notes(text)"));
    QCOMPARE(ProfileStore::open(other).error().code, std::string("not-a-profile-store"));
    QCOMPARE(ProfileStore::openReadOnly(other).error().code, std::string("not-a-profile-store"));
}

void TestProfileStore::emptyFile() {
    std::ofstream(path_).close();
    const auto reader = ProfileStore::openReadOnly(path_);
    QVERIFY(reader.ok());
    QVERIFY(reader->list().value().empty());
    QCOMPARE(reader->find("latest").error().code, std::string("no-such-profile"));
    QCOMPARE(std::filesystem::file_size(path_), uintmax_t(0));
    QVERIFY(ProfileStore::open(path_)->add(sampleProfile("one")).ok());
    QVERIFY(ProfileStore::openReadOnly(path_)->find("latest").ok());
}

void TestProfileStore::newerSchema() {
    QVERIFY(ProfileStore::open(path_).ok());
    QVERIFY(Sqlite(path_).run("PRAGMA user_version=99"));
    const auto store = ProfileStore::open(path_);
    QVERIFY(!store.ok());
    QCOMPARE(store.error().code, std::string("newer-profile-store"));
    QVERIFY(store.error().message.find("schema 99, this program knows up to 3") != std::string::npos);
    QCOMPARE(ProfileStore::openReadOnly(path_).error().code, std::string("newer-profile-store"));
    QVERIFY(Sqlite(path_).run("PRAGMA user_version=-100000"));
    QCOMPARE(ProfileStore::open(path_).error().code, std::string("not-a-profile-store"));
    QCOMPARE(ProfileStore::openReadOnly(path_).error().code, std::string("not-a-profile-store"));
}

void TestProfileStore::olderSchema() {
    {
        Sqlite raw(path_); // as version 1 made it, with a profile in it
        QVERIFY(raw.run(
            "CREATE TABLE profile(id INTEGER PRIMARY KEY AUTOINCREMENT, time_s INTEGER NOT NULL,"
            " device TEXT NOT NULL, driver TEXT NOT NULL, clocks TEXT NOT NULL, backend TEXT NOT NULL,"
            " ranks INTEGER NOT NULL, graph_name TEXT NOT NULL, graph_hash TEXT NOT NULL, mode TEXT NOT "
            "NULL);"
            "CREATE INDEX profile_device ON profile(device, id);"
            "CREATE TABLE version(profile INTEGER NOT NULL REFERENCES profile(id) ON DELETE CASCADE,"
            " library TEXT NOT NULL, version TEXT NOT NULL, PRIMARY KEY(profile, library)) WITHOUT ROWID;"
            "CREATE TABLE entry(profile INTEGER NOT NULL REFERENCES profile(id) ON DELETE CASCADE,"
            " key TEXT NOT NULL, kind TEXT NOT NULL, label TEXT NOT NULL, ns INTEGER NOT NULL,"
            " samples INTEGER NOT NULL, spread_ns INTEGER NOT NULL, rank_skew_ns INTEGER NOT NULL,"
            " calls INTEGER NOT NULL, provenance TEXT NOT NULL, note TEXT NOT NULL,"
            " PRIMARY KEY(profile, key)) WITHOUT ROWID;"
            "INSERT INTO profile VALUES(7, 1, 'old device', '', '', 'host', 1, 'g', 'h', 'identical');"
            "INSERT INTO entry VALUES(7, 'k', 'compute', 'l', 42, 10, 1, -1, 2, 'measured', '');"
            "PRAGMA application_id=1196650611; PRAGMA user_version=1"));
    }
    {
        const auto store = ProfileStore::openReadOnly(path_);
        QVERIFY2(store.ok(), store.ok() ? "" : store.error().message.c_str());
        const auto read = store->read(7);
        QVERIFY(read.ok());
        QCOMPARE(read->entries.at(0).ns, int64_t(42));
    }
    QCOMPARE(Sqlite(path_).text("PRAGMA user_version"), std::string("1")); // reading changed nothing
    auto store = ProfileStore::open(path_);
    QVERIFY2(store.ok(), store.ok() ? "" : store.error().message.c_str());
    QCOMPARE(store->read(7)->entries.at(0).ns, int64_t(42));
    QCOMPARE(store->add(sampleProfile("new")).value(), int64_t(8));
    QCOMPARE(store->read(8)->contention.size(), 1U);
    QCOMPARE(Sqlite(path_).text("PRAGMA user_version"), std::to_string(kProfileSchemaVersion));
}

/// Version 2 knew no reasons.
void TestProfileStore::olderContention() {
    Profile profile = sampleProfile("a");
    profile.no_contention.clear();
    QVERIFY(ProfileStore::open(path_)->add(profile).ok());
    QVERIFY(Sqlite(path_).run("ALTER TABLE contention DROP COLUMN reason; PRAGMA user_version=2"));
    for (const bool writable : {false, true}) {
        auto store = writable ? ProfileStore::open(path_) : ProfileStore::openReadOnly(path_);
        QVERIFY2(store.ok(), store.ok() ? "" : store.error().message.c_str());
        QCOMPARE(store->list()->front().contention_points, int64_t(1));
        QCOMPARE(store->read(1)->contention, profile.contention);
        QVERIFY(store->read(1)->no_contention.empty());
        if (writable)
            QCOMPARE(store->add(sampleProfile("b")).value(), int64_t(2));
    }
    const Profile read = ProfileStore::openReadOnly(path_)->read(2).value();
    QCOMPARE(read.no_contention, sampleProfile("b").no_contention);
}

void TestProfileStore::readOnly() {
    QVERIFY(ProfileStore::open(path_).ok());
    auto store = ProfileStore::openReadOnly(path_);
    QVERIFY(store.ok());
    QCOMPARE(store->add(sampleProfile("a")).error().code, std::string("store-read-only"));
    QCOMPARE(store->list()->size(), 0U);
    if (geteuid() == 0) {
        std::printf("NOT RUN: a store in a folder that cannot be written (root can write everywhere)\n");
        return;
    }
    const std::filesystem::path closed = path_ + ".folder";
    std::filesystem::create_directory(closed);
    const std::string inside = (closed / "store.db").string();
    QVERIFY(ProfileStore::open(inside).ok());
    std::filesystem::permissions(inside, std::filesystem::perms::owner_read);
    std::filesystem::permissions(closed,
                                 std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
    const auto read = ProfileStore::openReadOnly(inside);
    const auto write = ProfileStore::open(inside);
    std::filesystem::permissions(closed, std::filesystem::perms::owner_all);
    QVERIFY(read.ok());
    QVERIFY(!write.ok());
    QCOMPARE(write.error().code, std::string("store-read-only"));
}

void TestProfileStore::locked() {
    QVERIFY(ProfileStore::open(path_).ok());
    int ready[2];
    QCOMPARE(pipe(ready), 0);
    const pid_t child = inChild([&] {
        Sqlite raw(path_);
        const bool good = raw.run("BEGIN IMMEDIATE");
        const char byte = good ? 'y' : 'n';
        if (write(ready[1], &byte, 1) == 1)
            pause();
        return 0;
    });
    char byte = 0;
    QCOMPARE(read(ready[0], &byte, 1), ssize_t(1));
    QCOMPARE(byte, 'y');
    ProfileStoreOptions options;
    options.busy_ms = 100;
    auto store = ProfileStore::open(path_, options);
    QVERIFY(store.ok());
    const auto id = store->add(sampleProfile("a"));
    QVERIFY(!id.ok());
    QCOMPARE(id.error().code, std::string("store-locked"));
    const QString message = QString::fromStdString(id.error().message);
    if (std::filesystem::exists("/proc/locks") && message.contains("by process"))
        QVERIFY2(message.contains(QString("by process %1 (").arg(child)), qPrintable(message));
    else
        std::printf("NOT RUN: who holds the lock (the system does not tell: %s)\n", qPrintable(message));
    QCOMPARE(store->list()->size(), 0U); // readers do not wait
    kill(child, SIGKILL);
    exitOf(child);
    QVERIFY(store->add(sampleProfile("a")).ok());
    close(ready[0]);
    close(ready[1]);
}

void TestProfileStore::full() {
    ProfileStoreOptions options;
    options.max_bytes = 200'000;
    auto store = ProfileStore::open(path_, options);
    QVERIFY(store.ok());
    QVERIFY(store->add(sampleProfile("a", 10)).ok());
    const auto id = store->add(sampleProfile("a", 20000));
    QVERIFY(!id.ok());
    QCOMPARE(id.error().code, std::string("store-full"));
    QCOMPARE(store->list()->size(), 1U);
    QVERIFY(store->add(sampleProfile("a", 10)).ok());
    QCOMPARE(store->list()->size(), 2U);
}

/// A limit on the size of files stands in for a disk without room: writes fail half-way.
void TestProfileStore::fullDisk() {
    QVERIFY(ProfileStore::open(path_)->add(sampleProfile("a", 10)).ok());
    for (const rlim_t room : {0U, 5000U, 60000U, 300000U}) {
        const int code = exitOf(inChild([&] {
            signal(SIGXFSZ, SIG_IGN);
            const rlimit limit{room, room};
            setrlimit(RLIMIT_FSIZE, &limit);
            auto store = ProfileStore::open(path_);
            if (!store)
                return store.error().code.starts_with("store-") ? 0 : 1;
            const auto id = store->add(sampleProfile("a", 50000));
            return id.ok() ? 2 : id.error().code.starts_with("store-") ? 0 : 3;
        }));
        QCOMPARE(code, 0);
        const auto store = ProfileStore::openReadOnly(path_);
        QVERIFY(store.ok());
        QCOMPARE(store->list()->size(), 1U);
        QCOMPARE(store->read(1)->entries.size(), 10U);
        QCOMPARE(Sqlite(path_).text("PRAGMA integrity_check"), std::string("ok"));
    }
    QVERIFY(ProfileStore::open(path_)->add(sampleProfile("a", 10)).ok());
}

void TestProfileStore::damaged() {
    QVERIFY(ProfileStore::open(path_)->add(sampleProfile("a", 2000)).ok());
    const auto size = std::filesystem::file_size(path_);
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4096);
    file << std::string(size - 4096, '\x5a');
    file.close();
    const auto store = ProfileStore::openReadOnly(path_);
    if (store.ok())
        QCOMPARE(store->read(1).error().code, std::string("store-damaged"));
    else
        QCOMPARE(store.error().code, std::string("store-damaged"));
}

void TestProfileStore::killedWriters() {
    std::mt19937 random(7);
    QVERIFY(ProfileStore::open(path_).ok());
    size_t before = 0;
    int in_between = 0;
    for (int round = 0; round < 50; ++round) {
        const pid_t child = inChild([&] {
            auto store = ProfileStore::open(path_);
            for (int i = 0; store.ok(); ++i) {
                if (!store->add(sampleProfile("a", 300 + i)).ok())
                    return 1;
                if (i % 3 == 2 && !store->remove(store->list()->back().id).ok())
                    return 2;
            }
            return 3;
        });
        usleep(random() % 40000);
        kill(child, SIGKILL);
        QCOMPARE(exitOf(child), -1);
        QCOMPARE(Sqlite(path_).text("PRAGMA integrity_check"), std::string("ok"));
        QCOMPARE(
            Sqlite(path_).text("SELECT count(*) FROM entry WHERE profile NOT IN (SELECT id FROM profile)"),
            std::string("0"));
        const auto store = ProfileStore::openReadOnly(path_);
        QVERIFY(store.ok());
        const auto list = store->list();
        QVERIFY(list.ok());
        for (const ProfileSummary& item : list.value())
            QCOMPARE(std::to_string(item.entries), item.graph_name); // each one is whole
        in_between += list->size() != before;
        before = list->size();
    }
    QVERIFY(in_between > 10); // the children got somewhere
}

void TestProfileStore::readersDoNotWait() {
    auto writer = ProfileStore::open(path_);
    QVERIFY(writer.ok());
    QVERIFY(writer->add(sampleProfile("a", 50)).ok());
    std::atomic<bool> stop{false};
    std::atomic<int> reads{0}, faults{0};
    std::vector<std::thread> readers;
    for (int i = 0; i < 4; ++i) {
        readers.emplace_back([&] {
            ProfileStoreOptions options;
            options.busy_ms = 0;
            while (!stop) {
                const auto store = ProfileStore::openReadOnly(path_, options);
                const auto latest = store.ok() ? store->latest("a") : Result<Profile>(store.error());
                const bool whole =
                    latest.ok() && std::to_string(latest->entries.size()) == latest->graph_name;
                ++(whole ? reads : faults);
            }
        });
    }
    for (int i = 0; i < 40; ++i) {
        if (!writer->add(sampleProfile("a", 50 + i)).ok())
            ++faults;
    }
    stop = true;
    for (std::thread& reader : readers)
        reader.join();
    QCOMPARE(faults.load(), 0);
    QVERIFY(reads > 10);
}

void TestProfileStore::writersTakeTurns() {
    std::vector<pid_t> children;
    for (int i = 0; i < 4; ++i) // also: all make the file at once
        children.push_back(inChild([&] {
            ProfileStoreOptions options;
            options.busy_ms = 20000;
            auto store = ProfileStore::open(path_, options);
            Status status = store ? Status(Unit{}) : Status(store.error());
            for (int k = 0; status && k < 10; ++k) {
                const Result<int64_t> id = store->add(sampleProfile("a", 20));
                status = id ? Status(Unit{}) : Status(id.error());
            }
            if (!status)
                std::fprintf(stderr, "%s\n", status.error().message.c_str());
            return status ? 0 : 1;
        }));
    for (const pid_t child : children)
        QCOMPARE(exitOf(child), 0);
    QCOMPARE(ProfileStore::openReadOnly(path_)->list()->size(), 40U);
}

void TestProfileStore::comparison() {
    Profile a = sampleProfile("a", 4);
    Profile b = sampleProfile("a", 4, 2);
    a.entries.pop_back();
    b.entries.erase(b.entries.begin());
    b.entries[0].ns = 10; // key 1: the smaller change
    b.entries.push_back({"key z", "compute", "", 5, 0, -1, -1, 1, Provenance::Analytical, "would not fit"});
    const auto rows = compareProfiles(a, b);
    QCOMPARE(rows.size(), 4U);
    QVERIFY(rows[0].inBoth() && rows[1].inBoth());
    QCOMPARE(rows[0].a_ns, int64_t(1002));
    QCOMPARE(rows[0].b_ns, int64_t(2002));
    QVERIFY(std::abs(rows[0].ratio() - 2002.0 / 1002.0) < 1e-12);
    QCOMPARE(rows[1].b_ns, int64_t(10));
    QCOMPARE(rows[2].b_ns, int64_t(-1));
    QCOMPARE(rows[3].a_ns, int64_t(-1));
    QCOMPARE(rows[3].ratio(), 0.0);
    QVERIFY(compareProfiles({}, {}).empty());
}

void TestProfileStore::contention() {
    Profile profile = sampleProfile("a");
    profile.contention = {{"long", "mm", 1 << 21, 900, 1350, 200, 210}};
    QCOMPARE(overallContention(profile).factor, 1.5);
    profile.contention.push_back({"short", "mm", 1 << 10, 100, 1150, 200, 230}); // ×11.5, but hardly any time
    QCOMPARE(overallContention(profile).factor, 2.5);
    QVERIFY(std::abs(overallContention(profile).compute_slowdown - 1.1) < 1e-9);
    QCOMPARE(overallContention({}).factor, 1.0);
}

QTEST_GUILESS_MAIN(TestProfileStore)
#include "tst_profile_store.moc"

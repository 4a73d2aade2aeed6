#include "cost/profile_store.h"

#include "cost/profile_sql.h"
#include "cost/profile_store_path.h"

#include <charconv>
#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <sqlite3.h>
#include <thread>

namespace gs {

namespace {

constexpr int64_t kApplicationId = 0x47537073; // "GSps", PRAGMA application_id

/// kMigrations[v] turns version v into v + 1; v = 0 is an empty file. Steps are never changed, only added.
constexpr const char* kMigrations[] = {
    "CREATE TABLE profile(id INTEGER PRIMARY KEY AUTOINCREMENT, time_s INTEGER NOT NULL, device TEXT NOT "
    "NULL,"
    " driver TEXT NOT NULL, clocks TEXT NOT NULL, backend TEXT NOT NULL, ranks INTEGER NOT NULL,"
    " graph_name TEXT NOT NULL, graph_hash TEXT NOT NULL, mode TEXT NOT NULL);"
    "CREATE INDEX profile_device ON profile(device, id);"
    "CREATE TABLE version(profile INTEGER NOT NULL REFERENCES profile(id) ON DELETE CASCADE,"
    " library TEXT NOT NULL, version TEXT NOT NULL, PRIMARY KEY(profile, library)) WITHOUT ROWID;"
    "CREATE TABLE entry(profile INTEGER NOT NULL REFERENCES profile(id) ON DELETE CASCADE, key TEXT NOT NULL,"
    " kind TEXT NOT NULL, label TEXT NOT NULL, ns INTEGER NOT NULL, samples INTEGER NOT NULL,"
    " spread_ns INTEGER NOT NULL, rank_skew_ns INTEGER NOT NULL, calls INTEGER NOT NULL,"
    " provenance TEXT NOT NULL, note TEXT NOT NULL, PRIMARY KEY(profile, key)) WITHOUT ROWID;",
    "CREATE TABLE contention(profile INTEGER NOT NULL REFERENCES profile(id) ON DELETE CASCADE,"
    " position INTEGER NOT NULL, key TEXT NOT NULL, beside TEXT NOT NULL, bytes INTEGER NOT NULL,"
    " alone_ns INTEGER NOT NULL, together_ns INTEGER NOT NULL, compute_alone_ns INTEGER NOT NULL,"
    " compute_together_ns INTEGER NOT NULL, PRIMARY KEY(profile, position)) WITHOUT ROWID;",
    // What could not be measured beside compute, and why, is not tried again each time.
    "ALTER TABLE contention ADD COLUMN reason TEXT NOT NULL DEFAULT '';",
};
static_assert(std::size(kMigrations) == kProfileSchemaVersion);

constexpr const char* kProfileColumns = "SELECT id, time_s, device, driver, clocks, backend, ranks,"
                                        " graph_name, graph_hash, mode FROM profile ";

int64_t pragma(sqlite3* database, const char* name) {
    Sql sql(database, fmt::format("PRAGMA {}", name));
    return sql.step() ? sql.integer(0) : 0;
}

Provenance provenanceByName(const std::string& name) {
    for (int at = 0; at <= static_cast<int>(Provenance::Missing); ++at) {
        if (provenanceName(static_cast<Provenance>(at)) == name)
            return static_cast<Provenance>(at);
    }
    return Provenance::Missing;
}

Profile readHead(const Sql& row) {
    Profile profile;
    profile.id = row.integer(0);
    profile.unix_time_s = row.integer(1);
    profile.device = row.text(2);
    profile.driver = row.text(3);
    profile.clocks = row.text(4);
    profile.backend = row.text(5);
    profile.ranks = static_cast<int32_t>(row.integer(6));
    profile.graph_name = row.text(7);
    profile.graph_hash = row.text(8);
    profile.mode = row.text(9);
    return profile;
}

/// SQLite does not wait for other processes that are about to do the same; some of them find a file that
/// changes under their hands.
bool useWal(sqlite3* database, int32_t busy_ms) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(busy_ms);
    while (!runSql(database, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL")) {
        const int code = sqlite3_errcode(database) & 0xff;
        if ((code != SQLITE_BUSY && code != SQLITE_IOERR) || std::chrono::steady_clock::now() >= until)
            return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return true;
}

/// A transaction that is rolled back unless it was committed. Takes the write lock at once, so that nothing
/// is decided on a state that another process changes.
class Transaction {
public:
    explicit Transaction(sqlite3* database)
        : database_(database), open_(runSql(database, "BEGIN IMMEDIATE")) {}
    ~Transaction() {
        if (open_)
            runSql(database_, "ROLLBACK");
    }
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    bool isOpen() const { return open_; }
    bool commit() {
        if (!open_ || !runSql(database_, "COMMIT"))
            return false;
        open_ = false;
        return true;
    }

private:
    sqlite3* database_;
    bool open_;
};

} // namespace

void ProfileStore::Close::operator()(sqlite3* database) const {
    sqlite3_close(database);
}

Status ProfileStore::connect(int flags, const ProfileStoreOptions& options) {
    if (Status file = checkStoreIsFile(path_); !file) // SQLite would wait for a pipe's other end
        return file.error();
    sqlite3* database = nullptr;
    const auto open = [&](const std::string& name, int more) {
        const int code = sqlite3_open_v2(name.c_str(), &database, flags | more, nullptr);
        database_.reset(database);
        sqlite3_busy_timeout(database, options.busy_ms);
        // The file is first looked at here.
        return code == SQLITE_OK && runSql(database, "SELECT count(*) FROM sqlite_master");
    };
    if (!open(path_, 0)) {
        // In a folder that cannot be written a store without pending changes can be read as it stands.
        const bool read_only = (flags & SQLITE_OPEN_READONLY) != 0;
        const int code = sqlite3_errcode(database) & 0xff;
        std::error_code ignored;
        const auto bytes = std::filesystem::file_size(path_ + "-wal", ignored);
        const bool pending = !ignored && bytes > 0;
        if (!read_only || pending || (code != SQLITE_CANTOPEN && code != SQLITE_READONLY))
            return storeError(database, path_, "opening");
        std::string uri = "file:";
        for (const char c : std::filesystem::absolute(path_, ignored).string())
            uri += c == '%' || c == '?' || c == '#' ? fmt::format("%{:02x}", static_cast<unsigned char>(c))
                                                    : std::string(1, c);
        if (!open(uri + "?immutable=1", SQLITE_OPEN_URI))
            return storeError(database, path_, "opening");
    }
    runSql(database, "PRAGMA foreign_keys=ON");
    sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    if (options.max_bytes > 0)
        runSql(database, fmt::format("PRAGMA max_page_count={}",
                                     options.max_bytes / std::max<int64_t>(pragma(database, "page_size"), 1))
                             .c_str());
    return Unit{};
}

/// 0 for an empty file.
Result<int64_t> ProfileStore::checkVersion() const {
    const int64_t version = pragma(database_.get(), "user_version");
    const bool empty = pragma(database_.get(), "schema_version") == 0;
    if ((pragma(database_.get(), "application_id") != kApplicationId && !empty) || version < 0)
        return Error{"not-a-profile-store",
                     fmt::format("{} is an SQLite file, but no profile store", path_),
                     {path_, 0, 0},
                     "choose a new file; the store is made on first use"};
    if (version > kProfileSchemaVersion)
        return Error{"newer-profile-store",
                     fmt::format("the profile store {} has schema {}, this program knows up to {}", path_,
                                 version, kProfileSchemaVersion),
                     {path_, 0, 0},
                     "use the newer program that wrote it, or another file"};
    return version;
}

Status ProfileStore::bringUpToDate() {
    Transaction transaction(database_.get());
    if (!transaction.isOpen())
        return storeError(database_.get(), path_, "updating");
    const Result<int64_t> version = checkVersion(); // again: another process may have been faster
    if (!version)
        return version.error();
    for (int64_t at = version.value(); at < kProfileSchemaVersion; ++at) {
        if (!runSql(database_.get(), kMigrations[at]))
            return storeError(database_.get(), path_, "updating");
    }
    const std::string marks = fmt::format("PRAGMA application_id={}; PRAGMA user_version={}", kApplicationId,
                                          kProfileSchemaVersion);
    if (!runSql(database_.get(), marks.c_str()) || !transaction.commit())
        return storeError(database_.get(), path_, "updating");
    return Unit{};
}

Status ProfileStore::copyToMemory() {
    sqlite3* memory = nullptr;
    sqlite3_open_v2(":memory:", &memory, SQLITE_OPEN_READWRITE, nullptr);
    std::unique_ptr<sqlite3, Close> copy(memory);
    // An empty file is an empty store; its copy would count as another program's.
    if (pragma(database_.get(), "schema_version") != 0) {
        sqlite3_backup* backup = sqlite3_backup_init(memory, "main", database_.get(), "main");
        if (backup)
            sqlite3_backup_step(backup, -1);
        if (!backup || sqlite3_backup_finish(backup) != SQLITE_OK)
            return storeError(memory, path_, "reading");
    }
    database_ = std::move(copy);
    return bringUpToDate();
}

Result<ProfileStore> ProfileStore::open(const std::string& path, const ProfileStoreOptions& options) {
    ProfileStore store(path);
    if (Status status = store.connect(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, options); !status)
        return status.error();
    const Result<int64_t> version = store.checkVersion();
    if (!version)
        return version.error();
    if (sqlite3_db_readonly(store.database_.get(), "main") == 1)
        return Error{"store-read-only",
                     fmt::format("the profile store {} cannot be written", path),
                     {path, 0, 0},
                     "look at the permissions of the file and its folder"};
    // On some network file systems there is no WAL; the rollback journal is as safe there, but readers wait.
    if (!useWal(store.database_.get(), options.busy_ms))
        return storeError(store.database_.get(), path, "opening");
    if (version.value() < kProfileSchemaVersion) {
        if (Status status = store.bringUpToDate(); !status)
            return status.error();
    }
    return store;
}

Result<ProfileStore> ProfileStore::openReadOnly(const std::string& path, const ProfileStoreOptions& options) {
    std::error_code error;
    if (!std::filesystem::exists(path, error))
        return Error{"no-such-file",
                     fmt::format("there is no profile store {}", path),
                     {path, 0, 0},
                     "`gatherscope-cli profile --store FILE` makes one"};
    ProfileStore store(path);
    if (Status status = store.connect(SQLITE_OPEN_READONLY, options); !status)
        return status.error();
    const Result<int64_t> version = store.checkVersion();
    if (!version)
        return version.error();
    if (version.value() < kProfileSchemaVersion) {
        if (Status status = store.copyToMemory(); !status)
            return status.error();
    }
    return store;
}

Status ProfileStore::insertParts(const Profile& profile, int64_t id) {
    sqlite3* database = database_.get();
    // Nothing else may run after a failure: the connection keeps only the last error.
    const auto failed = [&] { return storeError(database, path_, "writing"); };
    Sql version(database, "INSERT INTO version VALUES(?,?,?)");
    for (const auto& [library, text] : profile.versions) {
        if (!version.bind(id).bind(library).bind(text).run())
            return failed();
    }
    Sql entry(database, "INSERT INTO entry VALUES(?,?,?,?,?,?,?,?,?,?,?)");
    for (const ProfileEntry& item : profile.entries) {
        entry.bind(id).bind(item.key).bind(item.kind).bind(item.label).bind(item.ns).bind(item.samples);
        entry.bind(item.spread_ns).bind(item.rank_skew_ns).bind(item.calls);
        if (!entry.bind(provenanceName(item.provenance)).bind(item.note).run())
            return failed();
    }
    Sql contention(database, "INSERT INTO contention VALUES(?,?,?,?,?,?,?,?,?,?)");
    int64_t position = 0;
    for (const auto* points : {&profile.contention, &profile.no_contention}) {
        for (const ContentionPoint& point : *points) {
            contention.bind(id).bind(position++).bind(point.key).bind(point.beside);
            contention.bind(point.bytes).bind(point.alone_ns).bind(point.together_ns);
            contention.bind(point.compute_alone_ns).bind(point.compute_together_ns);
            if (!contention.bind(point.reason).run())
                return failed();
        }
    }
    return Unit{};
}

Result<int64_t> ProfileStore::add(const Profile& profile) {
    Transaction transaction(database_.get());
    if (!transaction.isOpen())
        return storeError(database_.get(), path_, "writing");
    Sql head(database_.get(),
             "INSERT INTO profile(time_s, device, driver, clocks, backend, ranks, graph_name,"
             " graph_hash, mode) VALUES(?,?,?,?,?,?,?,?,?)");
    const bool good = head.bind(profile.unix_time_s)
                          .bind(profile.device)
                          .bind(profile.driver)
                          .bind(profile.clocks)
                          .bind(profile.backend)
                          .bind(int64_t{profile.ranks})
                          .bind(profile.graph_name)
                          .bind(profile.graph_hash)
                          .bind(profile.mode)
                          .run();
    if (!good)
        return storeError(database_.get(), path_, "writing");
    const int64_t id = sqlite3_last_insert_rowid(database_.get());
    if (Status status = insertParts(profile, id); !status)
        return status.error();
    if (!transaction.commit())
        return storeError(database_.get(), path_, "writing");
    return id;
}

Result<std::vector<ProfileSummary>> ProfileStore::list() const {
    Sql rows(database_.get(),
             "SELECT id, time_s, device, driver, backend, ranks, graph_name, graph_hash, mode,"
             " (SELECT count(*) FROM entry WHERE profile = id),"
             " (SELECT count(*) FROM contention WHERE profile = id AND reason = '') FROM profile ORDER BY id "
             "DESC");
    std::vector<ProfileSummary> found;
    while (rows.step())
        found.push_back({rows.integer(0), rows.integer(1), rows.text(2), rows.text(3), rows.text(4),
                         static_cast<int32_t>(rows.integer(5)), rows.text(6), rows.text(7), rows.text(8),
                         rows.integer(9), rows.integer(10)});
    if (!rows.ok())
        return storeError(database_.get(), path_, "reading");
    return found;
}

Status ProfileStore::fillIn(Profile& profile) const {
    Sql versions(database_.get(), "SELECT library, version FROM version WHERE profile = ?");
    versions.bind(profile.id);
    while (versions.step())
        profile.versions[versions.text(0)] = versions.text(1);
    Sql entries(database_.get(), "SELECT key, kind, label, ns, samples, spread_ns, rank_skew_ns, calls,"
                                 " provenance, note FROM entry WHERE profile = ? ORDER BY key");
    entries.bind(profile.id);
    while (entries.step())
        profile.entries.push_back({entries.text(0), entries.text(1), entries.text(2), entries.integer(3),
                                   entries.integer(4), entries.integer(5), entries.integer(6),
                                   entries.integer(7), provenanceByName(entries.text(8)), entries.text(9)});
    Sql points(database_.get(),
               "SELECT key, beside, bytes, alone_ns, together_ns, compute_alone_ns,"
               " compute_together_ns, reason FROM contention WHERE profile = ? ORDER BY position");
    points.bind(profile.id);
    while (points.step()) {
        ContentionPoint point{points.text(0),    points.text(1),    points.integer(2), points.integer(3),
                              points.integer(4), points.integer(5), points.integer(6), points.text(7)};
        (point.reason.empty() ? profile.contention : profile.no_contention).push_back(std::move(point));
    }
    if (!versions.ok() || !entries.ok() || !points.ok())
        return storeError(database_.get(), path_, "reading");
    return Unit{};
}

Result<Profile> ProfileStore::read(int64_t id) const {
    // One read transaction: the profile may be removed meanwhile.
    runSql(database_.get(), "BEGIN");
    Profile profile;
    Status status = Unit{};
    {
        Sql head(database_.get(), std::string(kProfileColumns) + "WHERE id = ?");
        head.bind(id);
        if (head.step()) {
            profile = readHead(head);
            status = fillIn(profile);
        } else if (!head.ok()) {
            status = storeError(database_.get(), path_, "reading");
        }
    }
    runSql(database_.get(), "COMMIT");
    if (!status)
        return status.error();
    if (profile.id != 0)
        return profile;
    std::string known;
    if (const auto all = list())
        for (const ProfileSummary& item : all.value())
            known += fmt::format("{}{}", known.empty() ? "" : ", ", item.id);
    return Error{"no-such-profile",
                 fmt::format("the profile store {} has no profile {}", path_, id),
                 {path_, 0, 0},
                 known.empty() ? "it is empty" : "it has " + known};
}

Result<Profile> ProfileStore::latest(const std::string& device) const {
    int64_t id = 0;
    {
        Sql newest(database_.get(), device.empty() ? "SELECT max(id) FROM profile"
                                                   : "SELECT max(id) FROM profile WHERE device = ?");
        if (!device.empty())
            newest.bind(device);
        id = newest.step() ? newest.integer(0) : 0;
        if (!newest.ok())
            return storeError(database_.get(), path_, "reading");
    }
    if (id != 0)
        return read(id);
    std::string known;
    Sql devices(database_.get(), "SELECT DISTINCT device FROM profile ORDER BY device");
    while (devices.step())
        known += fmt::format("{}\"{}\"", known.empty() ? "" : ", ", devices.text(0));
    return Error{"no-such-profile",
                 device.empty() ? fmt::format("the profile store {} is empty", path_)
                                : fmt::format("the profile store {} has no profile of \"{}\"", path_, device),
                 {path_, 0, 0},
                 known.empty() ? "`gatherscope-cli profile` measures one" : "it knows " + known};
}

Result<Profile> ProfileStore::find(const std::string& choice) const {
    int64_t id = 0;
    const char* last = choice.data() + choice.size();
    const auto [end, error] = std::from_chars(choice.data(), last, id);
    if (error == std::errc() && end == last)
        return read(id);
    return latest(choice == "latest" ? std::string() : choice);
}

Status ProfileStore::remove(int64_t id) {
    Transaction transaction(database_.get());
    if (!transaction.isOpen())
        return storeError(database_.get(), path_, "writing");
    Sql sql(database_.get(), "DELETE FROM profile WHERE id = ?");
    if (!sql.bind(id).run())
        return storeError(database_.get(), path_, "writing");
    if (sqlite3_changes(database_.get()) == 0)
        return Error{"no-such-profile",
                     fmt::format("the profile store {} has no profile {}", path_, id),
                     {path_, 0, 0},
                     ""};
    if (!transaction.commit())
        return storeError(database_.get(), path_, "writing");
    return Unit{};
}

} // namespace gs

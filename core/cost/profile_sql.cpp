#include "cost/profile_sql.h"

#include <fmt/format.h>
#include <fstream>
#include <sqlite3.h>
#include <sstream>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace gs {

namespace {

std::string processName(int64_t process) {
    std::ifstream file(fmt::format("/proc/{}/comm", process));
    std::string name;
    std::getline(file, name);
    return name;
}

/// " by process 42 (sqlite3)", where Linux' table of locks tells. Opening the file to ask would drop the
/// locks of this process.
std::string lockHolder(const std::string& path) {
    std::ifstream locks("/proc/locks");
    for (std::string line; std::getline(locks, line);) {
        // "1: POSIX  ADVISORY  WRITE 4242 08:01:131075 120 120"
        std::istringstream words(line);
        std::string number, type, kind, mode, place;
        int64_t process = 0;
        if (!(words >> number >> type >> kind >> mode >> process >> place) || mode != "WRITE" ||
            process == getpid() || process <= 0)
            continue;
        for (const char* suffix : {"-shm", ""}) {
            struct stat file {};
            if (stat((path + suffix).c_str(), &file) == 0 &&
                place == fmt::format("{:02x}:{:02x}:{}", major(file.st_dev), minor(file.st_dev), file.st_ino))
                return fmt::format(" by process {} ({})", process, processName(process));
        }
    }
    return " by another process";
}

} // namespace

Error storeError(sqlite3* database, const std::string& path, std::string_view doing) {
    const int code = database ? sqlite3_errcode(database) & 0xff : SQLITE_NOMEM;
    const char* said = database ? sqlite3_errmsg(database) : sqlite3_errstr(code);
    const SourcePos where{path, 0, 0};
    switch (code) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return {"store-locked", fmt::format("the profile store {} is locked{}", path, lockHolder(path)),
                where, "try again when that one has ended"};
    case SQLITE_FULL:
        return {"store-full", fmt::format("there is no room for the profile store {}", path), where,
                "nothing was changed; make room or remove old profiles"};
    case SQLITE_READONLY:
        return {"store-read-only", fmt::format("the profile store {} cannot be written", path), where,
                "look at the permissions of the file and its folder"};
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
        return {"store-failed", fmt::format("the profile store {} could not be opened: {}", path, said),
                where, "look at the permissions of the file and its folder"};
    case SQLITE_NOTADB:
        return {"not-a-profile-store", fmt::format("{} is no profile store", path), where,
                "choose a new file; the store is made on first use"};
    case SQLITE_CORRUPT:
        return {
            "store-damaged", fmt::format("the profile store {} is damaged: {}", path, said), where,
            "`sqlite3 FILE .recover` may save what is in it; measuring into a new file makes a new store"};
    default:
        return {"store-failed", fmt::format("{} the profile store {} failed: {}", doing, path, said), where,
                ""};
    }
}

void Sql::Finalize::operator()(sqlite3_stmt* statement) const {
    sqlite3_finalize(statement);
}

Sql::Sql(sqlite3* database, std::string_view text) {
    sqlite3_stmt* statement = nullptr;
    ok_ = sqlite3_prepare_v2(database, text.data(), static_cast<int>(text.size()), &statement, nullptr) ==
          SQLITE_OK;
    statement_.reset(statement);
}

Sql& Sql::bind(int64_t value) {
    ok_ = ok_ && sqlite3_bind_int64(statement_.get(), next_++, value) == SQLITE_OK;
    return *this;
}

Sql& Sql::bind(std::string_view value) {
    // A null pointer would be NULL, not the empty text.
    ok_ = ok_ && sqlite3_bind_text(statement_.get(), next_++, value.empty() ? "" : value.data(),
                                   static_cast<int>(value.size()), SQLITE_STATIC) == SQLITE_OK;
    return *this;
}

bool Sql::step() {
    if (!ok_)
        return false;
    const int code = sqlite3_step(statement_.get());
    ok_ = code == SQLITE_ROW || code == SQLITE_DONE;
    return code == SQLITE_ROW;
}

bool Sql::run() {
    step();
    next_ = 1;
    // The reset repeats an error of the step; the connection keeps it.
    return ok_ && sqlite3_reset(statement_.get()) == SQLITE_OK;
}

int64_t Sql::integer(int column) const {
    return sqlite3_column_int64(statement_.get(), column);
}

std::string Sql::text(int column) const {
    const unsigned char* text = sqlite3_column_text(statement_.get(), column);
    if (!text)
        return {};
    return {reinterpret_cast<const char*>(text),
            static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

bool runSql(sqlite3* database, const char* text) {
    return sqlite3_exec(database, text, nullptr, nullptr, nullptr) == SQLITE_OK;
}

} // namespace gs

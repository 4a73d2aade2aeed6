#include "cost/profile_store_lock.h"

#include "cost/profile_sql.h"

#include <memory>
#include <sqlite3.h>
#include <sys/stat.h>

namespace gs {

Status checkStoreIsFree(const std::string& path) {
    struct stat file {};
    if (stat(path.c_str(), &file) != 0 || file.st_size == 0)
        return Unit{};
    sqlite3* opened = nullptr;
    const int code = sqlite3_open_v2(path.c_str(), &opened, SQLITE_OPEN_READWRITE, nullptr);
    const std::unique_ptr<sqlite3, int (*)(sqlite3*)> database(opened, &sqlite3_close);
    if (code != SQLITE_OK)
        return Unit{};
    if (!runSql(database.get(), "BEGIN IMMEDIATE")) {
        const Error error = storeError(database.get(), path, "looking at");
        if (error.code == "store-locked")
            return error;
        return Unit{};
    }
    runSql(database.get(), "ROLLBACK");
    return Unit{};
}

} // namespace gs

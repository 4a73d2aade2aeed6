// Thin layer over SQLite's C interface for the profile store. Private to it.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace gs {

/// What went wrong last on this connection, as an error of the profile store.
Error storeError(sqlite3* database, const std::string& path, std::string_view doing);

/// One prepared statement. After a failure every call is a no-op and ok() is false.
class Sql {
public:
    Sql(sqlite3* database, std::string_view text);

    Sql& bind(int64_t value);
    Sql& bind(std::string_view value); ///< must outlive the next step()
    /// True while there is a row.
    bool step();
    /// Runs a statement without rows and makes it ready for the next values.
    bool run();
    bool ok() const { return ok_; }

    int64_t integer(int column) const;
    std::string text(int column) const;

private:
    struct Finalize {
        void operator()(sqlite3_stmt* statement) const;
    };
    std::unique_ptr<sqlite3_stmt, Finalize> statement_;
    int next_ = 1;
    bool ok_ = false;
};

/// Runs statements without values, e.g. a whole schema.
bool runSql(sqlite3* database, const char* text);

} // namespace gs

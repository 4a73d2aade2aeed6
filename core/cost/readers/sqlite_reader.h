// Reading a SQLite database that somebody else made: read-only, nothing in it is run.
#pragma once

#include "base/progress.h"
#include "base/result.h"

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace gs {

/// Columns of one row.
class SqliteRow {
public:
    explicit SqliteRow(sqlite3_stmt* statement) : statement_(statement) {}
    int64_t integer(int column) const;
    bool isNull(int column) const;
    bool isText(int column) const;
    std::string_view text(int column) const; ///< valid until the next row

private:
    sqlite3_stmt* statement_;
};

class SqliteReader {
public:
    explicit SqliteReader(const JobContext& job) : job_(job) {}
    ~SqliteReader();
    SqliteReader(const SqliteReader&) = delete;
    SqliteReader& operator=(const SqliteReader&) = delete;

    /// Errors: "bad-database".
    Status open(const std::string& path);
    Status openBytes(const std::string& path, std::string bytes);

    std::vector<std::string> tables();
    std::set<std::string> columns(const std::string& table);
    /// Runs a query and hands each row on. Errors: "bad-database", "cancelled".
    Status query(const std::string& sql, const std::function<void(const SqliteRow&)>& row);

private:
    Status finishOpening(int code);
    Error error(const std::string& what) const;

    const JobContext& job_;
    std::string path_;
    std::string bytes_;
    sqlite3* database_ = nullptr;
};

/// A name in double quotes.
std::string quotedName(const std::string& name);

} // namespace gs

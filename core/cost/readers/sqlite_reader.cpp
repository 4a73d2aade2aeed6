#include "cost/readers/sqlite_reader.h"

#include <fmt/format.h>
#include <sqlite3.h>

namespace gs {

namespace {

/// "file:" URI of a path; immutable: no lock, no journal beside the file.
std::string uriOf(const std::string& path) {
    std::string uri = path.starts_with('/') ? "file://" : "file:"; // "//x" would name a host
    for (char c : path) {
        if (c == '%' || c == '?' || c == '#')
            uri += fmt::format("%{:02x}", static_cast<unsigned char>(c));
        else
            uri += c;
    }
    return uri + "?mode=ro&immutable=1";
}

} // namespace

int64_t SqliteRow::integer(int column) const {
    return sqlite3_column_int64(statement_, column);
}

bool SqliteRow::isNull(int column) const {
    return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

bool SqliteRow::isText(int column) const {
    return sqlite3_column_type(statement_, column) == SQLITE_TEXT;
}

std::string_view SqliteRow::text(int column) const {
    const unsigned char* text = sqlite3_column_text(statement_, column);
    if (!text)
        return {};
    return {reinterpret_cast<const char*>(text),
            static_cast<size_t>(sqlite3_column_bytes(statement_, column))};
}

std::string quotedName(const std::string& name) {
    std::string out = "\"";
    for (char c : name)
        out += c == '"' ? std::string("\"\"") : std::string(1, c);
    return out + '"';
}

SqliteReader::~SqliteReader() {
    sqlite3_close(database_);
}

Error SqliteReader::error(const std::string& what) const {
    if (job_.cancelled())
        return {"cancelled", "cancelled", {}, ""};
    return {"bad-database", fmt::format("{}: {}", path_, what), {path_, 1, 1}, "export the report again"};
}

Status SqliteReader::finishOpening(int code) {
    if (code != SQLITE_OK)
        return error(database_ ? sqlite3_errmsg(database_) : sqlite3_errstr(code));
    sqlite3_db_config(database_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(database_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_limit(database_, SQLITE_LIMIT_LENGTH, 64 * 1024 * 1024);
    sqlite3_progress_handler(
        database_, 20000, [](void* job) { return static_cast<const JobContext*>(job)->cancelled() ? 1 : 0; },
        const_cast<JobContext*>(&job_));
    return Unit{};
}

Status SqliteReader::open(const std::string& path) {
    path_ = path;
    return finishOpening(
        sqlite3_open_v2(uriOf(path).c_str(), &database_, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr));
}

Status SqliteReader::openBytes(const std::string& path, std::string bytes) {
    path_ = path;
    bytes_ = std::move(bytes);
    const int code = sqlite3_open_v2(":memory:", &database_, SQLITE_OPEN_READWRITE, nullptr);
    if (code != SQLITE_OK)
        return finishOpening(code);
    const auto size = static_cast<sqlite3_int64>(bytes_.size());
    return finishOpening(sqlite3_deserialize(database_, "main",
                                             reinterpret_cast<unsigned char*>(bytes_.data()), size, size,
                                             SQLITE_DESERIALIZE_READONLY));
}

Status SqliteReader::query(const std::string& sql, const std::function<void(const SqliteRow&)>& row) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(database_, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK)
        return error(sqlite3_errmsg(database_));
    int code = SQLITE_ROW;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW)
        row(SqliteRow(statement));
    Status status = Unit{};
    if (code != SQLITE_DONE)
        status = error(sqlite3_errmsg(database_));
    sqlite3_finalize(statement);
    return status;
}

std::vector<std::string> SqliteReader::tables() {
    std::vector<std::string> names;
    static_cast<void>(query("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name",
                            [&](const SqliteRow& row) { names.emplace_back(row.text(0)); }));
    return names;
}

std::set<std::string> SqliteReader::columns(const std::string& table) {
    std::set<std::string> names;
    static_cast<void>(query(fmt::format("PRAGMA table_info({})", quotedName(table)),
                            [&](const SqliteRow& row) { names.emplace(row.text(1)); }));
    return names;
}

} // namespace gs

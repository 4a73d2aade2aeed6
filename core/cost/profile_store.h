// The profile store: measurements of all devices and days in one SQLite file (profiling.md, "Rank lockstep").
#pragma once

#include "base/result.h"
#include "cost/profile.h"

#include <memory>
#include <string>
#include <vector>

struct sqlite3;

namespace gs {

/// A stored profile without its costs.
struct ProfileSummary {
    int64_t id = 0;
    int64_t unix_time_s = 0;
    std::string device;
    std::string driver;
    std::string backend;
    int32_t ranks = 1;
    std::string graph_name;
    std::string graph_hash;
    std::string mode;
    int64_t entries = 0;
    int64_t contention_points = 0;
};

struct ProfileStoreOptions {
    int32_t busy_ms = 2000; ///< how long to wait for another process
    int64_t max_bytes = 0;  ///< limit on the file; 0 = none
};

/// One open store. It is in WAL mode: readers never wait. Every change is one transaction, so that a process
/// that is killed leaves either the old or the new state. Not thread-safe; any number of processes may have
/// the same file open.
///
/// Error codes of all functions: "store-locked" (another process writes; named where the system tells),
/// "store-full" (disk or max_bytes), "store-read-only", "store-damaged", "store-failed".
class ProfileStore {
public:
    /// Opens a store for writing, or makes one. An older schema is brought up to date. Besides the above:
    /// "not-a-profile-store", "newer-profile-store".
    static Result<ProfileStore> open(const std::string& path, const ProfileStoreOptions& options = {});
    /// Opens a store that exists; never changes the file. An older schema is read through a copy in memory.
    /// Besides the above: "no-such-file", "not-a-profile-store", "newer-profile-store".
    static Result<ProfileStore> openReadOnly(const std::string& path,
                                             const ProfileStoreOptions& options = {});

    /// Returns the id that the profile got; `profile.id` is ignored. Ids grow and are never used again.
    Result<int64_t> add(const Profile& profile);
    /// Newest first.
    Result<std::vector<ProfileSummary>> list() const;
    /// Error "no-such-profile" names the ids that there are.
    Result<Profile> read(int64_t id) const;
    /// The newest of a device, or of all for an empty name. Error "no-such-profile".
    Result<Profile> latest(const std::string& device) const;
    /// By what the setting `profile` says: "latest", a number, or a device. Error "no-such-profile".
    Result<Profile> find(const std::string& choice) const;
    /// Error "no-such-profile".
    Status remove(int64_t id);

private:
    struct Close {
        void operator()(sqlite3* database) const;
    };
    explicit ProfileStore(std::string path) : path_(std::move(path)) {}
    Status connect(int flags, const ProfileStoreOptions& options);
    Result<int64_t> checkVersion() const;
    Status bringUpToDate();
    Status copyToMemory();
    Status fillIn(Profile& profile) const;
    Status insertParts(const Profile& profile, int64_t id);

    std::string path_;
    std::unique_ptr<sqlite3, Close> database_;
};

/// Version of the schema that this program writes (PRAGMA user_version).
inline constexpr int64_t kProfileSchemaVersion = 3;

} // namespace gs

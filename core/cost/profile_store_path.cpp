#include "cost/profile_store_path.h"

#include "cost/profile_store.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gs {

namespace {

namespace fs = std::filesystem;

Error cannotBe(const std::string& path, const std::string& why, std::string hint) {
    return {
        "store-read-only", fmt::format("the profile store {} {}", path, why), {path, 0, 0}, std::move(hint)};
}

/// A name that is no longer than the file system takes, and to which there is a way.
Status checkNew(const std::string& path, StoreFolder makes) {
    std::error_code error;
    // A link to nothing: SQLite makes what it points to.
    fs::path file = path;
    if (fs::is_symlink(file, error))
        file = file.parent_path() / fs::read_symlink(file, error);
    fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
    if (makes == StoreFolder::IsMade) {
        while (!fs::exists(folder, error) && folder.has_relative_path())
            folder = folder.has_parent_path() ? folder.parent_path() : fs::path(".");
    }
    if (!fs::exists(folder, error))
        return cannotBe(path, fmt::format("cannot be made: its folder {} is not there", folder.string()),
                        "make the folder, or choose another file");
    if (!fs::is_directory(folder, error))
        return cannotBe(path, fmt::format("cannot be made: {} is no folder", folder.string()),
                        "choose another file");
    if (access(folder.c_str(), W_OK | X_OK) != 0)
        return cannotBe(path, fmt::format("cannot be made: its folder {} cannot be written", folder.string()),
                        "look at the permissions of the folder, or choose another file");
    return Unit{};
}

} // namespace

Status checkStoreIsFile(const std::string& path) {
    struct stat file {};
    if (stat(path.c_str(), &file) != 0 || S_ISREG(file.st_mode))
        return Unit{};
    return Error{"not-a-profile-store",
                 fmt::format("{} is {}, no profile store", path,
                             S_ISDIR(file.st_mode) ? "a folder" : "no ordinary file"),
                 {path, 0, 0},
                 "name a file; the store is made on first use"};
}

Status checkStorePath(const std::string& path, StoreFolder folder) {
    if (path.empty())
        return Unit{};
    struct stat file {};
    if (stat(path.c_str(), &file) != 0) {
        if (errno == ENOENT || errno == ENOTDIR)
            return checkNew(path, folder);
        return cannotBe(path, fmt::format("cannot be made: {}", std::strerror(errno)), "choose another file");
    }
    if (const auto store = ProfileStore::openReadOnly(path); !store)
        return store.error();
    if (access(path.c_str(), W_OK) != 0)
        return cannotBe(path, "cannot be written", "look at the permissions of the file");
    const fs::path parent = fs::path(path).parent_path();
    if (access(parent.empty() ? "." : parent.c_str(), W_OK | X_OK) != 0)
        return cannotBe(path, "cannot be written: what SQLite keeps beside it has no place in the folder",
                        "look at the permissions of the folder");
    return Unit{};
}

} // namespace gs

// Whether a path can hold a profile store: asked before anything is measured, which may take an hour.
#pragma once

#include "base/result.h"

#include <string>

namespace gs {

/// Who makes the folder of a store that is not there yet.
enum class StoreFolder : uint8_t {
    MustExist,
    IsMade, ///< by the caller, with all folders above it
};

/// Fine for a store that can be written, for a name that a store can be made at, and for an empty path
/// (nothing is kept). Changes nothing. That the disk has room, and that no other process writes then, cannot
/// be known now. Errors, with the path as their place:
/// - "not-a-profile-store": a folder, a device, a file of another kind; "newer-profile-store"
/// - "store-read-only": the file or the folder cannot be written, or the folder is not there or no folder
/// - "store-damaged", "store-failed": as ProfileStore says
Status checkStorePath(const std::string& path, StoreFolder folder = StoreFolder::MustExist);

/// Only the first of these, for a path of which nothing else is known: fine if there is nothing.
Status checkStoreIsFile(const std::string& path);

} // namespace gs

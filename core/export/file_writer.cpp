#include "export/file_writer.h"

#include "base/utf8.h"

#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace gs {

namespace {

namespace fs = std::filesystem;

/// All of the text; false, with errno set, if that fails.
bool writeAll(int descriptor, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = write(descriptor, text.data(), text.size());
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return false;
        text.remove_prefix(static_cast<size_t>(written));
    }
    return true;
}

/// The temporary file; removed unless it was renamed.
class TemporaryFile {
public:
    explicit TemporaryFile(const fs::path& target)
        : path_((target.parent_path() / ("." + target.filename().string() + ".XXXXXX")).string()),
          descriptor_(mkostemp(path_.data(), O_CLOEXEC)) {}
    ~TemporaryFile() {
        if (descriptor_ >= 0)
            close(descriptor_);
        if (!path_.empty())
            unlink(path_.c_str());
    }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;

    bool isOpen() {
        if (descriptor_ < 0)
            path_.clear(); // nothing to remove
        return descriptor_ >= 0;
    }
    bool write(std::string_view text) const { return writeAll(descriptor_, text); }
    /// mkstemp makes private files; a new file gets what the umask leaves.
    bool takeMode(const fs::path& target) const {
        struct stat old {};
        if (stat(target.c_str(), &old) == 0)
            return fchmod(descriptor_, old.st_mode & 07777) == 0;
        const mode_t mask = umask(0);
        umask(mask);
        return fchmod(descriptor_, 0666 & ~mask) == 0;
    }
    bool moveTo(const fs::path& target) {
        const int descriptor = std::exchange(descriptor_, -1);
        if (fsync(descriptor) != 0) {
            close(descriptor);
            return false;
        }
        if (close(descriptor) != 0 || rename(path_.c_str(), target.c_str()) != 0)
            return false;
        path_.clear();
        return true;
    }

private:
    std::string path_;
    int descriptor_;
};

/// The rename itself is durable once its folder is. Folders that cannot be synced (some network shares) are
/// no reason to fail: the file is whole in any case.
void syncFolder(const fs::path& folder) {
    const int descriptor = open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0)
        return;
    fsync(descriptor);
    close(descriptor);
}

Error writeError(const std::string& path, int reason) {
    return {"write-failed",
            fmt::format("{} could not be written: {}", path, std::strerror(reason)),
            {path, 0, 0},
            "check that the folder exists, that you may write there and that there is room"};
}

/// Devices, pipes and sockets are written to, not replaced.
Status writeInto(const std::string& path, std::string_view text) {
    const int descriptor = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor < 0)
        return writeError(path, errno);
    int reason = writeAll(descriptor, text) ? 0 : errno;
    if (close(descriptor) != 0 && reason == 0)
        reason = errno;
    if (reason != 0)
        return writeError(path, reason);
    return Unit{};
}

} // namespace

Status writeFile(const std::string& path, std::string_view text) {
    std::error_code error;
    fs::path target(path);
    const fs::file_status status = fs::status(target, error);
    if (fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status))
        return writeInto(path, text);
    if (fs::is_symlink(fs::symlink_status(target, error)))
        target = fs::weakly_canonical(target, error);
    if (path.empty() || fs::is_directory(target, error))
        return writeError(path, path.empty() ? ENOENT : EISDIR);
    TemporaryFile file(target);
    if (!file.isOpen() || !file.write(text) || !file.takeMode(target) || !file.moveTo(target))
        return writeError(path, errno);
    syncFolder(target.parent_path());
    return Unit{};
}

std::string safeFileName(std::string_view label) {
    constexpr size_t kLongest = 200;
    std::string name;
    for (const char c : label) {
        const auto byte = static_cast<unsigned char>(c);
        const bool plain = std::isalnum(byte) || byte >= 0x80 || c == '.' || c == '_' || c == '-';
        name += plain ? c : '_';
    }
    name.resize(headOf(name, kLongest).size());
    if (name.empty() || name.front() == '.' || name.front() == '-')
        name.insert(name.begin(), '_');
    return name;
}

} // namespace gs

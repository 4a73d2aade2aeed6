#include "cost/readers/byte_source.h"

#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fmt/format.h>
#include <mutex>
#include <thread>
#include <vector>
#include <zlib.h>

namespace fs = std::filesystem;

namespace gs {

namespace {

struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

Error fileError(const char* code, const std::string& path, const std::string& what, std::string hint) {
    return {code, fmt::format("{}: {}", path, what), {path, 0, 0}, std::move(hint)};
}

class PlainSource : public ByteSource {
public:
    PlainSource(File file, uint64_t size) : file_(std::move(file)), size_(size) {}

    size_t read(char* out, size_t size) override {
        const size_t got = std::fread(out, 1, size, file_.get());
        done_ += got;
        if (got < size && std::ferror(file_.get()))
            problem_ = fmt::format("the file cannot be read further: {}", std::strerror(errno));
        return got;
    }
    double fraction() const override {
        return size_ == 0 ? 1 : std::min(1.0, static_cast<double>(done_) / static_cast<double>(size_));
    }
    std::string problem() const override { return problem_; }

private:
    File file_;
    uint64_t size_;
    uint64_t done_ = 0;
    std::string problem_;
};

/// Inflates on its own thread; at most kAhead blocks wait for the reader.
class GzipSource : public ByteSource {
public:
    explicit GzipSource(std::unique_ptr<ByteSource> raw) : raw_(std::move(raw)) {
        worker_ = std::thread([this] { inflateBlocks(); });
    }
    ~GzipSource() override {
        {
            const std::lock_guard lock(mutex_);
            stop_ = true;
        }
        changed_.notify_all();
        worker_.join();
    }

    size_t read(char* out, size_t size) override {
        size_t done = 0;
        while (done < size) {
            if (at_ == current_.size() && !nextBlock())
                break;
            const size_t part = std::min(size - done, current_.size() - at_);
            std::memcpy(out + done, current_.data() + at_, part);
            at_ += part;
            done += part;
        }
        return done;
    }
    double fraction() const override {
        const std::lock_guard lock(mutex_);
        return fraction_;
    }
    std::string problem() const override {
        const std::lock_guard lock(mutex_);
        return problem_;
    }

private:
    static constexpr size_t kBlock = size_t{1} << 20;
    static constexpr size_t kAhead = 4;

    bool nextBlock() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return !blocks_.empty() || finished_; });
        if (blocks_.empty())
            return false;
        current_ = std::move(blocks_.front());
        blocks_.pop_front();
        at_ = 0;
        lock.unlock();
        changed_.notify_all();
        return true;
    }

    /// Hands a block on; false if nobody wants more.
    bool deliver(std::vector<char>& block, size_t size) {
        block.resize(size);
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return blocks_.size() < kAhead || stop_; });
        if (stop_)
            return false;
        if (size > 0)
            blocks_.push_back(std::move(block));
        fraction_ = raw_->fraction();
        lock.unlock();
        changed_.notify_all();
        return true;
    }

    void finish(std::string problem) {
        {
            const std::lock_guard lock(mutex_);
            problem_ = std::move(problem);
            finished_ = true;
        }
        changed_.notify_all();
    }

    void inflateBlocks() {
        z_stream stream{};
        if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK)
            return finish("zlib could not start");
        std::string problem = inflateAll(stream);
        inflateEnd(&stream);
        finish(std::move(problem));
    }

    std::string inflateAll(z_stream& stream) {
        std::vector<char> raw(256 * 1024);
        bool between = false; // at the end of a member
        for (;;) {
            std::vector<char> block(kBlock);
            stream.next_out = reinterpret_cast<Bytef*>(block.data());
            stream.avail_out = kBlock;
            const std::string problem = fillBlock(stream, raw, between);
            const bool last = stream.avail_out > 0;
            if (!deliver(block, kBlock - stream.avail_out))
                return {};
            if (last || !problem.empty())
                return problem;
        }
    }

    /// Fills stream.next_out; what is left of it at the return means that the data ends.
    std::string fillBlock(z_stream& stream, std::vector<char>& raw, bool& between) {
        while (stream.avail_out > 0) {
            if (stream.avail_in == 0) {
                stream.next_in = reinterpret_cast<Bytef*>(raw.data());
                stream.avail_in = static_cast<uInt>(raw_->read(raw.data(), raw.size()));
                if (stream.avail_in == 0)
                    return between ? raw_->problem() : "the gzip data ends too early";
            }
            if (between)
                inflateReset(&stream); // a further member
            between = false;
            const int code = inflate(&stream, Z_NO_FLUSH);
            if (code == Z_STREAM_END)
                between = true;
            else if (code != Z_OK && code != Z_BUF_ERROR)
                return fmt::format("the gzip data is damaged ({})", stream.msg ? stream.msg : "zlib error");
        }
        return {};
    }

    std::unique_ptr<ByteSource> raw_; ///< used by the worker only
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::vector<char>> blocks_;
    bool stop_ = false;
    bool finished_ = false;
    double fraction_ = 0;
    std::string problem_;
    std::vector<char> current_; ///< used by the reader only
    size_t at_ = 0;
    std::thread worker_;
};

class TextSource : public ByteSource {
public:
    explicit TextSource(std::string_view text) : text_(text) {}
    size_t read(char* out, size_t size) override {
        const size_t part = std::min(size, text_.size() - at_);
        if (part > 0)
            std::memcpy(out, text_.data() + at_, part);
        at_ += part;
        return part;
    }
    double fraction() const override {
        return text_.empty() ? 1 : static_cast<double>(at_) / static_cast<double>(text_.size());
    }

private:
    std::string_view text_;
    size_t at_ = 0;
};

} // namespace

std::unique_ptr<ByteSource> bytesOf(std::string_view text) {
    return std::make_unique<TextSource>(text);
}

Result<std::unique_ptr<ByteSource>> openBytes(const std::string& path) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status)) {
        if (error && error != std::errc::no_such_file_or_directory)
            return fileError("unreadable", path, error.message(),
                             "check the permissions of the file and its folders");
        return fileError("missing-file", path, "no such file",
                         "check the path; relative paths start at the current folder");
    }
    if (fs::is_directory(status))
        return fileError("is-folder", path, "this is a folder, a file was expected", "name one file of it");
    errno = 0;
    File file(std::fopen(path.c_str(), "rb"));
    if (!file)
        return fileError("unreadable", path, std::strerror(errno), "check the permissions of the file");
    unsigned char magic[2] = {};
    const size_t got = std::fread(magic, 1, 2, file.get());
    if (got == 0)
        return fileError("empty-file", path, "the file is empty", "write or copy it again");
    const bool gzip = got == 2 && magic[0] == 0x1f && magic[1] == 0x8b;
    std::rewind(file.get());
    const uintmax_t size = fs::file_size(path, error);
    std::unique_ptr<ByteSource> plain = std::make_unique<PlainSource>(std::move(file), error ? 0 : size);
    if (!gzip)
        return plain;
    return std::unique_ptr<ByteSource>(std::make_unique<GzipSource>(std::move(plain)));
}

} // namespace gs

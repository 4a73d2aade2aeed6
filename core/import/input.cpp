#include "import/html_text.h"
#include "import/importer.h"
#include "import/text_lines.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <zlib.h>

namespace fs = std::filesystem;

namespace gs {

namespace {

/// A decompressed input larger than this is refused: it is no graph, and it would not fit in memory.
constexpr size_t kMaxInputBytes = size_t{4} << 30;

Error inputError(const char* code, const std::string& path, std::string message, std::string hint) {
    return {code, std::move(message), {path, 0, 0}, std::move(hint)};
}

Result<std::string> readBytes(const std::string& path) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status)) {
        if (error && error != std::errc::no_such_file_or_directory)
            return inputError("unreadable", path, fmt::format("{}: {}", path, error.message()),
                              "check the permissions of the file and its folders");
        return inputError("missing-file", path, fmt::format("{}: no such file", path),
                          "check the path; relative paths start at the current folder");
    }
    if (fs::is_directory(status))
        return inputError("is-folder", path, fmt::format("{}: this is a folder, a file was expected", path),
                          "name one file of it");
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file)
        return inputError("unreadable", path, fmt::format("{}: {}", path, std::strerror(errno)),
                          "check the permissions of the file");
    std::string bytes;
    const auto size = fs::file_size(path, error);
    if (!error && size < kMaxInputBytes) {
        bytes.resize(size);
        file.read(bytes.data(), static_cast<std::streamsize>(size));
        bytes.resize(static_cast<size_t>(std::max<std::streamsize>(file.gcount(), 0)));
    } else {
        bytes.assign(std::istreambuf_iterator<char>(file), {});
    }
    return bytes;
}

/// Appends the decompressed members of a gzip file to `out`. Returns an empty text, or what is wrong.
std::string inflateAll(const std::string& bytes, std::string& out) {
    z_stream stream{};
    if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK)
        return "zlib could not start";
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(std::min<size_t>(bytes.size(), UINT32_MAX));
    size_t filled = 0;
    std::string problem;
    for (;;) {
        if (out.size() - filled < 64 * 1024)
            out.resize(std::max<size_t>(out.size() * 2, bytes.size() * 8 + 256 * 1024));
        stream.next_out = reinterpret_cast<Bytef*>(out.data() + filled);
        stream.avail_out = static_cast<uInt>(std::min<size_t>(out.size() - filled, UINT32_MAX));
        const int code = inflate(&stream, Z_NO_FLUSH);
        filled = static_cast<size_t>(reinterpret_cast<char*>(stream.next_out) - out.data());
        if (code == Z_STREAM_END) {
            if (stream.avail_in == 0)
                break;
            inflateReset(&stream); // a further member
        } else if (code != Z_OK) {
            problem = code == Z_BUF_ERROR ? "the gzip data ends too early"
                                          : fmt::format("the gzip data is damaged ({})",
                                                        stream.msg ? stream.msg : "zlib error");
            break;
        } else if (stream.avail_in == 0 && stream.avail_out > 0) {
            problem = "the gzip data ends too early";
            break;
        } else if (filled > kMaxInputBytes) {
            problem = "the decompressed text is larger than 4 GiB";
            break;
        }
    }
    inflateEnd(&stream);
    out.resize(filled);
    return problem;
}

/// A page that shows a graph is read as the text that it shows; other pages stay what they are.
void takeTextOfPage(std::string& text) {
    if (!looksLikeHtml(text))
        return;
    std::string shown = textOfHtml(text);
    for (const std::string_view sign : {"def forward(", "def call(", "graph():", "torch.ops."}) {
        if (containsText(shown, sign)) {
            text = std::move(shown);
            return;
        }
    }
}

/// Some editors put a UTF-8 mark in front of a text; no format here wants it.
void dropByteOrderMark(std::string& text) {
    if (text.compare(0, 3, "\xef\xbb\xbf") == 0)
        text.erase(0, 3);
}

} // namespace

Result<InputText> readInput(const std::string& path, Diagnostics& diagnostics) {
    Result<std::string> bytes = readBytes(path);
    if (!bytes)
        return bytes.error();
    if (bytes->empty())
        return inputError("empty-file", path, fmt::format("{}: the file is empty", path),
                          "write the graph again; print_readable(print_output=False) returns the text");
    InputText input{path, {}};
    const std::string& data = bytes.value();
    const bool gzip = data.size() >= 2 && data[0] == '\x1f' && data[1] == '\x8b';
    if (!gzip) {
        input.text = std::move(bytes).value();
        dropByteOrderMark(input.text);
        takeTextOfPage(input.text);
        return input;
    }
    const std::string problem = inflateAll(data, input.text);
    if (!problem.empty()) {
        if (input.text.empty())
            return inputError("cut-gzip", path, fmt::format("{}: {}", path, problem), "copy the file again");
        diagnostics.add({Severity::Error,
                         "cut-gzip",
                         {path, 0, 0},
                         {},
                         fmt::format("{}; the first {} bytes of text were read", problem, input.text.size()),
                         "copy the file again"});
    }
    dropByteOrderMark(input.text);
    takeTextOfPage(input.text);
    if (input.text.empty())
        return inputError("empty-file", path, fmt::format("{}: the compressed file is empty", path),
                          "write the graph again");
    return input;
}

} // namespace gs

#include "app/worker/worker_lines.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace gs {

namespace {

/// A message is an object; where its braces close outside of texts, it ends.
bool isWhole(const QByteArray& text) {
    int depth = 0;
    bool quoted = false, escaped = false;
    for (const char c : text) {
        if (escaped)
            escaped = false;
        else if (quoted && c == '\\')
            escaped = true;
        else if (c == '"')
            quoted = !quoted;
        else if (!quoted && c == '{')
            ++depth;
        else if (!quoted && c == '}')
            --depth;
    }
    return depth <= 0 && !quoted;
}

/// Digits of a rank at `at`, which moves behind them; nothing where there are none, or too many.
std::optional<int32_t> readRank(std::string_view text, size_t& at) {
    const size_t begin = at;
    while (at < text.size() && at - begin < 9 && std::isdigit(static_cast<unsigned char>(text[at])))
        ++at;
    if (at == begin)
        return std::nullopt;
    return std::stoi(std::string(text.substr(begin, at - begin)));
}

enum class Found { Mark, No, Cut };

struct MarkAt {
    Found found = Found::No;
    int32_t rank = -1;
    size_t length = 0;
};

/// mpirun's mark at the start of `text`; Cut: what is there may become one.
MarkAt readMark(std::string_view text) {
    constexpr std::string_view kEnd = "]<stdout>:";
    size_t at = 1; // '[' is there
    const auto without = [&] { return MarkAt{at == text.size() ? Found::Cut : Found::No, -1, 0}; };
    if (!readRank(text, at) || at == text.size() || text[at] != ',')
        return without();
    ++at;
    const auto rank = readRank(text, at);
    if (!rank || at == text.size())
        return without();
    const std::string_view rest = text.substr(at, kEnd.size());
    if (rest == kEnd)
        return {Found::Mark, *rank, at + kEnd.size()};
    return {kEnd.starts_with(rest) ? Found::Cut : Found::No, -1, 0};
}

/// Takes the mark of srun off the start of a line; -1 if there is none.
int32_t takeLabel(QByteArray& line) {
    const std::string_view text(line.constData(), static_cast<size_t>(line.size()));
    size_t at = std::min(text.find_first_not_of(' '), text.size());
    const auto rank = readRank(text, at);
    if (!rank || text.substr(at, 2) != ": ")
        return -1;
    line.remove(0, static_cast<qsizetype>(at) + 2);
    return *rank;
}

} // namespace

std::vector<RankMessage> WorkerLines::take(const QByteArray& bytes) {
    std::vector<RankMessage> out;
    rest_ += bytes;
    const std::string_view text(rest_.constData(), static_cast<size_t>(rest_.size()));
    size_t at = 0;
    while (at < text.size()) {
        const size_t end = std::min(text.find_first_of("[\n", at), text.size());
        lines_[rank_].append(text.data() + at, static_cast<qsizetype>(end - at));
        at = end;
        if (at == text.size())
            break;
        if (text[at] == '\n') {
            takeLine(rank_, std::exchange(lines_[rank_], {}), out);
            rank_ = -1;
            ++at;
            continue;
        }
        const MarkAt mark = readMark(text.substr(at));
        if (mark.found == Found::Cut) // the next bytes tell
            break;
        if (mark.found == Found::Mark) {
            rank_ = mark.rank;
            at += mark.length;
        } else {
            lines_[rank_].append('[');
            ++at;
        }
    }
    rest_.remove(0, static_cast<qsizetype>(at));
    return out;
}

void WorkerLines::takeLine(int32_t rank, QByteArray line, std::vector<RankMessage>& out) {
    if (rank < 0)
        rank = takeLabel(line);
    QByteArray& piece = pieces_[rank];
    // A new message while another is open: the rest of that one was lost.
    if (!piece.isEmpty() && line.startsWith("{\"") && isWhole(line)) {
        read(rank, piece, out);
        piece.clear();
    }
    piece += line;
    if (piece.startsWith('{') && !isWhole(piece))
        return;
    if (!piece.isEmpty())
        read(rank, piece, out);
    piece.clear();
}

void WorkerLines::read(int32_t rank, const QByteArray& text, std::vector<RankMessage>& out) {
    Result<RankMessage> message = decodeMessage(text.toStdString());
    if (message && (rank < 0 || message->rank == rank)) {
        out.push_back(std::move(message).value());
        return;
    }
    const Error error =
        message ? Error{"bad-message", "a line came under another rank's mark", {}, ""} : message.error();
    out.push_back({std::max(rank, 0), WarningMessage{error.code, error.message, error.hint}});
}

} // namespace gs

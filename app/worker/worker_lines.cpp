#include "app/worker/worker_lines.h"

#include <QRegularExpression>

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

/// Takes the mark off; -1 if there is none.
int32_t takeMark(QByteArray& line) {
    static const QRegularExpression kMark(R"(^(?:\[\d+,(\d+)\]<stdout>:| *(\d+): ))");
    const QRegularExpressionMatch match = kMark.match(QString::fromLatin1(line.left(64)));
    if (!match.hasMatch())
        return -1;
    line.remove(0, match.capturedLength());
    return match.captured(match.lastCapturedIndex()).toInt();
}

} // namespace

std::vector<RankMessage> WorkerLines::take(const QByteArray& bytes) {
    std::vector<RankMessage> out;
    rest_ += bytes;
    qsizetype at = 0;
    for (qsizetype end = rest_.indexOf('\n'); end >= 0; end = rest_.indexOf('\n', at)) {
        takeLine(rest_.mid(at, end - at), out);
        at = end + 1;
    }
    rest_.remove(0, at);
    return out;
}

void WorkerLines::takeLine(QByteArray line, std::vector<RankMessage>& out) {
    const int32_t rank = takeMark(line);
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

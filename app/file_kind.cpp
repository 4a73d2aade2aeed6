#include "app/file_kind.h"

#include "import/importer.h"

#include <QFile>
#include <QFileInfo>

#include <algorithm>

namespace gs {

namespace {

constexpr qint64 kHeadBytes = 64 * 1024;

/// First part of the text, decompressed.
QByteArray head(const QString& path) {
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        return {};
    QByteArray bytes = file.read(kHeadBytes);
    if (!bytes.startsWith("\x1f\x8b"))
        return bytes;
    Diagnostics diagnostics;
    const Result<InputText> input = readInput(path.toStdString(), diagnostics);
    return input.ok() ? QByteArray::fromStdString(input->text.substr(0, kHeadBytes)) : QByteArray();
}

} // namespace

FileKind fileKind(const QString& path) {
    static constexpr const char* kCostMarks[] = {
        "\"gatherscope.costs\"", // our own table
        "\"traceEvents\"",       // Kineto and other Chrome traces
        "\"schemaVersion\"",     // Kineto, whose events may come late
        "ESTLINE",               // estimate lines of document 000
        "SQLite format 3",       // nsys exports, profile stores
    };
    const QByteArray text = head(path);
    const bool costs = std::any_of(std::begin(kCostMarks), std::end(kCostMarks),
                                   [&](const char* mark) { return text.contains(mark); });
    return costs ? FileKind::Costs : FileKind::Graph;
}

SortedFiles sortFiles(const QStringList& paths) {
    SortedFiles sorted;
    for (const QString& path : paths) {
        QStringList& list = fileKind(path) == FileKind::Costs ? sorted.costs : sorted.graphs;
        list.append(QFileInfo(path).absoluteFilePath());
    }
    return sorted;
}

} // namespace gs

#include "app/file_kind.h"

#include "cost/cost_file.h"

#include <QFileInfo>

namespace gs {

FileKind fileKind(const QString& path) {
    const Result<std::string> head = fileHead(path.toStdString());
    return head.ok() && looksLikeCosts(head.value()) ? FileKind::Costs : FileKind::Graph;
}

bool isTrace(const QString& path) {
    const Result<std::string> head = fileHead(path.toStdString());
    return head.ok() && looksLikeTrace(head.value());
}

bool mayHoldSeveralGraphs(const QString& path) {
    if (QFileInfo(path).isDir())
        return true;
    const Result<std::string> head = fileHead(path.toStdString());
    if (!head)
        return false;
    const size_t begin = head.value().find_first_not_of(" \t\r\n");
    return begin != std::string::npos && head.value()[begin] != '{';
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

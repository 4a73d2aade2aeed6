#include "app/file_kind.h"

#include "cost/cost_file.h"

#include <QFileInfo>

namespace gs {

FileKind fileKind(const QString& path) {
    const Result<std::string> head = fileHead(path.toStdString());
    return head.ok() && looksLikeCosts(head.value()) ? FileKind::Costs : FileKind::Graph;
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

// Whether a dropped or named file is a graph or a source of costs, by its content.
#pragma once

#include <QString>
#include <QStringList>

namespace gs {

enum class FileKind : uint8_t { Graph, Costs };

/// Anything without the marks of a cost source is taken for a graph; opening it then says what it is.
FileKind fileKind(const QString& path);

/// Whether it is worth looking for several graphs: a folder, or a text that is no JSON.
bool mayHoldSeveralGraphs(const QString& path);

/// Whether a cost source is a trace of a run, which can also be laid over the simulation.
bool isTrace(const QString& path);

/// File arguments sorted into graphs and cost sources, as absolute paths.
struct SortedFiles {
    QStringList graphs;
    QStringList costs;
};
SortedFiles sortFiles(const QStringList& paths);

} // namespace gs

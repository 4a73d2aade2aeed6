// The samples that come with the program: small real graphs, each with a one-line story.
#pragma once

#include <QList>
#include <QMap>
#include <QString>
#include <QStringList>

namespace gs {

struct Sample {
    QString title;
    QString story;
    QString graph; ///< absolute path
    QStringList costs;
    QMap<QString, QString> settings; ///< by name in the settings table
    int nodes = 0;                   ///< of the graph as read; 0 = the index does not say
    int gathers = 0;
};

/// Folder with index.json: beside the installed program, or above the program in a source tree. Empty if
/// there is none.
QString samplesFolder();
/// Reads FOLDER/index.json: [{"title", "story", "graph", "costs": […], "settings": {…}, "nodes", "gathers"}],
/// file names relative to the folder. Entries without title or with a missing file are left out.
QList<Sample> readSamples(const QString& folder);

} // namespace gs

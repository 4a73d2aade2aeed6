#include "views/shell/samples.h"

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

namespace gs {

namespace {

const QString kIndex = QStringLiteral("index.json");

Sample readSample(const QDir& folder, const QJsonObject& object) {
    Sample sample;
    sample.title = object.value(QLatin1String("title")).toString();
    sample.story = object.value(QLatin1String("story")).toString();
    sample.graph = folder.absoluteFilePath(object.value(QLatin1String("graph")).toString());
    for (const QJsonValue& file : object.value(QLatin1String("costs")).toArray())
        sample.costs.append(folder.absoluteFilePath(file.toString()));
    const QJsonObject settings = object.value(QLatin1String("settings")).toObject();
    for (auto it = settings.begin(); it != settings.end(); ++it)
        sample.settings.insert(it.key(), it.value().toVariant().toString());
    sample.nodes = object.value(QLatin1String("nodes")).toInt();
    sample.gathers = object.value(QLatin1String("gathers")).toInt();
    return sample;
}

} // namespace

QString samplesFolder() {
    QDir dir(QCoreApplication::applicationDirPath());
    const QString installed = dir.absoluteFilePath(QStringLiteral("../share/gatherscope/samples"));
    if (QFile::exists(QDir(installed).filePath(kIndex)))
        return QDir::cleanPath(installed);
    do {
        if (dir.exists(QStringLiteral("samples/") + kIndex))
            return dir.absoluteFilePath(QStringLiteral("samples"));
    } while (dir.cdUp());
    return {};
}

QList<Sample> readSamples(const QString& folder) {
    QList<Sample> samples;
    const QDir dir(folder);
    QFile file(dir.filePath(kIndex));
    if (folder.isEmpty() || !file.open(QIODevice::ReadOnly))
        return samples;
    for (const QJsonValue& value : QJsonDocument::fromJson(file.readAll()).array()) {
        Sample sample = readSample(dir, value.toObject());
        bool complete = !sample.title.isEmpty() && QFile::exists(sample.graph);
        for (const QString& costs : sample.costs)
            complete = complete && QFile::exists(costs);
        if (complete)
            samples.append(std::move(sample));
    }
    return samples;
}

} // namespace gs

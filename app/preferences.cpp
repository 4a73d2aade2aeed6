#include "app/preferences.h"

#include "analysis/analysis.h"
#include "analysis/compare.h"
#include "app/text.h"

#include <QGuiApplication>
#include <QPalette>
#include <QSettings>

namespace gs {

namespace {

bool& desktopIsDark() {
    static bool dark = false;
    return dark;
}

/// Stored states of another layout generation are not restored.
constexpr int kLayoutVersion = 1;

} // namespace

bool RecentFile::sameFiles(const RecentFile& other) const {
    return graph == other.graph && costs == other.costs && pick == other.pick && traces == other.traces &&
           ranks == other.ranks;
}

RecentFile recentFileOf(const Analysis& analysis) {
    const AnalysisRequest& request = analysis.request;
    RecentFile file;
    file.graph = toQString(request.graph_file);
    file.pick = {request.graph_index, request.rank, toQString(request.stage)};
    for (const auto& [from, to] :
         {std::pair(&request.cost_files, &file.costs), std::pair(&request.trace_files, &file.traces),
          std::pair(&request.rank_files, &file.ranks)})
        for (const std::string& path : *from)
            to->append(toQString(path));
    for (const Setting key : changedSettings(analysis.asked, Settings()))
        file.settings.append(toQString(settingSpec(key).name) + QLatin1Char('=') +
                             toQString(analysis.asked.text(key)));
    return file;
}

AnalysisRequest requestOf(const RecentFile& file) {
    AnalysisRequest request;
    request.graph_file = file.graph.toStdString();
    request.graph_index = file.pick.index;
    request.rank = file.pick.rank;
    request.stage = file.pick.stage.toStdString();
    for (const auto& [from, to] :
         {std::pair(&file.costs, &request.cost_files), std::pair(&file.traces, &request.trace_files),
          std::pair(&file.ranks, &request.rank_files)})
        for (const QString& path : *from)
            to->push_back(path.toStdString());
    for (const QString& setting : file.settings) {
        const qsizetype at = setting.indexOf(QLatin1Char('='));
        (void)request.settings.set(setting.left(at).toStdString(), setting.mid(at + 1).toStdString());
    }
    return request;
}

QString themeChoiceName(ThemeChoice choice) {
    switch (choice) {
    case ThemeChoice::Light:
        return QStringLiteral("light");
    case ThemeChoice::Dark:
        return QStringLiteral("dark");
    case ThemeChoice::System:
        break;
    }
    return QStringLiteral("system");
}

bool parseThemeChoice(const QString& name, ThemeChoice& choice) {
    for (const ThemeChoice candidate : {ThemeChoice::System, ThemeChoice::Light, ThemeChoice::Dark}) {
        if (themeChoiceName(candidate) == name) {
            choice = candidate;
            return true;
        }
    }
    return false;
}

ThemeChoice Preferences::themeChoice() {
    ThemeChoice choice = ThemeChoice::System;
    parseThemeChoice(QSettings().value(QStringLiteral("theme")).toString(), choice);
    return choice;
}

void Preferences::setThemeChoice(ThemeChoice choice) {
    QSettings().setValue(QStringLiteral("theme"), themeChoiceName(choice));
}

QList<RecentFile> Preferences::recentFiles() {
    QSettings settings;
    QList<RecentFile> files;
    const int count = settings.beginReadArray(QStringLiteral("recent"));
    for (int i = 0; i < count; ++i) {
        settings.setArrayIndex(i);
        const QString graph = settings.value(QStringLiteral("graph")).toString();
        if (!graph.isEmpty())
            files.append({graph,
                          settings.value(QStringLiteral("costs")).toStringList(),
                          {settings.value(QStringLiteral("index"), -1).toInt(),
                           settings.value(QStringLiteral("rank"), -1).toInt(),
                           settings.value(QStringLiteral("stage")).toString()},
                          settings.value(QStringLiteral("traces")).toStringList(),
                          settings.value(QStringLiteral("ranks")).toStringList(),
                          settings.value(QStringLiteral("settings")).toStringList()});
    }
    settings.endArray();
    return files;
}

void Preferences::addRecentFile(const RecentFile& file) {
    QList<RecentFile> files = recentFiles();
    files.removeIf([&](const RecentFile& old) { return old.graph == file.graph; });
    files.prepend(file);
    if (files.size() > kMaxRecent)
        files.resize(kMaxRecent);
    QSettings settings;
    settings.remove(QStringLiteral("recent"));
    settings.beginWriteArray(QStringLiteral("recent"), static_cast<int>(files.size()));
    for (qsizetype i = 0; i < files.size(); ++i) {
        settings.setArrayIndex(static_cast<int>(i));
        settings.setValue(QStringLiteral("graph"), files[i].graph);
        settings.setValue(QStringLiteral("costs"), files[i].costs);
        settings.setValue(QStringLiteral("index"), files[i].pick.index);
        settings.setValue(QStringLiteral("rank"), files[i].pick.rank);
        settings.setValue(QStringLiteral("stage"), files[i].pick.stage);
        settings.setValue(QStringLiteral("traces"), files[i].traces);
        settings.setValue(QStringLiteral("ranks"), files[i].ranks);
        settings.setValue(QStringLiteral("settings"), files[i].settings);
    }
    settings.endArray();
}

void Preferences::clearRecentFiles() {
    QSettings().remove(QStringLiteral("recent"));
}

QByteArray Preferences::geometry() {
    return QSettings().value(QStringLiteral("window/geometry")).toByteArray();
}

QByteArray Preferences::dockState() {
    const QSettings settings;
    if (settings.value(QStringLiteral("window/layout")).toInt() != kLayoutVersion)
        return {};
    return settings.value(QStringLiteral("window/docks")).toByteArray();
}

void Preferences::setWindow(const QByteArray& geometry, const QByteArray& dock_state) {
    QSettings settings;
    settings.setValue(QStringLiteral("window/geometry"), geometry);
    settings.setValue(QStringLiteral("window/docks"), dock_state);
    settings.setValue(QStringLiteral("window/layout"), kLayoutVersion);
}

QString Preferences::lastFolder() {
    return QSettings().value(QStringLiteral("folder")).toString();
}

void Preferences::setLastFolder(const QString& folder) {
    QSettings().setValue(QStringLiteral("folder"), folder);
}

QVariantMap Preferences::profileChoices() {
    return QSettings().value(QStringLiteral("profile/choices")).toMap();
}

void Preferences::setProfileChoices(const QVariantMap& choices) {
    QSettings().setValue(QStringLiteral("profile/choices"), choices);
}

QVariantMap Preferences::exportChoices() {
    return QSettings().value(QStringLiteral("export/choices")).toMap();
}

void Preferences::setExportChoices(const QVariantMap& choices) {
    QSettings().setValue(QStringLiteral("export/choices"), choices);
}

void rememberDesktopPalette() {
    desktopIsDark() = QGuiApplication::palette().color(QPalette::Window).lightness() < 128;
}

bool isDark(ThemeChoice choice) {
    return choice == ThemeChoice::Dark || (choice == ThemeChoice::System && desktopIsDark());
}

} // namespace gs

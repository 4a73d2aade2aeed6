// What the program remembers between runs. Read and written on the GUI thread only.
#pragma once

#include <QByteArray>
#include <QList>
#include <QString>
#include <QStringList>
#include <QVariantMap>

namespace gs {

enum class ThemeChoice : uint8_t { System, Light, Dark };
/// "system", "light", "dark"; nothing else is a choice.
QString themeChoiceName(ThemeChoice choice);
bool parseThemeChoice(const QString& name, ThemeChoice& choice);

/// Which graph of a file or folder, as in AnalysisRequest.
struct GraphPick {
    int index = -1;
    int rank = -1;
    QString stage;
    bool operator==(const GraphPick&) const = default;
};

/// What was open: opening it again gives the same request, but for costs and places changed by hand, which a
/// bundle keeps.
struct RecentFile {
    QString graph;
    QStringList costs;
    GraphPick pick = {};
    QStringList traces = {};   ///< laid over the simulation
    QStringList ranks = {};    ///< files of other ranks
    QStringList settings = {}; ///< "name=value" of those that are not as they come

    bool operator==(const RecentFile&) const = default;
    bool sameFiles(const RecentFile& other) const;
};

struct Analysis;
struct AnalysisRequest;
/// With the settings that were asked for, not what other ranks made of them.
RecentFile recentFileOf(const Analysis& analysis);
/// A setting that is no more is left out.
AnalysisRequest requestOf(const RecentFile& file);

class Preferences {
public:
    static constexpr qsizetype kMaxRecent = 12;

    static ThemeChoice themeChoice();
    static void setThemeChoice(ThemeChoice choice);

    /// Newest first.
    static QList<RecentFile> recentFiles();
    static void addRecentFile(const RecentFile& file);
    static void clearRecentFiles();

    static QByteArray geometry();
    static QByteArray dockState();
    static void setWindow(const QByteArray& geometry, const QByteArray& dock_state);

    static QString lastFolder();
    static void setLastFolder(const QString& folder);

    /// Of the Re-profile and Export dialogs, in their own words.
    static QVariantMap profileChoices();
    static void setProfileChoices(const QVariantMap& choices);
    static QVariantMap exportChoices();
    static void setExportChoices(const QVariantMap& choices);
};

/// Whether the desktop is dark; call before Theme::apply() replaces the palette for the first time.
void rememberDesktopPalette();
bool isDark(ThemeChoice choice);

} // namespace gs

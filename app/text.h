// The core's texts are UTF-8; Qt's are UTF-16.
#pragma once

#include <QDir>
#include <QFileInfo>
#include <QString>

#include <string_view>

namespace gs {

inline QString toQString(std::string_view text) {
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

/// Last part of a path, of a folder too.
inline QString fileTitle(const QString& path) {
    return QFileInfo(QDir::cleanPath(path)).fileName();
}

/// The core's messages begin small and end open; a page shows sentences. Names of operators and programs stay
/// as they are written.
inline QString toSentence(std::string_view text) {
    QString result = toQString(text);
    if (result.isEmpty())
        return result;
    const QString first = result.section(QLatin1Char(' '), 0, 0).chopped(1);
    const bool is_name = first.contains(QLatin1Char('_')) || first.contains(QLatin1Char('.')) ||
                         first.startsWith(QLatin1String("gatherscope"));
    if (!is_name)
        result[0] = result[0].toUpper();
    if (!result.endsWith(QLatin1Char('.')) && !result.endsWith(QLatin1Char('?')))
        result += QLatin1Char('.');
    return result;
}

} // namespace gs

// Texts with names that files bring: laying out a name of a hundred thousand letters takes minutes.
#pragma once

#include <QString>

namespace gs {

/// `text`, cut after `most` characters.
inline QString shownText(const QString& text, qsizetype most = 200) {
    if (text.size() <= most)
        return text;
    const qsizetype end = text.at(most - 1).isHighSurrogate() ? most - 1 : most;
    return text.left(end) + QChar(0x2026);
}

} // namespace gs

// What the profile store holds, and two of its profiles side by side.
#pragma once

#include <QStringList>

namespace gs {

/// `list profiles --store FILE`: a line per profile, newest first.
int listProfiles(const QString& store);
/// `compare --profiles A B --store FILE`: a line per key; A and B as the setting `profile` takes them.
int compareStoredProfiles(const QStringList& arguments);

} // namespace gs

// `compare RANK0 RANK1 …`: the ranks of a job side by side.
#pragma once

#include "app/cli/options.h"

#include <QStringList>

namespace gs {

/// True if `files` are what ranks run, not one graph for several schedulers: more than one file, or a log or
/// folder that holds graphs of several ranks.
bool namesSeveralRanks(const QStringList& files);

/// Compares them and prints a table, or JSON. Exit code: 1 if they do not fit together.
int compareRanks(const QStringList& files, const CommonOptions& options);

} // namespace gs

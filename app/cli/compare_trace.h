// `gatherscope-cli compare FILE --trace TRACE…`: a run against its simulation.
#pragma once

#include "app/cli/options.h"

#include <QStringList>

namespace gs {

/// Analyses `file` and lays the traces (one per rank) over it. `csv`: path or "-"; empty = none.
int compareTrace(const QString& file, const QStringList& traces, const QString& csv,
                 const CommonOptions& options);

} // namespace gs

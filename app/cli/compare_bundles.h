// `gatherscope-cli compare A.bundle B.bundle`: what differs between two bundles, for CI.
#pragma once

#include "app/cli/options.h"

#include <QStringList>

namespace gs {

/// True for two files of which one is a bundle.
bool namesTwoBundles(const QStringList& files);

/// Prints or writes the differences. Exit code: kExitFindings if there are any beyond versions.
int compareBundleFiles(const QStringList& files, const CommonOptions& options);

} // namespace gs

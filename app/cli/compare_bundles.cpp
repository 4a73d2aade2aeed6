#include "app/cli/compare_bundles.h"

#include "analysis/bundle_request.h"
#include "app/cli/exit_codes.h"
#include "export/bundle_diff.h"

#include <fmt/format.h>

namespace gs {

bool namesTwoBundles(const QStringList& files) {
    return files.size() == 2 &&
           (isBundle(files.first().toStdString()) || isBundle(files.last().toStdString()));
}

int compareBundleFiles(const QStringList& files, const CommonOptions& options) {
    constexpr size_t kListed = 20;
    const Result<BundleDiff> diff = compareBundles(files[0].toStdString(), files[1].toStdString());
    if (!diff) {
        printError(diff.error());
        return exitCodeFor(diff.error());
    }
    if (!options.quiet && options.json != "-")
        printLines(bundleDiffText(diff.value(), options.verbose ? SIZE_MAX : kListed));
    if (!options.json.isEmpty()) {
        if (const Status status = writeOutput(options.json, bundleDiffJson(diff.value())); !status) {
            printError(status.error());
            return kExitUnreadable;
        }
    }
    return diff->found() ? kExitFindings : kExitDone;
}

} // namespace gs

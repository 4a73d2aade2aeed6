// Pictures of the dialogs in all their states, from made-up data: measuring would differ from run to run.
#pragma once

#include "views/view.h"

#include <functional>

namespace gs {

/// What the pictures are made with: save(widget, name), and settle() until nothing changes any more.
struct GrabTools {
    std::function<void(QWidget& widget, const QString& name)> save;
    std::function<void()> settle;
    std::function<bool(const std::function<bool()>& done)> wait;
};

/// Of the Costs dock, from made-up profiles.
void grabProfileComparison(const SnapshotPtr& snapshot, const QString& name, const GrabTools& tools);
void grabProfileDialog(const SnapshotPtr& snapshot, const QString& name, const GrabTools& tools);
/// `window` is what the picture of the window shows.
void grabExportDialog(const SnapshotPtr& snapshot, QWidget* window, const QString& name,
                      const GrabTools& tools);

} // namespace gs

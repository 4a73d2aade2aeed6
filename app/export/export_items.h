// What can be exported, sorted by what people want it for.
#pragma once

#include "export/exporter.h"
#include "views/registry.h"

#include <QString>
#include <span>
#include <vector>

namespace gs {

/// A file of the core, or a picture of a view or of the whole window.
struct ExportItem {
    QString id; ///< "schedule", "picture-timeline", "picture-window"
    QString title;
    QString group;   ///< purpose, as the list shows it
    QString meaning; ///< one sentence
    const Exporter* exporter = nullptr;
    const ViewInfo* view = nullptr;

    bool isPicture() const { return exporter == nullptr; }
};

/// In the order of the list; the items of a group stand together.
std::vector<ExportItem> exportItems(std::span<const ViewInfo> views);

} // namespace gs

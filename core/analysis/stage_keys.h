// What the results of a stage depend on, as text: equal keys mean equal inputs.
#pragma once

#include "analysis/analysis.h"

namespace gs {

/// Path, size and time of a file, or of every file in a folder: what changed is another key.
std::string fileKey(const std::string& path);

/// The request's graph: its files and what is chosen in them.
std::string importKey(const AnalysisRequest& request);

/// What the passes depend on beside the graph.
std::string passesKey(const AnalysisRequest& request);

/// What the costs depend on beside the graph: settings, cost files, the profile store, edits and pins.
std::string costsKey(const AnalysisRequest& request);

/// The edits of buckets, or of places.
std::string editsKey(const Edits& edits, bool buckets);

/// Values of all settings that belong to `stage`.
std::string settingsKey(const Settings& settings, Stage stage);

} // namespace gs

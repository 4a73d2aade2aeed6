// The selection's part of the scene: outlines, arrows, and the window that hides it.
#pragma once

#include "views/timeline/timeline_scene.h"

namespace gs {

/// Adds to `scene` what the request's selection needs in one band. What lies outside the range is cut at the
/// plot's edges; a selection that lies outside altogether gets a text that tells where.
void addSelection(const TimelineData& data, const TimelineLayout& layout, const SceneRequest& request,
                  const TimeAxis& axis, size_t band, TimelineScene& scene);

} // namespace gs

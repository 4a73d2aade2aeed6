// The launches of the scheduled band, as marks under its compute lane that can be dragged.
#pragma once

#include "views/timeline/timeline_scene.h"

namespace gs {

/// Adds the marks to `scene`: those that an edit placed or that are selected always, of the others at most
/// one every few pixels.
void addLaunchMarks(const TimelineData& data, const TimelineLayout& layout, const SceneRequest& request,
                    const TimeAxis& axis, TimelineScene& scene);

} // namespace gs

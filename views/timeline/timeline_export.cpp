#include "views/timeline/timeline_export.h"

#include "views/theme.h"
#include "views/timeline/timeline_painter.h"

#include <QPainter>

namespace gs {

double timelineHeight(const SnapshotPtr& snapshot) {
    const TimelineDataPtr data = TimelineData::build(snapshot);
    const double lanes = layoutTimeline(*data, 0).height;
    return kHeaderHeight + std::max(lanes, 80.0) + kRulerHeight;
}

void renderTimeline(QPainter* painter, const QRectF& area, SnapshotPtr snapshot, const Selection& selection,
                    TimeRange range) {
    const TimelineDataPtr data = TimelineData::build(std::move(snapshot));
    SceneRequest request;
    request.size = area.size();
    request.gutter = gutterWidth(*data);
    request.range = data->full();
    request.selection = selection;
    if (range.length() > 0)
        request.range = clampRange(range, data->full(), sceneAxis(request).width());
    painter->save();
    painter->translate(area.topLeft());
    paintScene(*painter, buildScene(*data, request), Theme::current());
    painter->restore();
}

} // namespace gs

#include "views/timeline/launch_drag.h"

#include "views/timeline/timeline_text.h"

#include <algorithm>

namespace gs {

LaunchDrag::LaunchDrag(SnapshotPtr snapshot, NodeId launch)
    : snapshot_(std::move(snapshot)), launch_(launch),
      group_(movingGroup(graph(), *snapshot_->after.collectives, launch)), inside_(graph().size(), false),
      range_(legalRange(graph(), order(), group_)) {
    for (const NodeId id : group_)
        inside_[id] = true;
    findBoundaries();
    legal_ = {timeOf(range_.first), timeOf(range_.last)};
}

void LaunchDrag::findBoundaries() {
    const Timeline& timeline = *snapshot_->after.timeline;
    uint32_t first = graph().placeholdersEnd();
    for (uint32_t at = first; at < order().size(); ++at) {
        const NodeId id = order()[at];
        if (id == launch_)
            here_ = boundaries_.size();
        if (inside_[id] || timeline.end_ns[id] == timeline.start_ns[id])
            continue;
        boundaries_.push_back({timeline.start_ns[id], first, at});
        first = at + 1;
    }
    boundaries_.push_back({timeline.step_ns, first, static_cast<uint32_t>(order().size())});
}

int64_t LaunchDrag::timeOf(uint32_t position) const {
    const Timeline& timeline = *snapshot_->after.timeline;
    return position < order().size() ? timeline.start_ns[order()[position]] : timeline.step_ns;
}

LaunchDrag::Place LaunchDrag::placeAt(int64_t time_ns) const {
    auto next = std::lower_bound(boundaries_.begin(), boundaries_.end(), time_ns,
                                 [](const Boundary& item, int64_t time) { return item.time_ns < time; });
    if (next == boundaries_.end())
        --next;
    if (next != boundaries_.begin() && time_ns - (next - 1)->time_ns < next->time_ns - time_ns)
        --next;
    return placeOf(static_cast<size_t>(next - boundaries_.begin()));
}

LaunchDrag::Place LaunchDrag::placeBeside(int steps) const {
    const auto last = static_cast<std::ptrdiff_t>(boundaries_.size()) - 1;
    return placeOf(
        static_cast<size_t>(std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(here_) + steps, 0, last)));
}

/// Of the positions at the boundary the last legal one: right in front of what takes time.
LaunchDrag::Place LaunchDrag::placeOf(size_t index) const {
    const Boundary& item = boundaries_[index];
    Place place{item.time_ns, std::clamp(range_.last, item.first, item.last), index, {}};
    if (item.last < range_.first)
        place.position = item.last;
    place.refusal = refusal(graph(), range_, place.position);
    return place;
}

NodeId LaunchDrag::anchorAt(const Place& place) const {
    for (uint32_t at = place.position; at < order().size(); ++at) {
        if (!inside_[order()[at]])
            return order()[at];
    }
    return kNoNode;
}

Edit LaunchDrag::edit(const Place& place, Edit::Kind kind) const {
    Edit edit;
    edit.kind = kind;
    edit.node = std::string(graph().name(launch_));
    if (const NodeId anchor = anchorAt(place); anchor != kNoNode)
        edit.anchor = std::string(graph().name(anchor));
    return edit;
}

QString LaunchDrag::text(const Place& place) const {
    if (!place.legal()) {
        QString why = QString::fromStdString(place.refusal);
        why[0] = why[0].toUpper();
        return why;
    }
    const NodeId anchor = anchorAt(place);
    return anchor == kNoNode ? TimelineText::tr("at the end")
                             : TimelineText::tr("in front of %1")
                                   .arg(QString::fromStdString(std::string(graph().name(anchor))));
}

} // namespace gs

// What happens in a range of time, per band: the facts of a dragged selection.
#pragma once

#include "views/timeline/timeline_data.h"

namespace gs {

struct RangeTotals {
    struct Stream {
        QString label;
        int64_t busy_ns = 0;
    };
    int64_t length_ns = 0;
    int64_t compute_ns = 0;
    int64_t exposed_ns = 0;
    std::vector<Stream> streams; ///< in the order of the lanes
    int64_t comm_ns = 0;         ///< union over the streams
    int64_t overlapped_ns = 0;   ///< part of the union under which compute runs
    int64_t bytes = 0;           ///< output bytes of the transfers that touch the range; unknown ones are 0
    int64_t transfers = 0;       ///< that touch the range
};

/// O(transfers in the range · log n).
RangeTotals rangeTotals(const TimelineBand& band, TimeRange range);

/// The edge of a slice (of any lane) that is nearest to `time_ns`, if it is within `reach_ns`; else
/// `time_ns`.
int64_t snapToSlice(const TimelineData& data, int64_t time_ns, int64_t reach_ns);

} // namespace gs

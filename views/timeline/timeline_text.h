// Every sentence and label of the timeline.
#pragma once

#include "views/view.h"

#include <QCoreApplication>
#include <QString>

namespace gs {

struct SliceRef;
struct SliceRun;
struct TimelineBand;
struct TimelineData;

/// The context of all translated texts of the timeline.
struct TimelineText {
    Q_DECLARE_TR_FUNCTIONS(gs::TimelineText)
};

QString timeText(int64_t ns);
QString bytesText(int64_t bytes);

/// "exposed 338.1 ms of 486.0 ms · step 1,481.0 → 1,333.0 ms (−10.0 %) · lower bound 995.0 ms".
QString headerText(const Analysis& analysis);
/// "fsdp · 64": the group's description without the prefixes that PyTorch adds, and its size. The group of
/// all ranks is "fsdp" where it gathers weights, else "world".
QString groupLabel(const Graph& graph, GroupId group, int32_t size, bool gathers_weights);
QString groupTip(const Graph& graph, const CommStream& stream, size_t transfers, const QString& label);
/// What fits on a compute slice: the node's name, short for attention.
QString computeLabel(const Graph& graph, NodeId node);
/// "w1" for "layers.8.feed_forward.w1.weight", "w1 +2" for a bucket, "reduce_scatter" for the others.
QString collectiveLabel(const Graph& graph, const Collective& collective);
/// Full facts about one slice, as rich text for a tooltip.
QString sliceTip(const TimelineData& data, const SliceRef& ref);
/// Facts about a mark that stands for several slices.
QString runTip(const TimelineData& data, size_t band, size_t lane, const SliceRun& run);

} // namespace gs

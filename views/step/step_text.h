// Every sentence and label of the step-through.
#pragma once

#include "views/shown_text.h"
#include "views/step/step_data.h"

#include <QCoreApplication>
#include <QString>

namespace gs {

/// The context of all translated texts of the step-through.
struct StepText {
    Q_DECLARE_TR_FUNCTIONS(gs::StepText)
};

QString nodeName(const Graph& graph, NodeId node);
/// "1.42 ms".
QString stepTime(double ns);
/// "layers.8.ffn.w1": the gather of a step.
QString stepGather(const StepData& data, size_t step);
/// "w1": the same where there is little room.
QString shortGather(const StepData& data, size_t step);
/// "node 5,120".
QString placeText(uint32_t position);
/// "floor: mm_12" or "floor: the graph's inputs".
QString floorText(const StepData& data, size_t step);

/// What happens in a step, in plain words. `fill` < 1: the walk is under way, its end is not told yet.
QString stepSentence(const StepData& data, size_t step, double fill);
/// What is to be known beyond the step: the schedule shown is another scheduler's, or was changed by hand.
/// Empty if there is nothing.
QString stepNote(const StepData& data);
/// Facts about a compute node as a tooltip.
QString computeTip(const StepData& data, NodeId node, int claimed_by);
/// Facts about a gather as a tooltip.
QString gatherTip(const StepData& data, size_t step);

} // namespace gs

#include "views/step/step_text.h"

#include "base/units.h"
#include "explain/names.h"
#include "schedule/scheduler.h"
#include "views/timeline/timeline_text.h"

#include <QStringList>
#include <cmath>

namespace gs {

namespace {

QString shownName(const Graph& graph, NodeId node) {
    return shownText(nodeName(graph, node));
}

const Collective& collectiveOf(const StepData& data, size_t step) {
    return (*data.program().collectives)[static_cast<size_t>(data.decision(step).collective)];
}

QString gatherOf(const StepData& data, NodeId launch) {
    const int step = data.stepOf({Selection::Kind::Gather, nodeName(data.graph(), launch)});
    return step < 0 ? shownName(data.graph(), launch) : stepGather(data, static_cast<size_t>(step));
}

QString needSentence(const StepData& data, size_t index) {
    const Decision& decision = data.decision(index);
    const GatherMoveSettings& settings = data.sweep.settings;
    QString sum = stepTime(decision.comm_ns);
    if (settings.contention != 1)
        sum += QStringLiteral(" × %1").arg(settings.contention);
    if (settings.slack_ns != 0)
        sum += QStringLiteral(" + %1").arg(stepTime(settings.slack_ns));
    return StepText::tr("%1 needs %2: %3.").arg(stepGather(data, index), stepTime(decision.need_ns), sum);
}

/// "Walking back from node 5,120 with 20 µs carried over from w3, ".
QString walkStart(const StepData& data, size_t index) {
    const Decision& decision = data.decision(index);
    const QString from = placeText(data.step(index).start);
    if (decision.carry_in_ns > 0)
        return StepText::tr("Walking back from %1, with %2 carried over from %3,")
            .arg(from, stepTime(decision.carry_in_ns), gatherOf(data, decision.carry_from));
    return StepText::tr("Walking back from %1,").arg(from);
}

/// What ended a walk that did not reach its need.
QString stopSentence(const StepData& data, size_t index) {
    const SweepStep& step = data.step(index);
    const Decision& decision = data.decision(index);
    switch (step.walk_end) {
    case WalkEnd::GraphStart:
        return StepText::tr("only the graph's inputs lie before that");
    case WalkEnd::Claimed:
        return StepText::tr("the compute in front of the launch is claimed, last by %1")
            .arg(gatherOf(data, step.claimed_by));
    default:
        return StepText::tr("%1 must stay in front of the launch")
            .arg(shownName(data.graph(), decision.floor_node));
    }
}

QString foundSentence(const StepData& data, size_t index) {
    const SweepStep& step = data.step(index);
    const Decision& decision = data.decision(index);
    const bool walked = step.last_walked > step.first_walked;
    if (step.walk_end != WalkEnd::Reached) {
        if (!walked && decision.carry_in_ns <= 0)
            return StepText::tr("In front of %1 it finds no compute: %2.")
                .arg(placeText(step.start), stopSentence(data, index));
        return StepText::tr("%1 it finds only %2: %3.")
            .arg(walkStart(data, index), stepTime(decision.window_ns), stopSentence(data, index));
    }
    if (!walked && decision.carry_in_ns > 0)
        return StepText::tr("The %1 carried over from %2 cover it already.")
            .arg(stepTime(decision.carry_in_ns), gatherOf(data, decision.carry_from));
    if (!walked)
        return StepText::tr("It needs no compute to hide it.");
    return StepText::tr("%1 it finds %2 at %3.")
        .arg(walkStart(data, index), stepTime(decision.window_ns),
             shownName(data.graph(), data.sweep.walked[step.last_walked - 1].node));
}

QString leftOverSentence(const StepData& data, size_t index) {
    const double left = data.step(index).left_over_ns;
    if (left < 1 || index + 1 >= data.size())
        return {};
    if (data.decision(index + 1).carry_in_ns > 0)
        return StepText::tr(" %1 are carried to %2.").arg(stepTime(left), stepGather(data, index + 1));
    if (!data.sweep.settings.carry)
        return StepText::tr(" %1 are left over and lost: carry is off.").arg(stepTime(left));
    return StepText::tr(" %1 are left over: %2 launches before them and cannot use them.")
        .arg(stepTime(left), stepGather(data, index + 1));
}

QString moveSentence(const StepData& data, size_t index) {
    const SweepStep& step = data.step(index);
    const Decision& decision = data.decision(index);
    const QString hidden =
        decision.verdict == Verdict::Hidden ? StepText::tr("hidden") : StepText::tr("compute-limited");
    const QString move = step.target == decision.cur
                             ? StepText::tr(" So the launch stays at %1.").arg(placeText(decision.cur))
                             : StepText::tr(" So the launch moves from %1 to %2.")
                                   .arg(placeText(decision.cur), placeText(step.target));
    if (decision.target == step.target)
        return move;
    return move + StepText::tr(" In the end it launches at %1, since launches keep their order.")
                      .arg(placeText(decision.target));
}

} // namespace

QString nodeName(const Graph& graph, NodeId node) {
    if (node >= graph.size())
        return QStringLiteral("?");
    const std::string_view name = graph.name(node);
    return QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()));
}

QString stepTime(double ns) {
    return QString::fromStdString(formatTime(std::llround(ns)));
}

QString stepGather(const StepData& data, size_t step) {
    return shownText(QString::fromStdString(gatherLabel(data.graph(), collectiveOf(data, step))));
}

QString shortGather(const StepData& data, size_t step) {
    return shownText(collectiveLabel(data.graph(), collectiveOf(data, step)));
}

QString placeText(uint32_t position) {
    return StepText::tr("node %1").arg(QString::fromStdString(formatCount(position)));
}

QString floorText(const StepData& data, size_t step) {
    const NodeId node = data.decision(step).floor_node;
    return node == kNoNode ? StepText::tr("floor: the graph's inputs")
                           : StepText::tr("floor: %1").arg(shownName(data.graph(), node));
}

QString stepSentence(const StepData& data, size_t step, double fill) {
    QString text = needSentence(data, step) + QLatin1Char(' ');
    if (fill < 1)
        return text + StepText::tr("%1 it has found %2 so far.")
                          .arg(walkStart(data, step), stepTime(data.found(step, fill)));
    return text + foundSentence(data, step) + leftOverSentence(data, step) + moveSentence(data, step);
}

QString stepNote(const StepData& data) {
    if (data.size() == 0)
        return {};
    const Schedule& shown = *data.program().schedule;
    if (shown.scheduler != "latest-safe-launch") {
        const SchedulerInfo* info = findScheduler(shown.scheduler);
        return StepText::tr("These are the steps of latest-safe-launch on this program. The schedule in the "
                            "other views is that of %1, which works otherwise.")
            .arg(QString::fromStdString(std::string(info ? info->name : shown.scheduler)));
    }
    int by_hand = 0, elsewhere = 0;
    for (const Decision& decision : shown.decisions)
        by_hand += decision.reason == BindingReason::ByHand ? 1 : 0;
    for (const Decision& decision : data.sweep.decisions) {
        const Decision* other = data.snapshot->decisionFor(decision.launch);
        elsewhere += other && other->target != decision.target ? 1 : 0;
    }
    QStringList notes;
    if (by_hand > 0)
        notes += StepText::tr("%n launch(es) placed by hand have no step: the sweep works around them.",
                              nullptr, by_hand);
    if (elsewhere > 0)
        notes += StepText::tr("%n launch(es) stand elsewhere in the schedule shown.", nullptr, elsewhere);
    return notes.join(QLatin1Char(' '));
}

QString computeTip(const StepData& data, NodeId node, int claimed_by) {
    QString text = QStringLiteral("<b>%1</b><br>%2 · %3")
                       .arg(shownName(data.graph(), node).toHtmlEscaped(), placeText(node),
                            stepTime(data.sweep.compute_ns[node]));
    const QString place = shownText(QString::fromStdString(placeName(data.graph(), node)));
    if (place != shownName(data.graph(), node))
        text += QStringLiteral("<br>") + place.toHtmlEscaped();
    if (claimed_by >= 0)
        text += QStringLiteral("<br>") +
                StepText::tr("claimed by %1")
                    .arg(stepGather(data, static_cast<size_t>(claimed_by)).toHtmlEscaped());
    return text;
}

QString gatherTip(const StepData& data, size_t step) {
    const Decision& decision = data.decision(step);
    return QStringLiteral("<b>%1</b><br>%2<br>%3")
        .arg(stepGather(data, step).toHtmlEscaped(),
             StepText::tr("needs %1, finds %2").arg(stepTime(decision.need_ns), stepTime(decision.window_ns)),
             StepText::tr("launch %1 → %2").arg(placeText(decision.cur), placeText(decision.target)));
}

} // namespace gs

#include "views/timeline/launch_menu.h"

#include "views/timeline/hand_edits.h"
#include "views/timeline/timeline_text.h"

#include <QMenu>
#include <algorithm>

namespace gs {

namespace {

QString gatherName(const Analysis& analysis, NodeId launch) {
    const int32_t index = analysis.after.collectives->indexOf(launch);
    return collectiveLabel(*analysis.after.graph, (*analysis.after.collectives)[static_cast<size_t>(index)]);
}

void addBucketActions(QMenu& menu, View& view, NodeId launch) {
    const SnapshotPtr snapshot = view.snapshot();
    for (const int direction : {-1, 1}) {
        const NodeId other = gatherBeside(*snapshot, launch, direction);
        const QString text = direction < 0 ? TimelineText::tr("Bucket with the previous gather")
                                           : TimelineText::tr("Bucket with the next gather");
        QAction* action = menu.addAction(
            other == kNoNode ? text : QStringLiteral("%1: %2").arg(text, gatherName(*snapshot, other)), &view,
            [&view, snapshot, launch, other] {
                emit view.editRequested(bucketOf(*snapshot, launch, other));
            });
        action->setEnabled(other != kNoNode);
    }
    const std::vector<std::string> members = bucketMembers(*snapshot, launch);
    if (members.size() < 2)
        return;
    QMenu* alone = menu.addMenu(TimelineText::tr("Take out of the bucket"));
    for (const std::string& member : members) {
        const auto id = snapshot->before.graph->find(member);
        const int32_t index = id ? snapshot->before.collectives->indexOf(*id) : -1;
        const QString name =
            index < 0 ? QString::fromStdString(member)
                      : collectiveLabel(*snapshot->before.graph,
                                        (*snapshot->before.collectives)[static_cast<size_t>(index)]);
        alone->addAction(name, &view, [&view, member] { emit view.editRequested(aloneEdit(member)); });
    }
}

} // namespace

void addLaunchActions(QMenu& menu, View& view, NodeId launch, bool keys) {
    const SnapshotPtr snapshot = view.snapshot();
    if (!snapshot || !snapshot->after.graph)
        return;
    if (launch != kNoNode) {
        const std::vector<Edit> edits = editsOf(*snapshot, launch);
        const auto has = [&](Edit::Kind kind) {
            return std::any_of(edits.begin(), edits.end(),
                               [&](const Edit& edit) { return edit.kind == kind; });
        };
        QAction* pin =
            menu.addAction(TimelineText::tr("Pin here") + (keys ? QStringLiteral("\tP") : QString()), &view,
                           [&view, snapshot, launch] { emit view.editRequested(pinEdit(snapshot, launch)); });
        pin->setEnabled(!has(Edit::Kind::Pin));
        QAction* forbid = menu.addAction(
            TimelineText::tr("Forbid moving (leave at program order)"), &view,
            [&view, snapshot, launch] { emit view.editRequested(forbidEdit(*snapshot, launch)); });
        forbid->setEnabled(!has(Edit::Kind::Forbid));
        QAction* remove = menu.addAction(
            TimelineText::tr("Remove manual change") + (keys ? QStringLiteral("\tDel") : QString()), &view,
            [&view, snapshot, launch] {
                emit view.requestRequested(withoutHand(*snapshot, launch),
                                           TimelineText::tr("Take back manual change"));
            });
        remove->setEnabled(!edits.empty());
        const int32_t index = snapshot->after.collectives->indexOf(launch);
        if (index >= 0 && (*snapshot->after.collectives)[static_cast<size_t>(index)].isGather()) {
            menu.addSeparator();
            addBucketActions(menu, view, launch);
        }
        menu.addSeparator();
    }
    QAction* clear = menu.addAction(TimelineText::tr("Clear all manual changes"), &view,
                                    [&view] { emit view.editRemovalRequested(QString()); });
    clear->setEnabled(!snapshot->request.edits.empty());
    menu.addSeparator();
}

} // namespace gs

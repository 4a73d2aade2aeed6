// Where the parts of the status line and the single keys lead: into the views.
#include "app/banner.h"
#include "app/main_window.h"
#include "app/profile/profile_dialog.h"
#include "app/profile/worker_profile_job.h"
#include "app/text.h"
#include "views/docks/chip.h"
#include "views/docks/costs_view.h"
#include "views/docks/filter_field.h"
#include "views/docks/gathers_view.h"

#include <QMenu>
#include <QPushButton>

#include <algorithm>

namespace gs {

namespace {

QString describe(const Edit& edit) {
    const QString node = toQString(edit.node), anchor = toQString(edit.anchor);
    switch (edit.kind) {
    case Edit::Kind::Move:
        return MainWindow::tr("%1 moved in front of %2").arg(node, anchor);
    case Edit::Kind::Pin:
        return MainWindow::tr("%1 pinned in front of %2").arg(node, anchor);
    case Edit::Kind::Forbid:
        return MainWindow::tr("%1 held in its place").arg(node);
    case Edit::Kind::Bucket:
        break;
    }
    if (edit.members.size() == 1)
        return MainWindow::tr("%1 taken out of its bucket").arg(toQString(edit.members.front()));
    return MainWindow::tr("bucket of %1 and %n more", nullptr, static_cast<int>(edit.members.size()) - 1)
        .arg(toQString(edit.members.front()));
}

void showOnly(GathersView& view, GathersFilter::Chip wanted) {
    for (int chip = 0; chip < GathersFilter::ChipCount; ++chip)
        view.chip(static_cast<GathersFilter::Chip>(chip))->setChecked(chip == wanted);
}

} // namespace

void MainWindow::statusClicked(StatusLine::Part part) {
    auto* gathers = qobject_cast<GathersView*>(workspace_->view(QStringLiteral("gathers")));
    auto* costs = qobject_cast<CostsView*>(workspace_->view(QStringLiteral("costs")));
    switch (part) {
    case StatusLine::Part::Edits:
        showEdits();
        break;
    case StatusLine::Part::Hidden:
    case StatusLine::Part::Exposed:
        if (gathers)
            showOnly(*gathers,
                     part == StatusLine::Part::Hidden ? GathersFilter::Hidden : GathersFilter::Exposed);
        workspace_->show(QStringLiteral("gathers"));
        break;
    case StatusLine::Part::Missing:
        if (costs)
            costs->missingChip()->setChecked(true);
        workspace_->show(QStringLiteral("costs"));
        break;
    case StatusLine::Part::Step:
    case StatusLine::Part::LowerBound:
    case StatusLine::Part::Peak:
        workspace_->show(QStringLiteral("timeline"));
        break;
    }
}

/// A menu of the changes made by hand: a click takes one back.
void MainWindow::showEdits() {
    const SnapshotPtr snapshot = document_.snapshot();
    if (!snapshot)
        return;
    auto* menu = new QMenu(this);
    menu->setObjectName(QStringLiteral("edits"));
    menu->setAttribute(Qt::WA_DeleteOnClose);
    for (const Edit& edit : snapshot->request.edits) {
        const QString node = toQString(edit.kind == Edit::Kind::Bucket ? edit.members.front() : edit.node);
        menu->addAction(tr("Take back: %1").arg(describe(edit)), this,
                        [this, node] { document_.removeEdits(node); });
    }
    menu->addSeparator();
    menu->addAction(tr("Take back all"), this, [this] { document_.removeEdits({}); });
    const QWidget* anchor = status_->button(StatusLine::Part::Edits);
    menu->popup(anchor->mapToGlobal(QPoint(0, -menu->sizeHint().height())));
}

/// By the table as it is sorted and filtered; without the table in program order.
void MainWindow::stepGather(int by) {
    if (auto* gathers = qobject_cast<GathersView*>(workspace_->view(QStringLiteral("gathers")))) {
        gathers->step(by);
        return;
    }
    const SnapshotPtr snapshot = document_.snapshot();
    if (!snapshot || snapshot->after.schedule->decisions.empty())
        return;
    const std::vector<Decision>& decisions = snapshot->after.schedule->decisions;
    const auto name = [&](int i) {
        return toQString(snapshot->after.graph->name(decisions[static_cast<size_t>(i)].launch));
    };
    const auto count = static_cast<int>(decisions.size());
    int at = by > 0 ? -1 : count;
    for (int i = 0; i < count; ++i)
        if (document_.selection() == Selection{Selection::Kind::Gather, name(i)})
            at = i;
    document_.select({Selection::Kind::Gather, name(std::clamp(at + by, 0, count - 1))});
}

void MainWindow::focusFilter() {
    workspace_->show(QStringLiteral("gathers"));
    if (auto* gathers = qobject_cast<GathersView*>(workspace_->view(QStringLiteral("gathers")))) {
        gathers->filterField()->setFocus(Qt::ShortcutFocusReason);
        gathers->filterField()->selectAll();
    }
}

/// As a dialog of the window: what is open cannot change under it.
ProfileDialog* MainWindow::showProfile() {
    const SnapshotPtr snapshot = document_.snapshot();
    if (!snapshot || document_.opening())
        return nullptr;
    std::unique_ptr<ProfileJob> job =
        make_profile_job_ ? make_profile_job_(snapshot) : std::make_unique<WorkerProfileJob>(snapshot);
    auto* dialog = new ProfileDialog(snapshot, std::move(job), this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &ProfileDialog::takenOver, this,
            [this](const QString& store, qlonglong id, bool contention) {
                const Result<AnalysisRequest> request =
                    withProfile(document_.request(), store.toStdString(), id, contention);
                if (request)
                    document_.setRequest(request.value(), tr("Take over profile %1").arg(id));
                else
                    banner_->showMessage(Banner::Look::Warning, errorText(request.error()));
            });
    dialog->open();
    return dialog;
}

} // namespace gs

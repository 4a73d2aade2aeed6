#include "views/docks/settings_view.h"

#include "schedule/scheduler.h"
#include "views/docks/setting_editor.h"
#include "views/theme.h"

#include <QLabel>
#include <QScrollArea>
#include <QVBoxLayout>
#include <algorithm>

namespace gs {

namespace {

QString text(std::string_view view) {
    return QString::fromUtf8(view.data(), static_cast<qsizetype>(view.size()));
}

} // namespace

SettingsView::SettingsView(QWidget* parent) : View(parent), editors_(kSettingCount, nullptr) {
    auto* scroll = new QScrollArea(this);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setBackgroundRole(QPalette::Base);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto* content = new QWidget;
    content->setBackgroundRole(QPalette::Base);
    auto* layout = new QVBoxLayout(content);
    layout->setContentsMargins(14, 10, 10, 12);
    layout->setSpacing(6);
    addGroup(tr("Scheduler"), Stage::Schedule, content);
    addGroup(tr("Simulation"), Stage::Simulate, content);
    addGroup(tr("Passes"), Stage::Passes, content);
    addGroup(tr("Lint"), Stage::Lint, content);
    addGroup(tr("Costs"), Stage::Costs, content);
    addGroup(tr("Other ranks"), Stage::Ranks, content);
    addGroup(tr("Input"), Stage::Import, content);
    layout->addStretch(1);
    scroll->setWidget(content);
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    outer->addWidget(scroll);
    snapshotChanged();
}

void SettingsView::addGroup(const QString& title, Stage stage, QWidget* content) {
    bool first = true;
    for (const SettingSpec& spec : settingSpecs()) {
        if (spec.stage != stage)
            continue;
        if (first) {
            auto* head = new QLabel(title, content);
            head->setFont(Theme::font(12, QFont::DemiBold));
            head->setContentsMargins(0, content->layout()->isEmpty() ? 0 : 10, 0, 2);
            content->layout()->addWidget(head);
            first = false;
        }
        auto* editor = new SettingEditor(spec, content);
        content->layout()->addWidget(editor);
        editors_[static_cast<size_t>(spec.key)] = editor;
        connect(editor, &SettingEditor::valueRequested, this,
                [this, name = text(spec.name)](const QString& value) { emit settingRequested(name, value); });
    }
}

void SettingsView::snapshotChanged() {
    const Settings settings = snapshot() ? snapshot()->request.settings : Settings();
    const SchedulerInfo* scheduler = findScheduler(settings.text(Setting::Scheduler));
    for (SettingEditor* editor : editors_) {
        if (!editor)
            continue;
        editor->showValue(settings);
        const SettingSpec& spec = editor->spec();
        if (!scheduler || spec.stage != Stage::Schedule || spec.key == Setting::Scheduler)
            continue;
        const bool read = std::find(scheduler->settings.begin(), scheduler->settings.end(), spec.key) !=
                          scheduler->settings.end();
        editor->setInUse(read, tr("The scheduler \"%1\" does not read it.").arg(text(scheduler->title)));
    }
}

} // namespace gs

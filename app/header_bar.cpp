#include "app/header_bar.h"

#include "app/elided_label.h"
#include "app/header_chip.h"
#include "app/setting_popup.h"
#include "app/text.h"
#include "base/units.h"
#include "views/models/graph_list_model.h"
#include "views/theme.h"

#include <QFileInfo>
#include <QHBoxLayout>
#include <QMenu>
#include <QPainter>

namespace gs {

namespace {

constexpr int kMaxGraphWidth = 230;
constexpr int kSubtitleWidth = 1400;
constexpr int kStageWidth = 1120;

} // namespace

QString graphSubtitle(const Graph& graph) {
    QStringList parts{
        HeaderBar::tr("%1 nodes").arg(toQString(formatCount(static_cast<int64_t>(graph.size()))))};
    if (graph.info().world_size > 0)
        parts.append(HeaderBar::tr("%1 ranks").arg(graph.info().world_size));
    parts.append(graph.info().level == GraphLevel::Fx ? HeaderBar::tr("fx") : HeaderBar::tr("scheduler"));
    return parts.join(QStringLiteral(" · "));
}

std::pair<QString, QString> graphPlace(const GraphEntry& entry) {
    return {entry.rank < 0 ? HeaderBar::tr("Graph") : HeaderBar::tr("Rank %1").arg(entry.rank),
            graphTitle(entry)};
}

QString costsText(const AnalysisRequest& request) {
    QString text;
    if (request.cost_files.empty()) {
        text = toQString(request.settings.text(Setting::Device));
    } else if (request.cost_files.size() == 1) {
        // "GRAPH.roofline.json" beside "GRAPH.json" is the roofline file.
        text = QFileInfo(toQString(request.cost_files.front())).completeBaseName();
        const QString graph = QFileInfo(toQString(request.graph_file)).baseName() + QLatin1Char('.');
        if (text.startsWith(graph))
            text.remove(0, graph.size());
    } else {
        text = HeaderBar::tr("%1 files").arg(request.cost_files.size());
    }
    if (!request.cost_overrides.empty())
        text = HeaderBar::tr("%1 + %n edit(s)", nullptr, static_cast<int>(request.cost_overrides.size()))
                   .arg(text);
    return text;
}

HeaderBar::HeaderBar(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("header"));
    setFixedHeight(44);
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(8, 0, 12, 0);
    layout->setSpacing(8);
    menu_ = new HeaderChip(QString());
    menu_->setValue(QStringLiteral("☰"));
    menu_->setAccessibleName(tr("Menu"));
    menu_->setToolTip(tr("Menu (F10)"));
    title_ = new ElidedLabel;
    title_->setProperty("role", "windowTitle");
    subtitle_ = new ElidedLabel;
    subtitle_->setProperty("role", "subtitle");
    layout->addWidget(menu_);
    layout->addSpacing(2);
    layout->addWidget(title_);
    graph_ = new HeaderChip(QString());
    graph_->setObjectName(QStringLiteral("graphHeaderChip"));
    graph_->setMaxValueWidth(kMaxGraphWidth);
    connect(graph_, &HeaderChip::clicked, this, &HeaderBar::graphClicked);
    layout->addWidget(graph_);
    layout->addWidget(subtitle_);
    layout->addStretch(1);
    addSettingChip(QStringLiteral("scheduler"), tr("Scheduler"), {Setting::Scheduler});
    addSettingChip(QStringLiteral("contention"), tr("Contention"), {Setting::Contention});
    addSettingChip(QStringLiteral("slack"), tr("Slack"), {Setting::SlackNs});
    addSettingChip(QStringLiteral("bucket"), tr("Bucket"),
                   {Setting::BucketMode, Setting::BucketRegion, Setting::BucketCapMib});
    costs_ = new HeaderChip(tr("Costs"));
    layout->addWidget(costs_);
    export_ = new HeaderChip(QString(), HeaderChip::Look::Primary);
    export_->setValue(tr("Export ▾"));
    export_->setAccessibleName(tr("Export"));
    layout->addWidget(export_);
    setSnapshot(nullptr);
}

void HeaderBar::addSettingChip(const QString& id, const QString& caption, std::vector<Setting> settings) {
    auto* chip = new HeaderChip(caption);
    chip->setObjectName(id + QStringLiteral("HeaderChip"));
    chip->setToolTip(toQString(settingSpec(settings.front()).title));
    layout()->addWidget(chip);
    chips_.push_back({id, chip, std::move(settings)});
    const size_t index = chips_.size() - 1;
    connect(chip, &HeaderChip::clicked, this, [this, index] { openPopup(chips_[index]); });
}

QWidget* HeaderBar::openPopup(const SettingChip& entry) {
    if (!snapshot_ || !entry.chip->isEnabled())
        return nullptr;
    auto* popup = new SettingPopup(snapshot_->request.settings, entry.settings, this);
    connect(popup, &SettingPopup::settingRequested, this, &HeaderBar::settingRequested);
    popup->openBelow(entry.chip);
    return popup;
}

QWidget* HeaderBar::openPopup(const QString& chip) {
    for (const SettingChip& entry : chips_)
        if (entry.id == chip)
            return openPopup(entry);
    return nullptr;
}

namespace {

void openBelow(HeaderChip* chip, QMenu* menu) {
    QObject::connect(chip, &HeaderChip::clicked, menu,
                     [=] { menu->popup(chip->mapToGlobal(QPoint(0, chip->height() + 4))); });
}

} // namespace

void HeaderBar::setMainMenu(QMenu* menu) {
    openBelow(menu_, menu);
}

void HeaderBar::setExportMenu(QMenu* menu) {
    openBelow(export_, menu);
}

void HeaderBar::setCostsMenu(QMenu* menu) {
    openBelow(costs_, menu);
}

void HeaderBar::setSettingsEnabled(bool enabled) {
    for (const SettingChip& entry : chips_)
        entry.chip->setEnabled(enabled);
    costs_->setEnabled(enabled);
}

void HeaderBar::setSnapshot(const SnapshotPtr& snapshot) {
    snapshot_ = snapshot;
    const bool open = snapshot != nullptr;
    const bool several = open && snapshot->source.entries.size() > 1;
    QString title = tr("Gatherscope");
    if (open) {
        const std::string name = several ? std::string() : snapshot->source.graph->info().name;
        title = several        ? fileTitle(toQString(snapshot->request.graph_file))
                : name.empty() ? QFileInfo(toQString(snapshot->request.graph_file)).baseName()
                               : toQString(name);
        subtitle_->setFullText(graphSubtitle(*snapshot->source.graph));
        for (const SettingChip& entry : chips_)
            entry.chip->setValue(settingValueText(snapshot->request.settings, entry.settings.front()));
        costs_->setValue(costsText(snapshot->request));
    }
    fitGraphChip();
    for (const SettingChip& entry : chips_)
        entry.chip->setVisible(open);
    costs_->setVisible(open);
    export_->setVisible(open);
    title_->setFullText(title);
}

/// Rank and stage take room: in narrow windows the size of the graph gives way, then the stage.
void HeaderBar::fitGraphChip() {
    const bool several = snapshot_ && snapshot_->source.entries.size() > 1;
    subtitle_->setVisible(snapshot_ && (!several || width() >= kSubtitleWidth));
    graph_->setVisible(several);
    if (!several)
        return;
    const auto [rank, stage] = graphPlace(snapshot_->source.entries[snapshot_->source.chosen]);
    const bool wide = width() >= kStageWidth;
    graph_->setCaption(wide ? rank : QString());
    graph_->setValue((wide ? stage : rank) + QStringLiteral(" ▾"));
    graph_->setAccessibleName(tr("%1, %2").arg(rank, stage));
    graph_->setToolTip(tr("%1, %2\nPick another rank or stage (Ctrl+G)").arg(rank, stage));
}

void HeaderBar::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    fitGraphChip();
}

void HeaderBar::paintEvent(QPaintEvent*) {
    const Theme& theme = Theme::current();
    QPainter painter(this);
    painter.fillRect(rect(), theme.panel);
    painter.fillRect(QRect(0, height() - 1, width(), 1), theme.border);
}

} // namespace gs

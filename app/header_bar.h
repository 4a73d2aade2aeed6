// The line above the panels: what is open, the settings that matter most, export.
#pragma once

#include "views/view.h"

class QMenu;

namespace gs {

class HeaderChip;
class ElidedLabel;

class HeaderBar : public QWidget {
    Q_OBJECT
public:
    explicit HeaderBar(QWidget* parent = nullptr);

    void setSnapshot(const SnapshotPtr& snapshot);
    /// While a graph is opened the settings cannot be changed.
    void setSettingsEnabled(bool enabled);
    void setMainMenu(QMenu* menu);
    void setExportMenu(QMenu* menu);
    void setCostsMenu(QMenu* menu);
    /// Opens the popup of a chip ("scheduler", "contention", "slack", "bucket"); for shortcuts and pictures.
    QWidget* openPopup(const QString& chip);

signals:
    void settingRequested(const QString& name, const QString& value);
    /// The user wants another graph of the input.
    void graphClicked();

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    struct SettingChip {
        QString id;
        HeaderChip* chip;
        std::vector<Setting> settings; ///< the first one is shown
    };
    void addSettingChip(const QString& id, const QString& caption, std::vector<Setting> settings);
    QWidget* openPopup(const SettingChip& entry);
    void fitGraphChip();

    SnapshotPtr snapshot_;
    ElidedLabel* title_;
    ElidedLabel* subtitle_;
    HeaderChip* graph_; ///< rank and stage, where the input holds several graphs
    HeaderChip* menu_;
    HeaderChip* costs_;
    HeaderChip* export_;
    std::vector<SettingChip> chips_;
};

/// Rank and stage of a graph of several: "rank 0" and "after_post_grad_graph [0/0]".
std::pair<QString, QString> graphPlace(const GraphEntry& entry);
/// "9,443 nodes · 64 ranks · fx"
QString graphSubtitle(const Graph& graph);
/// Where the costs come from, shortly: "roofline", "2 files", "h100", with "+ 3 edits".
QString costsText(const AnalysisRequest& request);

} // namespace gs

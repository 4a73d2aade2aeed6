// A small panel below a chip that edits a few settings live; closes on Escape or a click elsewhere.
#pragma once

#include "analysis/settings.h"

#include <QFrame>

class QGridLayout;

namespace gs {

class SettingPopup : public QFrame {
    Q_OBJECT
public:
    SettingPopup(const Settings& settings, const std::vector<Setting>& keys, QWidget* parent);

    /// Shows the panel below `anchor`, within its screen, with the first editor focused.
    void openBelow(const QWidget* anchor);

signals:
    void settingRequested(const QString& name, const QString& value);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void addEditor(const SettingSpec& spec, const Settings& settings);
};

/// How a value reads in the header: "1.50", "5.0 µs", "none", "200 MiB".
QString settingValueText(const Settings& settings, Setting key);

} // namespace gs

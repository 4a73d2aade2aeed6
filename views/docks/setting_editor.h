// One setting in a line: title, field by type, reset. Says what the user asks for, shows what it is told;
// showing never asks.
#pragma once

#include "views/docks/setting_field.h"

class QLabel;
class QToolButton;

namespace gs {

class SettingEditor : public QWidget {
    Q_OBJECT
public:
    explicit SettingEditor(const SettingSpec& spec, QWidget* parent = nullptr);

    const SettingSpec& spec() const { return spec_; }
    /// Shows the value of `settings`, unless the user is in the middle of changing it. Never emits.
    void showValue(const Settings& settings);
    /// Whether anything reads the setting now; shown, but it can be changed all the same.
    void setInUse(bool in_use, const QString& why_not);
    QString value() const { return field_->value(); }

signals:
    /// Another value than the one shown, in the settings table's spelling.
    void valueRequested(const QString& value);

private:
    const SettingSpec& spec_;
    QLabel* title_;
    SettingField* field_;
    QToolButton* reset_;
};

} // namespace gs

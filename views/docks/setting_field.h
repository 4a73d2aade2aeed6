// What a setting is changed with: one widget by its type, for the settings dock and the header's panels.
#pragma once

#include "analysis/settings.h"

#include <QWidget>

#include <vector>

namespace gs {

class SettingField : public QWidget {
    Q_OBJECT
public:
    /// Shows `value`, in the settings table's spelling, unless the user is in the middle of changing it.
    /// Never emits.
    void showValue(const QString& value);
    QString value() const { return value_; }

signals:
    /// Another value than the one shown, in the settings table's spelling.
    void asked(const QString& value);

protected:
    SettingField(const SettingSpec& spec, QWidget* parent);
    const SettingSpec& spec() const { return spec_; }
    /// What the user has done; what the table does not take is taken back.
    void ask(const QString& value);
    /// Puts value() into the widgets, but not under the user's fingers.
    virtual void refresh() = 0;

private:
    const SettingSpec& spec_;
    QString value_;
};

struct SettingChoice {
    QString value;
    QString title;
    QString meaning; ///< empty: the title says it
};
/// The table's own choices, the schedulers, the devices; empty where anything can be typed.
std::vector<SettingChoice> settingChoices(const SettingSpec& spec);

enum class FieldLook : uint8_t {
    Compact, ///< a line: choices in a list that opens
    Spread   ///< all choices below each other, with what they mean
};
/// Times are shown in microseconds, as everywhere in the window.
SettingField* makeSettingField(const SettingSpec& spec, FieldLook look, QWidget* parent);

} // namespace gs

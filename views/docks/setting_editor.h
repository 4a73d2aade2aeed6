// One setting of the settings table: title, editor by type, reset. Says what the user asks for, shows what it
// is told; showing never asks.
#pragma once

#include "analysis/settings.h"

#include <QWidget>

class QCheckBox;
class QComboBox;
class QDoubleSpinBox;
class QLabel;
class QLineEdit;
class QSlider;
class QToolButton;

namespace gs {

class SettingEditor : public QWidget {
    Q_OBJECT
public:
    explicit SettingEditor(const SettingSpec& spec, QWidget* parent = nullptr);

    const SettingSpec& spec() const { return spec_; }
    /// Shows the value of `settings`, unless the user is in the middle of changing it. Never emits.
    void showValue(const Settings& settings);
    /// Choices beyond the table's own, e.g. the names of the schedulers. A Text setting becomes a list then.
    void setChoices(const QStringList& values, const QStringList& titles);
    /// Whether anything reads the setting now; shown, but it can be changed all the same.
    void setInUse(bool in_use, const QString& why_not);
    QString value() const { return value_; }

signals:
    /// Another value than the one shown, in the settings table's spelling.
    void valueRequested(const QString& value);

private:
    void buildNumber();
    void buildChoice();
    void buildText();
    void ask(const QString& value);
    void refresh();
    double sliderToValue(int position) const;
    int valueToSlider(double value) const;

    const SettingSpec& spec_;
    QString value_;
    QLabel* title_;
    QWidget* field_;
    QToolButton* reset_;
    QSlider* slider_ = nullptr;
    QDoubleSpinBox* spin_ = nullptr;
    QCheckBox* check_ = nullptr;
    QComboBox* combo_ = nullptr;
    QLineEdit* line_ = nullptr;
    double slider_max_ = 1;
    double step_ = 1;
};

} // namespace gs

#include "views/docks/setting_field.h"

#include "cost/device_presets.h"
#include "schedule/scheduler.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QRadioButton>
#include <QSignalBlocker>
#include <QSlider>
#include <cmath>

namespace gs {

namespace {

constexpr int kSliderSteps = 1000;

QString text(std::string_view view) {
    return QString::fromUtf8(view.data(), static_cast<qsizetype>(view.size()));
}

QHBoxLayout* rowOf(QWidget* field) {
    auto* row = new QHBoxLayout(field);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(8);
    return row;
}

/// Spin box that shows as many decimals as the number has.
class PlainSpin : public QDoubleSpinBox {
public:
    using QDoubleSpinBox::QDoubleSpinBox;
    QString textFromValue(double value) const override {
        QString plain = QLocale::c().toString(value, 'f', decimals());
        if (plain.contains(QLatin1Char('.'))) {
            while (plain.endsWith(QLatin1Char('0')))
                plain.chop(1);
            if (plain.endsWith(QLatin1Char('.')))
                plain.chop(1);
        }
        return plain;
    }
    bool typing() const { return hasFocus() && lineEdit()->isModified(); }
};

class NumberField : public SettingField {
public:
    NumberField(const SettingSpec& spec, QWidget* parent) : SettingField(spec, parent) {
        const bool whole = spec.type == SettingType::Integer;
        const bool time = spec.unit == "ns";
        scale_ = time ? 1e-3 : 1;
        const double fallback = text(spec.fallback).toDouble();
        // A slider over nine decades could not be aimed; it covers the usual part, the spin box all of it.
        slider_max_ = fallback > 0 && spec.maximum > 1000 * fallback ? 20 * fallback : spec.maximum;
        step_ = whole ? 1 : std::pow(10, std::round(std::log10((slider_max_ - spec.minimum) / kSliderSteps)));
        slider_ = new QSlider(Qt::Horizontal, this);
        slider_->setRange(0, kSliderSteps);
        slider_->setPageStep(kSliderSteps / 20);
        slider_->setMinimumWidth(60);
        spin_ = new PlainSpin(this);
        spin_->setLocale(QLocale::c());
        spin_->setDecimals(whole && !time ? 0 : 3);
        spin_->setRange(spec.minimum * scale_, spec.maximum * scale_);
        spin_->setSingleStep(whole && !time ? 1 : step_ * scale_ * 10);
        spin_->setKeyboardTracking(false);
        spin_->setAlignment(Qt::AlignRight);
        const QString unit = time ? QStringLiteral("µs") : text(spec.unit);
        if (!unit.isEmpty())
            spin_->setSuffix(QLatin1Char(' ') + unit);
        spin_->setFixedWidth(104);
        QHBoxLayout* row = rowOf(this);
        row->addWidget(slider_, 1);
        row->addWidget(spin_);
        setFocusProxy(slider_);
        connect(slider_, &QSlider::valueChanged, this, [this](int position) {
            const double value = sliderToValue(position);
            const QSignalBlocker quiet(spin_);
            spin_->setValue(value * scale_);
            ask(QString::number(value, 'g', 12));
        });
        connect(spin_, &QDoubleSpinBox::valueChanged, this,
                [this](double shown) { ask(QString::number(shown / scale_, 'g', 12)); });
    }

protected:
    void refresh() override {
        const QSignalBlocker quiet_slider(slider_);
        const QSignalBlocker quiet_spin(spin_);
        const double number = value().toDouble();
        if (!slider_->isSliderDown() && sliderToValue(slider_->value()) != number)
            slider_->setValue(valueToSlider(number));
        if (!slider_->isSliderDown() && !spin_->typing())
            spin_->setValue(number * scale_);
    }

private:
    double sliderToValue(int position) const {
        // Squared: small values, where most defaults are, get more of the way.
        const double t = static_cast<double>(position) / kSliderSteps;
        const double value = spec().minimum + (slider_max_ - spec().minimum) * t * t;
        return std::clamp(std::round(value / step_) * step_, spec().minimum, spec().maximum);
    }

    int valueToSlider(double value) const {
        const double t = (value - spec().minimum) / (slider_max_ - spec().minimum);
        return static_cast<int>(std::lround(std::sqrt(std::clamp(t, 0.0, 1.0)) * kSliderSteps));
    }

    QSlider* slider_;
    PlainSpin* spin_;
    double slider_max_ = 1;
    double step_ = 1;
    double scale_ = 1; ///< of what is shown
};

class FlagField : public SettingField {
public:
    FlagField(const SettingSpec& spec, FieldLook look, QWidget* parent) : SettingField(spec, parent) {
        check_ = new QCheckBox(look == FieldLook::Compact ? tr("on") : text(spec.title), this);
        rowOf(this)->addWidget(check_, 1);
        setFocusProxy(check_);
        connect(check_, &QCheckBox::toggled, this,
                [this](bool on) { ask(on ? QStringLiteral("true") : QStringLiteral("false")); });
    }

protected:
    void refresh() override {
        const QSignalBlocker quiet(check_);
        check_->setChecked(value() == QLatin1String("true"));
    }

private:
    QCheckBox* check_;
};

class ListField : public SettingField {
public:
    ListField(const SettingSpec& spec, QWidget* parent)
        : SettingField(spec, parent), combo_(new QComboBox(this)) {
        for (const SettingChoice& choice : settingChoices(spec))
            combo_->addItem(choice.title, choice.value);
        rowOf(this)->addWidget(combo_);
        setFocusProxy(combo_);
        connect(combo_, &QComboBox::activated, this,
                [this](int index) { ask(combo_->itemData(index).toString()); });
    }

protected:
    void refresh() override {
        if (combo_->findData(value()) < 0) // from a project file or the command line
            combo_->addItem(value(), value());
        combo_->setCurrentIndex(combo_->findData(value()));
    }

private:
    QComboBox* combo_;
};

class SpreadField : public SettingField {
public:
    SpreadField(const SettingSpec& spec, QWidget* parent) : SettingField(spec, parent) {
        auto* column = new QVBoxLayout(this);
        column->setContentsMargins(0, 0, 0, 0);
        column->setSpacing(3);
        for (const SettingChoice& choice : settingChoices(spec)) {
            auto* button = new QRadioButton(choice.value, this);
            buttons_.push_back(button);
            column->addWidget(button);
            if (!choice.meaning.isEmpty()) {
                auto* meaning = new QLabel(choice.meaning, this);
                meaning->setProperty("role", "caption");
                meaning->setWordWrap(true);
                meaning->setContentsMargins(22, 0, 0, 4);
                column->addWidget(meaning);
            }
            connect(button, &QRadioButton::toggled, this, [this, value = choice.value](bool checked) {
                if (checked)
                    ask(value);
            });
        }
    }

protected:
    void refresh() override {
        for (QRadioButton* button : buttons_) {
            const QSignalBlocker quiet(button);
            button->setChecked(button->text() == value());
            if (button->isChecked())
                setFocusProxy(button);
        }
    }

private:
    std::vector<QRadioButton*> buttons_;
};

class TextField : public SettingField {
public:
    TextField(const SettingSpec& spec, QWidget* parent)
        : SettingField(spec, parent), line_(new QLineEdit(this)) {
        line_->setPlaceholderText(text(spec.fallback));
        QHBoxLayout* row = rowOf(this);
        row->addWidget(line_, 1);
        setFocusProxy(line_);
        if (!spec.unit.empty()) {
            auto* unit = new QLabel(text(spec.unit), this);
            unit->setProperty("role", "caption");
            row->addWidget(unit);
        }
        connect(line_, &QLineEdit::editingFinished, this, [this] {
            line_->setModified(false);
            ask(line_->text().trimmed());
        });
    }

protected:
    void refresh() override {
        if (line_->hasFocus() && line_->isModified())
            return;
        line_->setText(value());
        line_->setCursorPosition(0);
    }

private:
    QLineEdit* line_;
};

} // namespace

SettingField::SettingField(const SettingSpec& spec, QWidget* parent)
    : QWidget(parent), spec_(spec), value_(text(spec.fallback)) {}

void SettingField::showValue(const QString& value) {
    value_ = value;
    refresh();
}

void SettingField::ask(const QString& value) {
    Settings check; // its one spelling of a value, so that equal values compare equal
    if (!check.set(spec_.key, value.toStdString())) {
        refresh();
        return;
    }
    const QString normal = QString::fromStdString(check.text(spec_.key));
    if (normal != value_)
        emit asked(normal);
}

std::vector<SettingChoice> settingChoices(const SettingSpec& spec) {
    std::vector<SettingChoice> choices;
    if (spec.key == Setting::Scheduler) {
        for (const SchedulerInfo& info : schedulers()) {
            QString meaning = text(info.meaning);
            if (!meaning.isEmpty())
                meaning = meaning.at(0).toUpper() + meaning.mid(1);
            choices.push_back({text(info.name), text(info.title), meaning});
        }
    } else if (spec.key == Setting::Device) {
        for (const DevicePreset& device : devicePresets())
            choices.push_back({QString::fromStdString(device.id), QString::fromStdString(device.name), {}});
    }
    for (const std::string_view choice : spec.choices)
        choices.push_back({text(choice), text(choice), {}});
    return choices;
}

SettingField* makeSettingField(const SettingSpec& spec, FieldLook look, QWidget* parent) {
    SettingField* field = nullptr;
    if (spec.type == SettingType::Number || spec.type == SettingType::Integer)
        field = new NumberField(spec, parent);
    else if (spec.type == SettingType::Flag)
        field = new FlagField(spec, look, parent);
    else if (settingChoices(spec).empty())
        field = new TextField(spec, parent);
    else if (look == FieldLook::Compact)
        field = new ListField(spec, parent);
    else
        field = new SpreadField(spec, parent);
    field->showValue(text(spec.fallback));
    for (QWidget* widget : field->findChildren<QWidget*>(QString(), Qt::FindDirectChildrenOnly)) {
        const bool label = widget->inherits("QLabel") || widget->inherits("QRadioButton");
        if (!label)
            widget->setAccessibleName(text(spec.title));
        widget->setToolTip(text(spec.meaning));
    }
    return field;
}

} // namespace gs

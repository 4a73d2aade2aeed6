#include "views/docks/setting_editor.h"

#include "views/theme.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QSignalBlocker>
#include <QSlider>
#include <QToolButton>
#include <cmath>

namespace gs {

namespace {

constexpr int kSliderSteps = 1000;
constexpr int kTitleWidth = 124;

QString text(std::string_view view) {
    return QString::fromUtf8(view.data(), static_cast<qsizetype>(view.size()));
}

/// Spin box that shows as many decimals as the number has.
class PlainSpin : public QDoubleSpinBox {
public:
    using QDoubleSpinBox::QDoubleSpinBox;
    QString textFromValue(double value) const override {
        QLocale locale = QLocale::c();
        QString plain = locale.toString(value, 'f', decimals());
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

} // namespace

SettingEditor::SettingEditor(const SettingSpec& spec, QWidget* parent)
    : QWidget(parent), spec_(spec), value_(text(spec.fallback)), title_(new QLabel(text(spec.title), this)),
      field_(new QWidget(this)), reset_(new QToolButton(this)) {
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(8);
    title_->setFixedWidth(kTitleWidth);
    auto* inner = new QHBoxLayout(field_);
    inner->setContentsMargins(0, 0, 0, 0);
    inner->setSpacing(8);
    reset_->setText(QStringLiteral("↺"));
    reset_->setAutoRaise(true);
    reset_->setFixedSize(22, 22);
    reset_->setToolTip(tr("Back to the default: %1 %2").arg(value_, text(spec.unit)).trimmed());
    reset_->setAccessibleName(tr("Reset %1").arg(text(spec.title)));
    connect(reset_, &QToolButton::clicked, this, [this] {
        setFocus();
        ask(text(spec_.fallback));
    });
    layout->addWidget(title_);
    layout->addWidget(field_, 1);
    layout->addWidget(reset_);
    switch (spec.type) {
    case SettingType::Number:
    case SettingType::Integer:
        buildNumber();
        break;
    case SettingType::Flag:
        check_ = new QCheckBox(tr("on"), field_);
        inner->addWidget(check_, 1);
        connect(check_, &QCheckBox::toggled, this,
                [this](bool on) { ask(on ? QStringLiteral("true") : QStringLiteral("false")); });
        break;
    case SettingType::Choice:
        buildChoice();
        break;
    case SettingType::Text:
        buildText();
        break;
    }
    setToolTip(text(spec.meaning));
    for (QWidget* widget : field_->findChildren<QWidget*>()) {
        widget->setAccessibleName(text(spec.title));
        widget->setToolTip(text(spec.meaning));
    }
    showValue(Settings());
}

void SettingEditor::buildNumber() {
    const double fallback = text(spec_.fallback).toDouble();
    const bool whole = spec_.type == SettingType::Integer;
    // A slider over nine decades could not be aimed; it covers the usual part, the spin box all of it.
    slider_max_ = spec_.maximum;
    if (fallback > 0 && spec_.maximum > 1000 * fallback)
        slider_max_ = 20 * fallback;
    step_ = whole ? 1 : std::pow(10, std::round(std::log10((slider_max_ - spec_.minimum) / kSliderSteps)));
    slider_ = new QSlider(Qt::Horizontal, field_);
    slider_->setRange(0, kSliderSteps);
    slider_->setPageStep(kSliderSteps / 20);
    slider_->setMinimumWidth(60);
    spin_ = new PlainSpin(field_);
    spin_->setLocale(QLocale::c());
    spin_->setDecimals(whole ? 0 : 3);
    spin_->setRange(spec_.minimum, spec_.maximum);
    spin_->setSingleStep(whole ? 1 : step_ * 10);
    spin_->setKeyboardTracking(false);
    spin_->setAlignment(Qt::AlignRight);
    if (!spec_.unit.empty())
        spin_->setSuffix(QLatin1Char(' ') + text(spec_.unit));
    spin_->setFixedWidth(104);
    field_->layout()->addWidget(slider_);
    field_->layout()->addWidget(spin_);
    connect(slider_, &QSlider::valueChanged, this, [this](int position) {
        const double value = sliderToValue(position);
        const QSignalBlocker quiet(spin_);
        spin_->setValue(value);
        ask(QString::number(value, 'g', 12));
    });
    connect(spin_, &QDoubleSpinBox::valueChanged, this,
            [this](double value) { ask(QString::number(value, 'g', 12)); });
}

void SettingEditor::buildChoice() {
    combo_ = new QComboBox(field_);
    for (const std::string_view choice : spec_.choices)
        combo_->addItem(text(choice), text(choice));
    field_->layout()->addWidget(combo_);
    connect(combo_, &QComboBox::activated, this,
            [this](int index) { ask(combo_->itemData(index).toString()); });
}

void SettingEditor::buildText() {
    line_ = new QLineEdit(field_);
    field_->layout()->addWidget(line_);
    if (!spec_.unit.empty())
        line_->setPlaceholderText(text(spec_.unit));
    connect(line_, &QLineEdit::editingFinished, this, [this] {
        line_->setModified(false);
        ask(line_->text().trimmed());
    });
}

void SettingEditor::setChoices(const QStringList& values, const QStringList& titles) {
    if (line_) {
        delete line_;
        line_ = nullptr;
        buildChoice();
        combo_->setToolTip(text(spec_.meaning));
        combo_->setAccessibleName(text(spec_.title));
    }
    combo_->clear();
    for (qsizetype i = 0; i < values.size(); ++i)
        combo_->addItem(titles.value(i, values[i]), values[i]);
    refresh();
}

void SettingEditor::setInUse(bool in_use, const QString& why_not) {
    title_->setForegroundRole(in_use ? QPalette::WindowText : QPalette::PlaceholderText);
    title_->setToolTip(in_use ? text(spec_.meaning) : text(spec_.meaning) + QLatin1Char('\n') + why_not);
}

double SettingEditor::sliderToValue(int position) const {
    // Squared: small values, where most defaults are, get more of the way.
    const double t = static_cast<double>(position) / kSliderSteps;
    const double value = spec_.minimum + (slider_max_ - spec_.minimum) * t * t;
    return std::clamp(std::round(value / step_) * step_, spec_.minimum, spec_.maximum);
}

int SettingEditor::valueToSlider(double value) const {
    const double t = (value - spec_.minimum) / (slider_max_ - spec_.minimum);
    return static_cast<int>(std::lround(std::sqrt(std::clamp(t, 0.0, 1.0)) * kSliderSteps));
}

void SettingEditor::ask(const QString& value) {
    Settings check; // its one spelling of a value, so that equal values compare equal
    if (!check.set(spec_.key, value.toStdString())) {
        refresh();
        return;
    }
    const QString normal = QString::fromStdString(check.text(spec_.key));
    if (normal != value_)
        emit valueRequested(normal);
}

void SettingEditor::showValue(const Settings& settings) {
    value_ = QString::fromStdString(settings.text(spec_.key));
    const bool is_default = settings.isDefault(spec_.key);
    title_->setFont(Theme::font(12, is_default ? QFont::Normal : QFont::DemiBold));
    title_->setText(is_default ? text(spec_.title) : QStringLiteral("• ") + text(spec_.title));
    title_->setAccessibleName(is_default ? text(spec_.title) : tr("%1, changed").arg(text(spec_.title)));
    reset_->setEnabled(!is_default);
    reset_->setText(is_default ? QString() : QStringLiteral("↺"));
    refresh();
}

/// Puts value_ into the widgets, but not under the user's fingers.
void SettingEditor::refresh() {
    if (spin_) {
        const QSignalBlocker quiet_slider(slider_);
        const QSignalBlocker quiet_spin(spin_);
        const double number = value_.toDouble();
        if (!slider_->isSliderDown() && sliderToValue(slider_->value()) != number)
            slider_->setValue(valueToSlider(number));
        if (!slider_->isSliderDown() && !static_cast<PlainSpin*>(spin_)->typing())
            spin_->setValue(number);
    } else if (check_) {
        const QSignalBlocker quiet(check_);
        check_->setChecked(value_ == QLatin1String("true"));
    } else if (combo_) {
        if (combo_->findData(value_) < 0) // from a project file or the command line
            combo_->addItem(value_, value_);
        combo_->setCurrentIndex(combo_->findData(value_));
    } else if (line_ && !(line_->hasFocus() && line_->isModified())) {
        line_->setText(value_);
        line_->setCursorPosition(0);
    }
}

} // namespace gs

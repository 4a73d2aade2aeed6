#include "app/setting_popup.h"

#include "app/text.h"
#include "base/units.h"
#include "schedule/scheduler.h"
#include "views/theme.h"

#include <QCheckBox>
#include <QDoubleSpinBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPainter>
#include <QRadioButton>
#include <QScreen>
#include <QSlider>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace gs {

namespace {

/// What a slider offers; the spin box beside it takes the setting's whole range. `scale` shown units per
/// unit.
struct SliderRange {
    double minimum, maximum, step, scale;
    int decimals;
    const char* suffix;
};

SliderRange sliderRange(const SettingSpec& spec) {
    switch (spec.key) {
    case Setting::SlackNs:
        return {0, 100, 0.5, 1e-3, 1, " µs"};
    case Setting::Contention:
    case Setting::ComputeSlowdown:
        return {1, 4, 0.05, 1, 2, ""};
    default:
        return {spec.minimum,
                spec.maximum,
                spec.type == SettingType::Integer ? 1 : 0.01,
                1,
                spec.type == SettingType::Integer ? 0 : 2,
                ""};
    }
}

QLabel* caption(const QString& text) {
    auto* label = new QLabel(text);
    label->setProperty("role", "caption");
    label->setWordWrap(true);
    return label;
}

struct Choice {
    QString value, meaning;
};

std::vector<Choice> choicesOf(const SettingSpec& spec) {
    std::vector<Choice> choices;
    if (spec.key == Setting::Scheduler)
        for (const SchedulerInfo& info : schedulers())
            choices.push_back({toQString(info.name), toSentence(info.meaning)});
    for (const std::string_view choice : spec.choices)
        choices.push_back({toQString(choice), {}});
    return choices;
}

} // namespace

SettingPopup::SettingPopup(const Settings& settings, const std::vector<Setting>& keys, QWidget* parent)
    : QFrame(parent, Qt::Popup | Qt::FramelessWindowHint) {
    setAttribute(Qt::WA_TranslucentBackground);
    setAttribute(Qt::WA_DeleteOnClose);
    setObjectName(QStringLiteral("settingPopup"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(16, 12, 16, 14);
    layout->setSpacing(6);
    for (const Setting key : keys)
        addEditor(settingSpec(key), settings);
    setFixedWidth(340);
}

void SettingPopup::addEditor(const SettingSpec& spec, const Settings& settings) {
    auto* column = static_cast<QVBoxLayout*>(layout());
    if (column->count() > 0)
        column->addSpacing(8);
    auto* title = new QLabel(toQString(spec.title));
    title->setProperty("role", "panelTitle");
    column->addWidget(title);
    QWidget* editor = nullptr;
    if (spec.type == SettingType::Choice || spec.key == Setting::Scheduler)
        editor = makeChoice(spec, toQString(settings.text(spec.key)));
    else if (spec.type == SettingType::Number || spec.type == SettingType::Integer)
        editor = makeNumber(spec, settings.number(spec.key));
    else if (spec.type == SettingType::Flag)
        editor = makeFlag(spec, settings.flag(spec.key));
    else
        editor = makeText(spec, toQString(settings.text(spec.key)));
    column->addWidget(editor);
    // The schedulers explain themselves one by one.
    if (spec.key != Setting::Scheduler)
        column->addWidget(caption(toSentence(spec.meaning)));
}

QWidget* SettingPopup::makeChoice(const SettingSpec& spec, const QString& current) {
    auto* box = new QWidget;
    auto* layout = new QVBoxLayout(box);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(3);
    const QString name = toQString(spec.name);
    for (const Choice& choice : choicesOf(spec)) {
        auto* button = new QRadioButton(choice.value);
        button->setChecked(choice.value == current);
        layout->addWidget(button);
        if (button->isChecked())
            box->setFocusProxy(button);
        if (!choice.meaning.isEmpty()) {
            QLabel* meaning = caption(choice.meaning);
            meaning->setContentsMargins(22, 0, 0, 4);
            layout->addWidget(meaning);
        }
        connect(button, &QRadioButton::toggled, this, [=, this](bool checked) {
            if (checked)
                emit settingRequested(name, choice.value);
        });
    }
    return box;
}

QWidget* SettingPopup::makeNumber(const SettingSpec& spec, double current) {
    const SliderRange range = sliderRange(spec);
    auto* box = new QWidget;
    auto* layout = new QHBoxLayout(box);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(10);
    auto* slider = new QSlider(Qt::Horizontal);
    slider->setRange(0, static_cast<int>(std::lround((range.maximum - range.minimum) / range.step)));
    slider->setPageStep(std::max(1, slider->maximum() / 10));
    auto* spin = new QDoubleSpinBox;
    spin->setRange(spec.minimum * range.scale, spec.maximum * range.scale);
    spin->setDecimals(range.decimals);
    spin->setSingleStep(range.step);
    spin->setSuffix(QString::fromUtf8(range.suffix));
    spin->setFixedWidth(92);
    spin->setAccessibleName(toQString(spec.title));
    slider->setAccessibleName(toQString(spec.title));
    const auto toSlider = [=](double shown) {
        return static_cast<int>(std::lround((shown - range.minimum) / range.step));
    };
    spin->setValue(current * range.scale);
    slider->setValue(toSlider(current * range.scale));
    const QString name = toQString(spec.name);
    connect(slider, &QSlider::valueChanged, spin,
            [=](int value) { spin->setValue(range.minimum + value * range.step); });
    connect(spin, &QDoubleSpinBox::valueChanged, this, [=, this](double shown) {
        const QSignalBlocker block(slider);
        slider->setValue(toSlider(shown));
        emit settingRequested(name, QString::number(shown / range.scale, 'g', 12));
    });
    layout->addWidget(slider, 1);
    layout->addWidget(spin);
    box->setFocusProxy(slider);
    return box;
}

QWidget* SettingPopup::makeFlag(const SettingSpec& spec, bool current) {
    auto* box = new QCheckBox(toQString(spec.title));
    box->setChecked(current);
    const QString name = toQString(spec.name);
    connect(box, &QCheckBox::toggled, this, [=, this](bool on) {
        emit settingRequested(name, on ? QStringLiteral("true") : QStringLiteral("false"));
    });
    return box;
}

QWidget* SettingPopup::makeText(const SettingSpec& spec, const QString& current) {
    auto* edit = new QLineEdit(current);
    edit->setPlaceholderText(toQString(spec.fallback));
    edit->setAccessibleName(toQString(spec.title));
    const QString name = toQString(spec.name);
    connect(edit, &QLineEdit::editingFinished, this,
            [=, this] { emit settingRequested(name, edit->text()); });
    return edit;
}

void SettingPopup::openBelow(const QWidget* anchor) {
    adjustSize();
    QPoint at = anchor->mapToGlobal(QPoint(0, anchor->height() + 4));
    const QRect screen = anchor->screen()->availableGeometry();
    at.setX(std::clamp(at.x(), screen.left(), std::max(screen.left(), screen.right() - width())));
    at.setY(std::clamp(at.y(), screen.top(), std::max(screen.top(), screen.bottom() - height())));
    move(at);
    show();
    for (int i = 0; i < layout()->count(); ++i) {
        QWidget* widget = layout()->itemAt(i)->widget();
        if (widget && (widget->focusProxy() || widget->focusPolicy() != Qt::NoFocus)) {
            widget->setFocus(Qt::PopupFocusReason);
            break;
        }
    }
}

void SettingPopup::paintEvent(QPaintEvent*) {
    const Theme& theme = Theme::current();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(theme.border);
    painter.setBrush(theme.panel);
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 7, 7);
}

QString settingValueText(const Settings& settings, Setting key) {
    switch (key) {
    case Setting::SlackNs:
        return toQString(formatTime(static_cast<int64_t>(settings.number(key))));
    case Setting::Contention:
    case Setting::ComputeSlowdown:
        return QString::number(settings.number(key), 'f', 2);
    case Setting::BucketMode: {
        const QString mode = toQString(settings.text(key));
        const QString cap = toQString(settings.text(Setting::BucketCapMib));
        const bool plain = mode == QLatin1String("none") || cap == QLatin1String("none");
        return plain ? mode : QObject::tr("%1, ≤ %2 MiB").arg(mode, cap);
    }
    default:
        return toQString(settings.text(key));
    }
}

} // namespace gs

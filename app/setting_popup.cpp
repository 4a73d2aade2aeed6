#include "app/setting_popup.h"

#include "app/text.h"
#include "base/units.h"
#include "views/docks/setting_field.h"
#include "views/theme.h"

#include <QLabel>
#include <QPainter>
#include <QScreen>
#include <QVBoxLayout>

#include <algorithm>

namespace gs {

namespace {

QLabel* caption(const QString& text) {
    auto* label = new QLabel(text);
    label->setProperty("role", "caption");
    label->setWordWrap(true);
    return label;
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
    SettingField* field = makeSettingField(spec, FieldLook::Spread, this);
    field->showValue(toQString(settings.text(spec.key)));
    connect(field, &SettingField::asked, this,
            [this, field, name = toQString(spec.name)](const QString& value) {
                field->showValue(value); // the panel is not told what comes of it
                emit settingRequested(name, value);
            });
    column->addWidget(field);
    // The schedulers explain themselves one by one.
    if (spec.key != Setting::Scheduler)
        column->addWidget(caption(toSentence(spec.meaning)));
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

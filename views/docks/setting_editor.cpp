#include "views/docks/setting_editor.h"

#include "views/theme.h"

#include <QFontMetrics>
#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>

namespace gs {

namespace {

QString text(std::string_view view) {
    return QString::fromUtf8(view.data(), static_cast<qsizetype>(view.size()));
}

QString changedTitle(const SettingSpec& spec) {
    return QStringLiteral("• ") + text(spec.title);
}

/// All titles whole, so that the fields stand below each other.
int titleWidth() {
    const QFontMetrics metrics(Theme::font(12, QFont::DemiBold));
    int width = 0;
    for (const SettingSpec& spec : settingSpecs())
        width = std::max(width, metrics.horizontalAdvance(changedTitle(spec)));
    return width;
}

} // namespace

SettingEditor::SettingEditor(const SettingSpec& spec, QWidget* parent)
    : QWidget(parent), spec_(spec), title_(new QLabel(text(spec.title), this)),
      field_(makeSettingField(spec, FieldLook::Compact, this)), reset_(new QToolButton(this)) {
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(8);
    title_->setFixedWidth(titleWidth());
    reset_->setText(QStringLiteral("↺"));
    reset_->setAutoRaise(true);
    reset_->setFixedSize(22, 22);
    reset_->setToolTip(tr("Back to the default: %1 %2").arg(text(spec.fallback), text(spec.unit)).trimmed());
    reset_->setAccessibleName(tr("Reset %1").arg(text(spec.title)));
    connect(reset_, &QToolButton::clicked, this, [this] {
        setFocus();
        if (value() != text(spec_.fallback))
            emit valueRequested(text(spec_.fallback));
    });
    layout->addWidget(title_);
    layout->addWidget(field_, 1);
    layout->addWidget(reset_);
    setToolTip(text(spec.meaning));
    connect(field_, &SettingField::asked, this, &SettingEditor::valueRequested);
    showValue(Settings());
}

void SettingEditor::setInUse(bool in_use, const QString& why_not) {
    title_->setForegroundRole(in_use ? QPalette::WindowText : QPalette::PlaceholderText);
    title_->setToolTip(in_use ? text(spec_.meaning) : text(spec_.meaning) + QLatin1Char('\n') + why_not);
}

void SettingEditor::showValue(const Settings& settings) {
    const bool is_default = settings.isDefault(spec_.key);
    title_->setFont(Theme::font(12, is_default ? QFont::Normal : QFont::DemiBold));
    title_->setText(is_default ? text(spec_.title) : changedTitle(spec_));
    title_->setAccessibleName(is_default ? text(spec_.title) : tr("%1, changed").arg(text(spec_.title)));
    reset_->setEnabled(!is_default);
    reset_->setText(is_default ? QString() : QStringLiteral("↺"));
    field_->showValue(QString::fromStdString(settings.text(spec_.key)));
}

} // namespace gs

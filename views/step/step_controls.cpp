#include "views/step/step_controls.h"

#include "views/theme.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QSignalBlocker>
#include <QSlider>
#include <QStyle>

namespace gs {

namespace {

constexpr double kSpeeds[] = {0.25, 0.5, 1, 2, 4, 8};
constexpr int kUsualSpeed = 2;

QPolygonF arrow(double x, double direction) {
    return {QPointF(x - 4.5 * direction, -6), QPointF(x + 4.5 * direction, 0),
            QPointF(x - 4.5 * direction, 6)};
}

} // namespace

StepButton::StepButton(Sign sign, const QString& name, const QString& key, QWidget* parent)
    : QToolButton(parent) {
    setFocusPolicy(Qt::TabFocus);
    setSign(sign, name, key);
}

void StepButton::setSign(Sign sign, const QString& name, const QString& key) {
    sign_ = sign;
    setAccessibleName(name);
    setToolTip(QStringLiteral("%1 (%2)").arg(name, key));
    update();
}

void StepButton::paintEvent(QPaintEvent*) {
    const Theme& theme = Theme::current();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const bool main = sign_ == Sign::Play || sign_ == Sign::Pause;
    const QRectF box = QRectF(rect()).adjusted(1, 1, -1, -1);
    painter.setPen(hasFocus() ? QPen(main ? theme.text : theme.accent, 1) : QPen(Qt::NoPen));
    QColor ground = underMouse() && isEnabled() ? theme.selection : theme.field;
    if (main && isEnabled())
        ground = underMouse() ? theme.accent.lighter(110) : theme.accent;
    painter.setBrush(ground);
    painter.drawRoundedRect(box, 6, 6);
    painter.translate(box.center());
    painter.setPen(Qt::NoPen);
    painter.setBrush(!isEnabled() ? theme.border : main ? theme.on_accent : theme.text);
    switch (sign_) {
    case Sign::First:
        painter.drawRect(QRectF(-6.5, -6, 2, 12));
        painter.drawPolygon(arrow(1, -1));
        break;
    case Sign::Back:
        painter.drawPolygon(arrow(-0.5, -1));
        break;
    case Sign::Play:
        painter.drawPolygon(arrow(1, 1));
        break;
    case Sign::Pause:
        painter.drawRect(QRectF(-5, -6, 3.5, 12));
        painter.drawRect(QRectF(1.5, -6, 3.5, 12));
        break;
    case Sign::Forward:
        painter.drawPolygon(arrow(0.5, 1));
        break;
    case Sign::Last:
        painter.drawPolygon(arrow(-1, 1));
        painter.drawRect(QRectF(4.5, -6, 2, 12));
        break;
    }
}

StepControls::StepControls(QWidget* parent)
    : QWidget(parent), first_(new StepButton(StepButton::Sign::First, tr("First step"), tr("Home"), this)),
      back_(new StepButton(StepButton::Sign::Back, tr("One step back"), tr("Left; one node: Shift+Left"),
                           this)),
      play_(new StepButton(StepButton::Sign::Play, tr("Play"), tr("Space"), this)),
      forward_(new StepButton(StepButton::Sign::Forward, tr("One step forward"),
                              tr("Right; one node: Shift+Right"), this)),
      last_(new StepButton(StepButton::Sign::Last, tr("Last step"), tr("End"), this)),
      slider_(new QSlider(Qt::Horizontal, this)), speed_(new QComboBox(this)), count_(new QLabel(this)) {
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(14, 6, 14, 10);
    layout->setSpacing(4);
    for (QWidget* widget : std::initializer_list<QWidget*>{first_, back_, play_, forward_, last_})
        layout->addWidget(widget);
    layout->addSpacing(8);
    layout->addWidget(slider_, 1);
    layout->addSpacing(8);
    layout->addWidget(count_);
    layout->addSpacing(8);
    layout->addWidget(speed_);
    count_->setForegroundRole(QPalette::PlaceholderText);
    slider_->setAccessibleName(tr("Step"));
    slider_->setPageStep(10);
    slider_->setMinimumWidth(40);
    for (const double speed : kSpeeds)
        speed_->addItem(QStringLiteral("%1×").arg(speed), speed);
    speed_->setCurrentIndex(kUsualSpeed);
    speed_->setAccessibleName(tr("Speed"));
    speed_->setToolTip(tr("Speed"));
    speed_->setFocusPolicy(Qt::TabFocus);
    connect(first_, &QToolButton::clicked, this, [this] { emit stepRequested(0); });
    connect(back_, &QToolButton::clicked, this, [this] { emit stepRequested(step_ - 1); });
    connect(forward_, &QToolButton::clicked, this, [this] { emit stepRequested(step_ + 1); });
    connect(last_, &QToolButton::clicked, this, [this] { emit stepRequested(slider_->maximum()); });
    connect(play_, &QToolButton::clicked, this, [this] { emit playRequested(!playing_); });
    connect(slider_, &QSlider::valueChanged, this, &StepControls::stepRequested);
    show(0, 0, false);
}

void StepControls::show(int step, int steps, bool playing) {
    step_ = step;
    playing_ = playing;
    const QSignalBlocker block(slider_);
    slider_->setRange(0, std::max(0, steps - 1));
    slider_->setValue(step);
    setEnabled(steps > 0);
    for (StepButton* button : {first_, back_})
        button->setEnabled(steps > 0 && step > 0);
    for (StepButton* button : {forward_, last_})
        button->setEnabled(steps > 0 && step + 1 < steps);
    play_->setSign(playing ? StepButton::Sign::Pause : StepButton::Sign::Play,
                   playing ? tr("Pause") : tr("Play"), tr("Space"));
    count_->setText(steps > 0 ? tr("step %1 of %2").arg(step + 1).arg(steps) : QString());
    // The slider must not move while the number grows.
    count_->setMinimumWidth(
        count_->fontMetrics().horizontalAdvance(tr("step %1 of %2").arg(steps).arg(steps)) + 4);
}

double StepControls::speed() const {
    return speed_->currentData().toDouble();
}

StepButton* StepControls::button(StepButton::Sign sign) const {
    switch (sign) {
    case StepButton::Sign::First:
        return first_;
    case StepButton::Sign::Back:
        return back_;
    case StepButton::Sign::Forward:
        return forward_;
    case StepButton::Sign::Last:
        return last_;
    default:
        return play_;
    }
}

} // namespace gs

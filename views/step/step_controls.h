// Buttons, slider and speed of the step-through.
#pragma once

#include <QToolButton>
#include <QWidget>

class QComboBox;
class QLabel;
class QSlider;

namespace gs {

/// A flat button with a drawn sign in the theme's colours.
class StepButton : public QToolButton {
    Q_OBJECT
public:
    enum class Sign : uint8_t { First, Back, Play, Pause, Forward, Last };
    StepButton(Sign sign, const QString& name, const QString& key, QWidget* parent);
    void setSign(Sign sign, const QString& name, const QString& key);
    QSize sizeHint() const override { return {34, 28}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    Sign sign_;
};

class StepControls : public QWidget {
    Q_OBJECT
public:
    explicit StepControls(QWidget* parent = nullptr);

    /// Shows where the sweep is; never emits.
    void show(int step, int steps, bool playing);
    /// How many times faster than usual.
    double speed() const;

    StepButton* button(StepButton::Sign sign) const;
    QSlider* slider() const { return slider_; }
    QComboBox* speedBox() const { return speed_; }

signals:
    void stepRequested(int step);
    void playRequested(bool on);

private:
    StepButton* first_;
    StepButton* back_;
    StepButton* play_;
    StepButton* forward_;
    StepButton* last_;
    QSlider* slider_;
    QComboBox* speed_;
    QLabel* count_;
    int step_ = 0;
    bool playing_ = false;
};

} // namespace gs

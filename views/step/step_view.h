// Step through: the sweep of latest-safe-launch, gather by gather, for one who learns it or shows it to
// others.
#pragma once

#include "views/step/step_data.h"
#include "views/view.h"

#include <QElapsedTimer>
#include <QTimer>

class QLabel;

namespace gs {

class StepCanvas;
class StepControls;

class StepView : public View {
    Q_OBJECT
public:
    explicit StepView(QWidget* parent = nullptr);

    const StepData& data() const { return *data_; }
    int step() const { return step_; }
    /// Share of the step's walk that is shown; 1 unless it is played or walked node by node.
    double fill() const { return fill_; }
    bool playing() const { return timer_.isActive(); }
    void setPlaying(bool on);
    /// Goes to a step, clamped, with its walk done, and selects its gather.
    void goTo(int step);
    /// One compute node of the walk further or back, over the steps' ends.
    void walk(int by);

    StepCanvas* canvas() const { return canvas_; }
    StepControls* controls() const { return controls_; }
    QString sentence() const;
    QString note() const;

    QSize sizeHint() const override { return {1200, 380}; }
    QSize minimumSizeHint() const override { return {360, 260}; }

protected:
    void snapshotChanged() override;
    void selectionChanged() override;
    void showEvent(QShowEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void build();
    void prepare();
    void showStep();
    void show(int step, double fill);
    void play();
    void applyScale();
    void keepTextHeight();
    void requestSelection();

    StepDataPtr data_;
    bool stale_ = false; ///< the snapshot changed while the view was hidden
    int step_ = 0;
    double fill_ = 1;
    QTimer timer_;
    QElapsedTimer since_; ///< the step that is played began
    QLabel* title_;
    QLabel* verdict_;
    QLabel* sentence_;
    QLabel* note_;
    StepCanvas* canvas_;
    StepControls* controls_;
};

} // namespace gs

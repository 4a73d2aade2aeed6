// The picture of the step-through: shows a step of the sweep, zooms and pans around it, says what was
// clicked.
#pragma once

#include "views/step/step_scene.h"

#include <QWidget>
#include <optional>

namespace gs {

class StepCanvas : public QWidget {
    Q_OBJECT
public:
    explicit StepCanvas(QWidget* parent = nullptr);

    void setData(StepDataPtr data);
    /// Shows a step with `fill` (0…1) of its walk done. Another step brings its page back into view.
    void setStep(size_t step, double fill);
    void setScale(double scale);

    TimeRange range() const;
    /// Factors below 1 zoom in, around a pixel of the plot.
    void zoomAt(double plot_pixel, double factor);
    void pan(double pixels);
    /// Back to the step's own page.
    void fit();
    bool fitted() const { return !range_; }

    /// What is painted; made when it is asked for after a change.
    const StepScene& scene() const;
    StepRequest request() const;

    QSize sizeHint() const override { return {900, 260}; }
    QSize minimumSizeHint() const override { return {320, 190}; }

signals:
    void stepChosen(int step);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    bool event(QEvent* event) override;

private:
    void invalidate();
    int stepAt(const QPointF& position) const;
    int claimOf(NodeId node) const;
    QString tipAt(const QPointF& position) const;

    StepDataPtr data_;
    size_t step_ = 0;
    double fill_ = 1;
    double scale_ = 1;
    std::optional<TimeRange> range_; ///< where the user zoomed to; else the step's page
    mutable std::optional<StepScene> scene_;
    std::optional<QPointF> press_;
    double dragged_ = 0;
};

} // namespace gs

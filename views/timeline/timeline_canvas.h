// The canvas of the timeline: state of the visible range, painting from the cached scene, mouse and keyboard.
#pragma once

#include "views/timeline/launch_drag.h"
#include "views/timeline/launch_painter.h"

#include <QAbstractScrollArea>
#include <QTimer>
#include <optional>

class QMenu;

namespace gs {

class RangeBox;

class TimelineCanvas : public QAbstractScrollArea {
    Q_OBJECT
public:
    explicit TimelineCanvas(QWidget* parent = nullptr);

    /// `keep_range`: the same graph analysed anew; what the user looks at stays. Otherwise all is shown.
    void setData(TimelineDataPtr data, bool keep_range);
    const TimelineDataPtr& data() const { return data_; }
    void setSelection(const Selection& selection);
    /// Scrolls the selection into view if it is not visible.
    void reveal();

    TimeRange range() const { return range_; }
    void setRange(TimeRange range);
    bool showsAll() const { return range_ == data_->full(); }
    void fitAll();
    /// The selection with some of what is around it; nothing happens without a selection.
    void zoomToSelection();
    /// F: the selection, or everything if the selection is shown already or there is none.
    void fit();
    /// Zooms around a pixel of the plot. Factors below 1 zoom in.
    void zoomAt(double plot_pixel, double factor);
    void pan(double pixels);

    bool criticalPath() const { return critical_path_; }
    void setCriticalPath(bool on);
    /// Range of the drag with totals, if there is one.
    std::optional<TimeRange> markedRange() const { return marked_; }
    void setMarkedRange(std::optional<TimeRange> range);
    QString markedTotals() const;

    /// Selects the next (+1) or previous (−1) slice in the lane of the selection.
    void stepInLane(int direction);
    /// Selects the next or previous gather in launch order.
    void stepGather(int direction);

    /// The selected launch goes so many nodes of the compute stream further; an illegal place is refused as
    /// in a drag.
    void moveSelectedLaunch(int steps);
    void pinSelectedLaunch();
    /// What is drawn while a launch is dragged, and for a moment after one was refused.
    const std::optional<LaunchOverlay>& launchOverlay() const { return overlay_; }

    /// What is painted; made when it is asked for after a change.
    const TimelineScene& scene() const;
    TimeAxis axis() const;

signals:
    void selectionRequested(const gs::Selection& selection);
    /// The user changed the range.
    void navigated();
    /// A launch was moved or pinned.
    void editRequested(const gs::Edit& edit);
    /// What was done by hand to a launch is to be taken back.
    void removalRequested(gs::NodeId launch);
    /// Before the context menu opens; `launch` is the one under the cursor or kNoNode.
    void menuOpening(QMenu* menu, gs::NodeId launch);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void scrollContentsBy(int dx, int dy) override;
    bool viewportEvent(QEvent* event) override;
    void changeEvent(QEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    enum class Drag : uint8_t { None, Press, Range, Pan, LaunchPress, Launch };

    SceneRequest request() const;
    QString description() const;
    void invalidate();
    void updateScrollBars();
    void placeRangeBox();
    void scrollToLane(const SliceRef& ref);
    TimeRange neighbourhood() const;
    /// Where the selection lies: in the last band that has it.
    std::optional<SliceRef> selectedSlice() const;
    /// From launch to wait for a gather, else the slice itself.
    TimeRange spanAround(const SliceRef& ref) const;
    double anchorPixel() const;
    void click(const QPointF& position);
    void dragRange(const QPointF& position);
    bool showTip(const QPoint& position, const QPoint& global);
    bool showErrorTip(const QPoint& position, const QPoint& global);
    bool showLaunchTip(const QPoint& position, const QPoint& global);
    void selectWorst();
    void selectLaunch(NodeId launch);
    NodeId selectedLaunch() const;
    NodeId launchUnder(const QPointF& position) const;
    void beginLaunchDrag();
    void dragLaunch(const QPointF& position);
    void dropLaunch();
    void endLaunchDrag();
    void refuse(const LaunchDrag& drag, const LaunchDrag::Place& place, const QPointF& cursor);
    LaunchOverlay overlayFor(const LaunchDrag& drag, const LaunchDrag::Place& place,
                             const QPointF& cursor) const;
    bool editKey(QKeyEvent* event);
    void paintOverlay(QPainter& painter) const;
    void paintCursor(QPainter& painter) const;
    bool navigationKey(int key);
    void navigate(TimeRange range);

    TimelineDataPtr data_;
    Selection selection_;
    std::optional<SliceRef> chosen_; ///< the very slice that was clicked or stepped to
    TimeRange range_;
    double gutter_ = 110;
    bool critical_path_ = false;
    bool focus_frame_ = false; ///< the keyboard brought the focus here
    std::optional<TimeRange> marked_;
    mutable std::optional<TimelineScene> scene_;
    RangeBox* box_ = nullptr;
    Drag drag_ = Drag::None;
    NodeId pressed_launch_ = kNoNode;
    std::optional<LaunchDrag> launch_drag_;
    LaunchDrag::Place place_; ///< of the launch that is dragged
    std::optional<LaunchOverlay> overlay_;
    QTimer refused_; ///< runs while the bubble of a refused move is still shown
    QPointF press_;
    QPointF last_;
    std::optional<QPointF> hover_;
};

} // namespace gs

// One pane of the graph view: pan, zoom, hit-testing, keyboard. Knows pictures, not programs.
#pragma once

#include "views/graph/graph_picture.h"

#include <QAbstractScrollArea>
#include <QPixmap>

#include <functional>

namespace gs {

class GraphMinimap;

class GraphCanvas : public QAbstractScrollArea {
    Q_OBJECT
public:
    explicit GraphCanvas(QWidget* parent = nullptr);

    /// Shows another picture. `keep_view` keeps zoom and place, else the picture is fitted.
    void setPicture(GraphPicturePtr picture, bool keep_view);
    const GraphPicturePtr& picture() const { return picture_; }
    /// Text in the middle while there is no picture.
    void setHint(const QString& hint);
    /// Text of a tooltip for the box at hand.
    void setFacts(std::function<QString(int box)> facts) { facts_ = std::move(facts); }
    QString factsOf(int box) const { return facts_ ? facts_(box) : QString(); }

    const GraphMarks& marks() const { return marks_; }
    void setSelected(int box);
    void setFound(std::vector<int> boxes);
    void setCursorBox(int box, bool reveal);

    double zoom() const { return zoom_; }
    GraphCamera camera() const;
    /// Zooms so that the picture point under `anchor` (viewport pixels) stays.
    void zoomTo(double zoom, QPointF anchor);
    void fit();
    /// Scrolls as little as needed.
    void reveal(int box);
    void centreOn(int box);
    /// Takes over zoom and scroll position of another pane.
    void follow(const GraphCanvas& other);
    QSize sizeHint() const override { return {300, 300}; }

    static constexpr double kMaxZoom = 4;

signals:
    void boxClicked(int box);
    void boxActivated(int box); ///< double click or Enter
    void jumpRequested(gs::NodeId node);
    void cameraChanged();
    void sideStepped(int direction); ///< Left or Right beyond the last box: to the other pane

protected:
    bool viewportEvent(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void scrollContentsBy(int dx, int dy) override;
    void wheelEvent(QWheelEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    friend class GraphMinimap;
    QSizeF contentSize() const;
    QSizeF hitSlack() const;
    double fitZoom() const;
    double minZoom() const;
    void updateScrollBars();
    int boxAt(QPointF viewport_point) const;
    bool stepCursor(GraphStep step);
    void showTip(const QPoint& viewport_point, const QPoint& global);

    GraphPicturePtr picture_;
    GraphMarks marks_;
    QString hint_;
    std::function<QString(int)> facts_;
    GraphMinimap* minimap_ = nullptr;
    double zoom_ = 1;
    bool fitted_ = true;    ///< nobody has zoomed since the last fit: resizing fits again
    bool settling_ = false; ///< scroll bars are being set: no signals
    QPoint press_, press_scroll_;
    bool dragging_ = false;
};

/// The whole of a lane picture in a strip; click or drag scrolls.
class GraphMinimap : public QWidget {
public:
    explicit GraphMinimap(GraphCanvas* canvas);
    static constexpr int kWidth = 34;
    void forget() { cache_ = {}; }

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override { scrollTo(event); }
    void mouseMoveEvent(QMouseEvent* event) override { scrollTo(event); }

private:
    void scrollTo(QMouseEvent* event);

    GraphCanvas* canvas_;
    QPixmap cache_; ///< bands; the frame of what is visible is drawn over it
};

} // namespace gs

// A whole program in pinned lanes, one row a node. Painting costs what is visible, not what there is.
#pragma once

#include "layout/lanes.h"
#include "views/graph/graph_picture.h"

namespace gs {

class LanePicture : public GraphPicture {
public:
    explicit LanePicture(std::shared_ptr<const LaneLayout> lanes) : lanes_(std::move(lanes)) {}

    static constexpr double kRowHeight = 22; ///< at scale 1
    static constexpr double kWidth = 1000;   ///< picture width; the canvas stretches it to its own

    const LaneLayout& lanes() const { return *lanes_; }

    QRectF bounds() const override;
    bool fitsWidth() const override { return true; }
    double stickyHeight() const override { return 20; }
    int boxCount() const override { return static_cast<int>(lanes_->rows()); }
    QRectF boxRect(int box) const override;
    int boxAt(QPointF point, QSizeF slack) const override;
    int boxOf(NodeId node) const override;
    std::vector<NodeId> boxNodes(int box) const override;
    NodeId jumpAt(QPointF point, QSizeF slack) const override;
    int step(int box, GraphStep step) const override;
    void paint(QPainter& painter, const GraphCamera& camera, const QRectF& clip, const GraphMarks& marks,
               const Theme& theme) const override;
    /// Bands only, for the minimap.
    void paintBands(QPainter& painter, const GraphCamera& camera, const QRectF& clip,
                    const Theme& theme) const;

private:
    struct Rows {
        uint32_t begin = 0, end = 0;
    };
    Rows visibleRows(const GraphCamera& camera, const QRectF& clip) const;
    void paintBoxes(QPainter& painter, const GraphCamera& camera, Rows rows, const GraphMarks& marks,
                    const Theme& theme) const;
    void paintText(QPainter& painter, const GraphCamera& camera, uint32_t row, const Theme& theme) const;
    void paintLinks(QPainter& painter, const GraphCamera& camera, Rows rows, const Theme& theme) const;
    void paintTransfers(QPainter& painter, const GraphCamera& camera, Rows rows, const QRectF& clip,
                        const Theme& theme) const;
    void paintMoves(QPainter& painter, const GraphCamera& camera, Rows rows, const GraphMarks& marks,
                    const QRectF& clip, const Theme& theme) const;
    void paintOwnLinks(QPainter& painter, const GraphCamera& camera, int box, const QRectF& clip,
                       const Theme& theme) const;
    void paintHeader(QPainter& painter, const GraphCamera& camera, const QRectF& clip,
                     const Theme& theme) const;
    void paintRing(QPainter& painter, const GraphCamera& camera, int box, QPen pen) const;
    /// Other end of the first long link of a row; kNoNode = none.
    NodeId longEnd(uint32_t row, bool up) const;

    std::shared_ptr<const LaneLayout> lanes_;
};

QColor laneColour(LaneShade shade, const Theme& theme);

} // namespace gs

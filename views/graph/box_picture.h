// A focus or module picture: boxes with texts, placed by Graphviz or in lanes.
#pragma once

#include "layout/placement.h"
#include "views/graph/graph_picture.h"

#include <QPainterPath>

namespace gs {

/// Texts of a box as they are drawn, at scale 1.
struct BoxText {
    QString title;
    QString detail; ///< second line; empty = one line
    bool two_lines = false;
};

/// Sizes and elided texts of all boxes, measured with the interface font. Texts get longer where the pane is
/// `pane_width` wide.
struct MeasuredBoxes {
    std::vector<LayoutSize> sizes;
    std::vector<BoxText> texts;
    double box_width = 0; ///< of every box but portals: one width makes a calm column
};
MeasuredBoxes measureBoxes(const LayoutGraph& picture, double pane_width);
/// Gives all boxes but portals this width, at least their own.
void setBoxWidth(MeasuredBoxes& measured, const LayoutGraph& picture, double width);

class BoxPicture : public GraphPicture {
public:
    /// `move_from_y`: height from which the focus came (a dashed arrow), in picture coordinates; negative =
    /// none.
    BoxPicture(LayoutGraph graph, MeasuredBoxes measured, Placement placement, double move_from_y = -1);

    const LayoutGraph& graph() const { return graph_; }
    /// Middle of the (first) box that the picture is about; negative if there is none.
    double focusY() const;
    bool hasLinks(LinkKind kind) const;
    /// Everything that is drawn, in drawing order.
    std::vector<GraphMark> marks() const;
    const std::vector<QPainterPath>& links() const { return links_; }

    QRectF bounds() const override { return bounds_; }
    bool fitsWidth() const override { return false; }
    int mainBox() const override;
    int boxCount() const override { return static_cast<int>(boxes_.size()); }
    QRectF boxRect(int box) const override { return boxes_[static_cast<size_t>(box)]; }
    int boxAt(QPointF point, QSizeF slack) const override;
    int boxOf(NodeId node) const override { return graph_.boxOf(node); }
    std::vector<NodeId> boxNodes(int box) const override {
        return graph_.boxes[static_cast<size_t>(box)].nodes;
    }
    NodeId jumpAt(QPointF point, QSizeF slack) const override;
    int step(int box, GraphStep step) const override;
    void paint(QPainter& painter, const GraphCamera& camera, const QRectF& clip, const GraphMarks& marks,
               const Theme& theme) const override;

private:
    void paintLink(QPainter& painter, const GraphCamera& camera, size_t index, const GraphMarks& marks,
                   const Theme& theme) const;
    void paintBox(QPainter& painter, const GraphCamera& camera, size_t index, const GraphMarks& marks,
                  const Theme& theme) const;
    void paintMove(QPainter& painter, const GraphCamera& camera, const Theme& theme) const;
    QPainterPath movePath() const;
    QRectF titleRect(size_t box) const;
    QRectF detailRect(size_t box) const;

    LayoutGraph graph_;
    std::vector<BoxText> texts_;
    std::vector<QRectF> boxes_;
    std::vector<QPainterPath> links_;
    QRectF bounds_;
    double move_from_y_ = -1;
};

/// Colours of a box by what it stands for.
struct BoxStyle {
    QColor fill, outline, text;
};
BoxStyle boxStyle(BoxRole role, const Theme& theme);
/// Pen of a link, at scale 1: solid data, dashed effect, dotted advisory, faint order.
QPen linkPen(LinkKind kind, const Theme& theme, bool strong);
/// Arrow head at the end of a link that arrives in `direction`.
void paintArrowHead(QPainter& painter, QPointF tip, QPointF direction, double size, const QColor& colour);

} // namespace gs

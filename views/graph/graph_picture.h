// What a graph canvas shows: placed boxes and links that can be painted, hit and walked.
#pragma once

#include "layout/layout_graph.h"
#include "views/theme.h"

#include <QPointF>
#include <QRectF>
#include <QString>

#include <memory>
#include <vector>

class QPainter;

namespace gs {

/// From picture coordinates to device pixels.
struct GraphCamera {
    double sx = 1, sy = 1, ox = 0, oy = 0;

    QPointF map(QPointF p) const { return {p.x() * sx + ox, p.y() * sy + oy}; }
    QRectF map(const QRectF& r) const {
        return {r.x() * sx + ox, r.y() * sy + oy, r.width() * sx, r.height() * sy};
    }
    QPointF unmap(QPointF p) const { return {(p.x() - ox) / sx, (p.y() - oy) / sy}; }
};

/// What is emphasised. Boxes by index, -1 = none.
struct GraphMarks {
    int cursor = -1;  ///< keyboard
    int hovered = -1; ///< mouse
    int selected = -1;
    std::vector<int> found; ///< search matches
};

/// One thing that is drawn, for approval in tests: role "gather", "title", "data", "move", …
struct GraphMark {
    QString role;
    QRectF rect; ///< picture coordinates; of a link its bounds
    QString text;
};

enum class GraphStep : uint8_t { Up, Down, Left, Right };

class GraphPicture {
public:
    virtual ~GraphPicture() = default;

    virtual QRectF bounds() const = 0;
    /// True: the picture always takes the whole width of its canvas and zooms vertically only.
    virtual bool fitsWidth() const = 0;
    /// Height in pixels of a strip at the top that stays while the rest scrolls.
    virtual double stickyHeight() const { return 0; }
    virtual int boxCount() const = 0;
    /// Box that a picture too large for its canvas starts at.
    virtual int mainBox() const { return boxCount() > 0 ? 0 : -1; }
    virtual QRectF boxRect(int box) const = 0;
    /// Box at a point, with `slack` around small boxes; -1 = none.
    virtual int boxAt(QPointF point, QSizeF slack) const = 0;
    /// Box that stands for a node; -1 = none.
    virtual int boxOf(NodeId node) const = 0;
    virtual std::vector<NodeId> boxNodes(int box) const = 0;
    /// Node to jump to when this place is clicked: a portal's other end; kNoNode = no portal there.
    virtual NodeId jumpAt(QPointF point, QSizeF slack) const = 0;
    /// Neighbour along a link (up, down) or beside (left, right); -1 = none.
    virtual int step(int box, GraphStep step) const = 0;
    virtual void paint(QPainter& painter, const GraphCamera& camera, const QRectF& clip,
                       const GraphMarks& marks, const Theme& theme) const = 0;
};

using GraphPicturePtr = std::shared_ptr<const GraphPicture>;

} // namespace gs

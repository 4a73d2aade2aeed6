// One side of the graph view: title, canvas, and its way from a LayoutGraph to a picture.
#pragma once

#include "views/graph/box_picture.h"
#include "views/graph/dot_process.h"
#include "views/graph/graph_canvas.h"

#include <QHash>
#include <QLabel>

#include <optional>

namespace gs {

class GraphPane : public QWidget {
    Q_OBJECT
public:
    GraphPane(const QString& title, QWidget* parent);

    GraphCanvas* canvas() const { return canvas_; }
    DotProcess* dot() const { return dot_; }

    /// Starts to place a picture; settled() comes later, once. The canvas keeps what it shows.
    void place(LayoutGraph graph, MeasuredBoxes measured);
    /// Forgets what is being placed.
    void cancel();
    bool placing() const { return placing_; }
    /// Why Graphviz did not answer; empty = it did, or was not needed.
    const QString& failure() const { return failure_; }
    /// Gives up Graphviz's placement: lanes for both sides look alike.
    void useLanes() { placement_.reset(); }
    /// Shows what was placed. `move_from_y`: see BoxPicture.
    std::shared_ptr<const BoxPicture> makePicture(double move_from_y) const;

signals:
    void settled();
    void slow();

private:
    void finish();

    GraphCanvas* canvas_;
    DotProcess* dot_;
    LayoutGraph graph_;
    MeasuredBoxes measured_;
    std::optional<Placement> placement_;
    QString failure_;
    QByteArray key_;
    QHash<QByteArray, Placement> cache_; ///< by dot's input: going back shows at once
    quint64 dot_generation_ = 0;
    quint64 request_ = 0;
    bool placing_ = false;
};

} // namespace gs

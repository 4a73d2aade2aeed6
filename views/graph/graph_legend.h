// Which line means which kind of link.
#pragma once

#include "layout/layout_graph.h"

#include <QWidget>

class QPainter;

namespace gs {

class GraphLegend : public QWidget {
    Q_OBJECT
public:
    explicit GraphLegend(QWidget* parent = nullptr);
    /// Shows the kinds that occur. `lanes` adds transfers and moves.
    void setKinds(const std::vector<LinkKind>& kinds, bool moves, bool transfers);

    QSize sizeHint() const override;
    /// Paints the entries from `origin` on; returns the width used. Also used for exported pictures.
    double paint(QPainter& painter, QPointF origin) const;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    struct Entry {
        QString text;
        LinkKind kind = LinkKind::Data;
        bool move = false, transfer = false;
    };
    std::vector<Entry> entries_;
};

} // namespace gs

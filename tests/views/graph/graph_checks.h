// What the tests of the graph view share: waiting for pictures, and the approval of their geometry.
#pragma once

#include "views/graph/box_picture.h"
#include "views/graph/graph_canvas.h"
#include "views/graph/graph_view.h"

#include <QElapsedTimer>
#include <QFontMetricsF>
#include <QStandardPaths>
#include <QTest>

namespace gs::test {

inline bool hasDot() {
    return !QStandardPaths::findExecutable("dot").isEmpty();
}

inline void settle(GraphView& view) {
    QElapsedTimer timer;
    timer.start();
    while (view.busy() && timer.elapsed() < 20000)
        QTest::qWait(2);
    QVERIFY(!view.busy());
}

inline const BoxPicture& boxes(const GraphView& view, bool after) {
    const auto* picture = dynamic_cast<const BoxPicture*>(view.canvas(after)->picture().get());
    if (!picture)
        qFatal("the canvas shows no boxes");
    return *picture;
}

/// Boxes do not overlap, texts fit, links end on their boxes, every box can be hit.
inline void checkGeometry(const BoxPicture& picture) {
    const LayoutGraph& graph = picture.graph();
    for (int i = 0; i < picture.boxCount(); ++i) {
        const QRectF rect = picture.boxRect(i);
        QVERIFY(picture.bounds().adjusted(-0.5, -0.5, 0.5, 0.5).contains(rect));
        QCOMPARE(picture.boxAt(rect.center(), {}), i);
        for (int k = 0; k < i; ++k)
            QVERIFY2(!rect.adjusted(0.5, 0.5, -0.5, -0.5).intersects(picture.boxRect(k)),
                     graph.boxes[static_cast<size_t>(i)].id.c_str());
    }
    QRectF box;
    QString role;
    for (const GraphMark& mark : picture.marks()) {
        if (mark.role == "title" || mark.role == "detail") {
            const bool portal = role == "portal";
            const QFont font =
                mark.role == "detail" || portal ? Theme::font(11) : Theme::font(12, QFont::Medium);
            QVERIFY2(QFontMetricsF(font).horizontalAdvance(mark.text) <= mark.rect.width() + 0.5,
                     qPrintable(mark.text));
            QVERIFY2(QFontMetricsF(font).height() <= mark.rect.height() + 1, qPrintable(mark.text));
            QVERIFY(box.contains(mark.rect));
            QVERIFY(!mark.text.isEmpty());
        } else {
            box = mark.rect;
            role = mark.role;
        }
    }
    for (size_t i = 0; i < graph.links.size(); ++i) {
        const QPainterPath& path = picture.links()[i];
        QVERIFY(path.elementCount() >= 4);
        const auto touches = [&](QPointF point, uint32_t at) {
            return picture.boxRect(static_cast<int>(at)).adjusted(-4, -4, 4, 4).contains(point);
        };
        // dot lays an upward link from the lower end as well as from the upper
        const QPointF first = path.elementAt(0), last = path.currentPosition();
        const LayoutLink& link = graph.links[i];
        QVERIFY((touches(first, link.from) && touches(last, link.to)) ||
                (touches(first, link.to) && touches(last, link.from)));
    }
}

} // namespace gs::test

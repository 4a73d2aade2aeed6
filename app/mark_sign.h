// A mark of the tables as a widget.
#pragma once

#include "views/docks/paint_text.h"

#include <QPainter>
#include <QWidget>

namespace gs {

class MarkSign : public QWidget {
public:
    explicit MarkSign(Mark mark, QWidget* parent = nullptr) : QWidget(parent), mark_(mark) {
        setFixedSize(18, 18);
    }
    void setMark(Mark mark) {
        mark_ = mark;
        update();
    }

protected:
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        drawMark(painter, rect(), mark_);
    }

private:
    Mark mark_;
};

} // namespace gs

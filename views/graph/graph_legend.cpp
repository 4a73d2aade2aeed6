#include "views/graph/graph_legend.h"

#include "views/graph/box_picture.h"

#include <QFontMetricsF>
#include <QPainter>

namespace gs {

namespace {

constexpr double kLine = 20, kGap = 5, kBetween = 12, kHeight = 16;

} // namespace

GraphLegend::GraphLegend(QWidget* parent) : QWidget(parent) {
    setFixedHeight(static_cast<int>(kHeight));
}

void GraphLegend::setKinds(const std::vector<LinkKind>& kinds, bool moves, bool transfers) {
    entries_.clear();
    const auto has = [&](LinkKind kind) {
        return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
    };
    if (has(LinkKind::Data))
        entries_.push_back({tr("data"), LinkKind::Data});
    if (has(LinkKind::Effect))
        entries_.push_back({tr("effect"), LinkKind::Effect});
    if (has(LinkKind::Advisory))
        entries_.push_back({tr("advisory"), LinkKind::Advisory});
    if (has(LinkKind::Order))
        entries_.push_back({tr("order"), LinkKind::Order});
    if (transfers)
        entries_.push_back({tr("transfer"), LinkKind::Data, false, true});
    if (moves)
        entries_.push_back({tr("moved from"), LinkKind::Data, true});
    updateGeometry();
    update();
}

QSize GraphLegend::sizeHint() const {
    const QFontMetricsF metrics(Theme::font(11));
    double width = 0;
    for (const Entry& entry : entries_)
        width += kLine + kGap + metrics.horizontalAdvance(entry.text) + kBetween;
    return {static_cast<int>(width), static_cast<int>(kHeight)};
}

double GraphLegend::paint(QPainter& painter, QPointF origin) const {
    const Theme& theme = Theme::current();
    const QFont font = Theme::font(11);
    const QFontMetricsF metrics(font);
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(font);
    double x = origin.x();
    const double y = origin.y() + kHeight / 2;
    for (const Entry& entry : entries_) {
        QPen pen = linkPen(entry.kind, theme, false);
        if (entry.move) {
            pen = QPen(theme.accent, 1.6);
            pen.setDashPattern({3, 2.5});
        } else if (entry.transfer) {
            pen = QPen(theme.gather, 1.8);
        }
        painter.setPen(pen);
        painter.drawLine(QPointF(x, y), QPointF(x + kLine, y));
        if (entry.move)
            paintArrowHead(painter, {x + kLine, y}, {1, 0}, 6, theme.accent);
        painter.setPen(theme.muted);
        const double width = metrics.horizontalAdvance(entry.text);
        painter.drawText(QRectF(x + kLine + kGap, origin.y(), width + 2, kHeight),
                         Qt::AlignVCenter | Qt::AlignLeft, entry.text);
        x += kLine + kGap + width + kBetween;
    }
    painter.restore();
    return x - origin.x();
}

void GraphLegend::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    paint(painter, {0, 0});
}

} // namespace gs

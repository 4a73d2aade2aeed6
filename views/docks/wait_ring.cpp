#include "views/docks/wait_ring.h"

#include "views/theme.h"

#include <QPainter>
#include <QPainterPath>
#include <QtMath>
#include <algorithm>

namespace gs {

namespace {

/// Longer rings are cut: the list beside them has every step.
constexpr size_t kMaxSteps = 8;
constexpr qreal kBoxHeight = 24;

QPointF onEdge(const QRectF& box, const QPointF& towards) {
    const QPointF way = towards - box.center();
    const qreal x = qAbs(way.x()) > 1e-6 ? box.width() / 2 / qAbs(way.x()) : 1e9;
    const qreal y = qAbs(way.y()) > 1e-6 ? box.height() / 2 / qAbs(way.y()) : 1e9;
    return box.center() + way * std::min(x, y);
}

void drawArrow(QPainter& painter, const QPointF& from, const QPointF& to, const QPointF& bend) {
    QPainterPath path(from);
    path.quadTo(bend, to);
    painter.setBrush(Qt::NoBrush);
    painter.drawPath(path);
    const QPointF way = to - path.pointAtPercent(0.93);
    const qreal length = std::max(1.0, qSqrt(way.x() * way.x() + way.y() * way.y()));
    const QPointF along = way / length, across(-along.y(), along.x());
    painter.setBrush(painter.pen().color());
    painter.drawPolygon(QPolygonF({to, to - along * 8 + across * 4, to - along * 8 - across * 4}));
}

} // namespace

WaitRing::WaitRing(QWidget* parent) : QWidget(parent) {
    setVisible(false);
    setAccessibleName(tr("Ranks that wait for each other"));
}

void WaitRing::setComparison(const RankComparisonPtr& comparison) {
    ranks_.clear();
    arrows_.clear();
    if (comparison && !comparison->cycles.empty()) {
        const WaitCycle& cycle = comparison->cycles.front();
        closed_ = cycle.closed;
        certain_ = cycle.certain;
        const auto label = [&](int32_t rank) {
            return QString::fromStdString(comparison->ranks[static_cast<size_t>(rank)].program.label);
        };
        for (size_t i = 0; i < cycle.steps.size() && i < kMaxSteps; ++i) {
            const WaitStep& step = cycle.steps[i];
            const ComparedRank& rank = comparison->ranks[static_cast<size_t>(step.rank)];
            const auto collective = static_cast<size_t>(std::max(step.collective.collective, 0));
            const uint32_t group = rank.collectives[collective].group;
            ranks_ << label(step.rank);
            arrows_ << tr("on %1").arg(
                QString::fromStdString(comparison->groups[group].names[static_cast<size_t>(step.rank)]));
        }
        if (!closed_ && !cycle.steps.empty() && cycle.steps.back().missing_rank >= 0)
            ranks_ << label(cycle.steps.back().missing_rank);
    }
    setAccessibleDescription(ranks_.join(QStringLiteral(" → ")));
    setVisible(!ranks_.isEmpty());
    updateGeometry();
    update();
}

QSize WaitRing::sizeHint() const {
    const auto count = static_cast<int>(ranks_.size());
    return {230, count <= 2 ? 96 : std::min(120 + 18 * count, 240)};
}

void WaitRing::paintEvent(QPaintEvent*) {
    if (ranks_.isEmpty())
        return;
    const Theme& theme = Theme::current();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(Theme::font(12, QFont::Medium));
    const QFontMetricsF metrics(painter.font());
    const auto count = static_cast<int>(ranks_.size());
    std::vector<QRectF> boxes;
    for (int i = 0; i < count; ++i) {
        const QString text = metrics.elidedText(ranks_[i], Qt::ElideRight, 96);
        const qreal width = metrics.horizontalAdvance(text) + 20;
        const qreal angle = M_PI + 2 * M_PI * i / std::max(count, 2);
        const QPointF center(this->width() / 2.0 + (this->width() / 2.0 - width / 2 - 4) * qCos(angle),
                             height() / 2.0 + (height() / 2.0 - kBoxHeight / 2 - 4) * qSin(angle));
        boxes.emplace_back(center.x() - width / 2, center.y() - kBoxHeight / 2, width, kBoxHeight);
    }
    painter.setPen(
        QPen(certain_ ? theme.exposed : theme.limited, 1.6, certain_ ? Qt::SolidLine : Qt::DashLine));
    const QPointF middle(width() / 2.0, height() / 2.0);
    for (int i = 0; i < static_cast<int>(arrows_.size()); ++i) {
        const int next = (i + 1) % count;
        if (next == i || (!closed_ && i + 1 >= count))
            continue;
        const QRectF &from = boxes[static_cast<size_t>(i)], &to = boxes[static_cast<size_t>(next)];
        const QPointF half = (from.center() + to.center()) / 2;
        QPointF out = half - middle;
        if (count == 2) // one arrow above, one below
            out = QPointF(0, i == 0 ? -1 : 1);
        const qreal length = std::max(1.0, qSqrt(out.x() * out.x() + out.y() * out.y()));
        const QPointF bend = half + out / length * (count == 2 ? height() * 0.62 : 14.0);
        drawArrow(painter, onEdge(from, bend), onEdge(to, bend), bend);
        const QPointF at = (half + bend) / 2;
        painter.save();
        painter.setFont(Theme::font(11));
        painter.setPen(theme.muted);
        const QString text = arrows_[i];
        const qreal wide = QFontMetricsF(painter.font()).horizontalAdvance(text) + 8;
        const QRectF box(at.x() - wide / 2, at.y() - 8, wide, 16);
        painter.fillRect(box, theme.panel);
        painter.drawText(box, Qt::AlignCenter, text);
        painter.restore();
    }
    for (int i = 0; i < count; ++i) {
        const QRectF& box = boxes[static_cast<size_t>(i)];
        painter.setPen(QPen(theme.border, 1));
        painter.setBrush(theme.field);
        painter.drawRoundedRect(box, 5, 5);
        painter.setPen(theme.text);
        painter.drawText(box, Qt::AlignCenter, metrics.elidedText(ranks_[i], Qt::ElideRight, 96));
    }
}

} // namespace gs

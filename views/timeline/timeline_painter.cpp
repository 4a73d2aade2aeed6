#include "views/timeline/timeline_painter.h"

#include "views/ink.h"
#include "views/theme.h"
#include "views/timeline/blend.h"
#include "views/timeline/launch_painter.h"

#include <QFontMetricsF>
#include <QPainter>
#include <algorithm>
#include <cmath>

namespace gs {

namespace {

constexpr double kRoundedPx = 8;     ///< narrower marks have square corners
constexpr qsizetype kLeastLabel = 6; ///< characters of an elided label, else it says nothing
constexpr double kHatchPx = 6;       ///< distance of the hatch lines of a stall

class ScenePainter {
public:
    ScenePainter(QPainter& painter, const TimelineScene& scene, const Theme& theme)
        : p_(painter), scene_(scene), theme_(theme),
          pixel_(painter.device() ? 1.0 / painter.device()->devicePixelRatioF() : 1.0) {
        for (size_t i = 0; i < kSliceCategories; ++i)
            on_[i] = inkOn(color(static_cast<SliceKind>(i)), theme);
    }

    void paint() {
        const QRectF all = scene_.header.united(scene_.plot).united(scene_.ruler);
        p_.fillRect(all, theme_.panel);
        p_.save();
        p_.setClipRect(QRectF(all.left(), scene_.plot.top(), all.width(), scene_.plot.height()));
        rects(SceneRole::LaneBackground);
        rects(SceneRole::LiveBytesArea);
        lines();
        marks();
        sliceLabels();
        paths(SceneRole::LiveBytes);
        rects(SceneRole::Window);
        paths(SceneRole::Launch);
        paths(SceneRole::Wait);
        rects(SceneRole::Selected);
        rects(SceneRole::Predicted);
        paintLaunchMarks(p_, scene_, theme_);
        for (const SceneText& item : scene_.texts) {
            if (inPlot(item.role))
                text(item);
        }
        p_.restore();
        rects(SceneRole::Swatch);
        rects(SceneRole::CriticalPath);
        for (const SceneRect& item : scene_.rects) {
            if (item.role == SceneRole::Predicted && scene_.header.contains(item.rect))
                predicted(item.rect.adjusted(0, 4, 0, 0));
        }
        for (const SceneText& item : scene_.texts) {
            if (!inPlot(item.role) && item.role != SceneRole::SliceLabel)
                text(item);
        }
    }

private:
    static bool inPlot(SceneRole role) {
        return role == SceneRole::BandTitle || role == SceneRole::ErrorNote || role == SceneRole::LaneLabel ||
               role == SceneRole::LaneNote || role == SceneRole::Caption || role == SceneRole::Saved ||
               role == SceneRole::Elsewhere || role == SceneRole::Message;
    }

    QColor color(SliceKind kind) const {
        switch (kind) {
        case SliceKind::Compute:
            return theme_.compute;
        case SliceKind::Stall:
            return theme_.exposed;
        case SliceKind::Gather:
            return theme_.gather;
        case SliceKind::InFlight:
            return mixed(theme_.other_comm, theme_.panel, 0.28);
        default:
            return theme_.other_comm;
        }
    }

    double snap(double value) const { return std::round(value / pixel_) * pixel_; }
    QRectF snapped(const QRectF& rect) const {
        const double left = snap(rect.left());
        const double top = snap(rect.top());
        return {left, top, std::max(pixel_, snap(rect.right()) - left),
                std::max(pixel_, snap(rect.bottom()) - top)};
    }

    void rects(SceneRole role) {
        for (const SceneRect& item : scene_.rects) {
            if (item.role != role)
                continue;
            if (role == SceneRole::LaneBackground) {
                p_.fillRect(snapped(item.rect), theme_.dark ? theme_.window : faded(theme_.field, 0.7));
            } else if (role == SceneRole::LiveBytesArea) {
                area(item.rect);
            } else if (role == SceneRole::Window) {
                outlined(item.rect, faded(theme_.accent, theme_.dark ? 0.18 : 0.12), theme_.accent, 1, 4);
            } else if (role == SceneRole::Selected) {
                outlined(item.rect, Qt::transparent, theme_.accent, 2, 2);
            } else if (role == SceneRole::Predicted) {
                predicted(item.rect);
            } else if (role == SceneRole::CriticalPath) {
                p_.fillRect(snapped(item.rect.adjusted(0, item.rect.height() - 3, 0, 0)), theme_.text);
            } else if (item.kind == SliceKind::Stall) {
                stall(item.rect, 1);
            } else if (item.kind == SliceKind::InFlight) {
                inFlight(item.rect, 1);
            } else {
                rounded(item.rect, color(item.kind));
            }
        }
    }

    void outlined(const QRectF& rect, const QColor& fill, const QColor& line, double width, double radius) {
        p_.setRenderHint(QPainter::Antialiasing, true);
        p_.setPen(QPen(line, width));
        p_.setBrush(fill);
        const double half = width / 2;
        p_.drawRoundedRect(snapped(rect).adjusted(half, half, -half, -half), radius, radius);
        p_.setRenderHint(QPainter::Antialiasing, false);
    }

    /// A bracket that opens upwards to the transfer.
    void predicted(const QRectF& rect) {
        const QRectF box = snapped(rect);
        const QColor line = theme_.accent;
        p_.fillRect(QRectF(box.left(), box.bottom() - 2, box.width(), 2), line);
        p_.fillRect(QRectF(box.left(), box.top(), std::min(1.5, box.width()), box.height()), line);
        p_.fillRect(QRectF(std::max(box.left(), box.right() - 1.5), box.top(), std::min(1.5, box.width()),
                           box.height()),
                    line);
    }

    void rounded(const QRectF& rect, const QColor& fill) {
        p_.setRenderHint(QPainter::Antialiasing, true);
        p_.setPen(Qt::NoPen);
        p_.setBrush(fill);
        p_.drawRoundedRect(rect, 2, 2);
        p_.setRenderHint(QPainter::Antialiasing, false);
    }

    void lines() {
        for (const SceneLine& item : scene_.lines) {
            const QRectF rect(item.line.p1(), item.line.p2());
            const double x = snap(rect.left());
            const double y = snap(rect.top());
            if (item.role == SceneRole::Grid)
                p_.fillRect(QRectF(x, y, pixel_, rect.height()), theme_.border);
            else
                p_.fillRect(QRectF(x, y, rect.width(), pixel_), faded(theme_.border, 0.7));
        }
    }

    /// Opaque, because the raster engine hands every tall translucent fill to its threads, at ten times the
    /// cost. Neighbours share their edge.
    void area(const QRectF& rect) {
        const double left = snap(rect.left());
        const double right = snap(rect.right());
        if (right > left)
            p_.fillRect(QRectF(left, rect.top(), right - left, rect.height()),
                        mixed(theme_.live_bytes, theme_.panel, 0.10));
    }

    void paths(SceneRole role) {
        for (const ScenePath& item : scene_.paths) {
            if (item.role != role)
                continue;
            if (role == SceneRole::LiveBytes) {
                curve(item.points);
                continue;
            }
            p_.setRenderHint(QPainter::Antialiasing, true);
            QPen pen(theme_.accent, 1.5);
            pen.setJoinStyle(Qt::RoundJoin);
            if (role == SceneRole::Launch)
                pen.setDashPattern({2, 2});
            p_.setPen(pen);
            p_.setBrush(Qt::NoBrush);
            p_.drawPolyline(item.points);
            arrowHead(item.points);
            p_.setRenderHint(QPainter::Antialiasing, false);
        }
    }

    /// As rectangles: the raster engine takes half a second for a smooth line of some thousand corners.
    void curve(const QPolygonF& points) {
        const double width = std::max(1.0, std::floor(1.5 / pixel_) * pixel_);
        for (qsizetype i = 1; i < points.size(); ++i) {
            const QRectF line = QRectF(points[i - 1], points[i]).normalized();
            const double left = snap(line.left());
            const double top = snap(line.top());
            p_.fillRect(
                QRectF(left, top, snap(line.right()) - left + width, snap(line.bottom()) - top + width),
                theme_.live_bytes);
        }
    }

    void arrowHead(const QPolygonF& points) {
        const QPointF tip = points.back();
        const double from = tip.y() > points[points.size() - 2].y() ? -5 : 5;
        p_.setPen(Qt::NoPen);
        p_.setBrush(theme_.accent);
        p_.drawPolygon(QPolygonF({tip, tip + QPointF(-3.5, from), tip + QPointF(3.5, from)}));
    }

    void marks() {
        for (const SceneMark& mark : scene_.marks) {
            const double alpha = scene_.show_path && !mark.on_path ? 0.3 : 1;
            if (!mark.single())
                merged(mark, alpha);
            else if (mark.kind == SliceKind::Stall)
                stall(mark.rect, alpha);
            else if (mark.kind == SliceKind::InFlight)
                inFlight(mark.rect, alpha);
            else
                slice(mark.rect, faded(color(mark.kind), alpha));
            if (scene_.show_path && mark.on_path) {
                const QRectF rect = snapped(mark.rect);
                p_.fillRect(QRectF(rect.left(), rect.bottom() + 2 * pixel_, rect.width(), 2), theme_.text);
            }
        }
    }

    void slice(const QRectF& rect, const QColor& fill) {
        QRectF box = snapped(rect);
        if (box.width() >= 4) // a hairline between neighbours
            box.setWidth(box.width() - 1);
        if (box.width() >= kRoundedPx)
            rounded(box, fill);
        else
            p_.fillRect(box, fill);
    }

    /// Pale, with a broken outline that is open at the left: it began before the graph did.
    void inFlight(const QRectF& rect, double alpha) {
        QRectF box = snapped(rect);
        if (box.width() >= 4)
            box.setWidth(box.width() - 1);
        p_.fillRect(box, faded(color(SliceKind::InFlight), alpha));
        if (box.width() < 4)
            return;
        const double half = pixel_ / 2;
        const QRectF edge = box.adjusted(0, half, -half, -half);
        QPen pen(faded(theme_.other_comm, alpha), 1);
        pen.setDashPattern({4, 3});
        p_.setPen(pen);
        p_.setBrush(Qt::NoBrush);
        p_.drawPolyline(QPolygonF({edge.topLeft(), edge.topRight(), edge.bottomRight(), edge.bottomLeft()}));
    }

    /// The share of time per kind as a share of the height, from the bottom.
    void merged(const SceneMark& mark, double alpha) {
        const QRectF box = snapped(mark.rect);
        double bottom = box.bottom();
        for (size_t i = 0; i < kSliceCategories; ++i) {
            if (mark.shares[i] <= 0)
                continue;
            const auto kind = static_cast<SliceKind>(i);
            const double top = snap(std::max(box.top(), bottom - box.height() * mark.shares[i]));
            const double strength = kind == SliceKind::Stall ? 0.45 : 1;
            p_.fillRect(QRectF(box.left(), top, box.width(), bottom - top),
                        faded(color(kind), alpha * strength));
            bottom = top;
        }
    }

    void stall(const QRectF& rect, double alpha) {
        QRectF box = snapped(rect);
        if (box.width() >= 4)
            box.setWidth(box.width() - 1);
        p_.fillRect(box, faded(theme_.exposed, 0.22 * alpha));
        if (box.width() < 3) {
            p_.fillRect(box, faded(theme_.exposed, 0.35 * alpha));
            return;
        }
        QVector<QLineF> hatch;
        // Lines x + y = c, at the same places of the canvas for all stalls.
        const double low = box.left() + box.top();
        for (double c = std::ceil(low / kHatchPx) * kHatchPx; c < box.right() + box.bottom(); c += kHatchPx) {
            const double x1 = std::max(box.left(), c - box.bottom());
            const double x2 = std::min(box.right(), c - box.top());
            if (x2 > x1)
                hatch.push_back(QLineF(x1, c - x1, x2, c - x2));
        }
        p_.setRenderHint(QPainter::Antialiasing, true);
        p_.setPen(QPen(faded(theme_.exposed, 0.75 * alpha), 1));
        p_.drawLines(hatch);
        p_.setPen(QPen(faded(theme_.exposed, 0.6 * alpha), pixel_));
        p_.setBrush(Qt::NoBrush);
        const double half = pixel_ / 2;
        p_.drawRect(box.adjusted(half, half, -half, -half));
        p_.setRenderHint(QPainter::Antialiasing, false);
    }

    void sliceLabels() {
        p_.setFont(Theme::font(11));
        const QFontMetricsF metrics(p_.font());
        // Labels and single marks come in the same order, a label lies on the mark that holds its rect.
        auto mark = scene_.marks.begin();
        for (const SceneText& item : scene_.texts) {
            if (item.role != SceneRole::SliceLabel)
                continue;
            while (mark != scene_.marks.end() && !mark->rect.contains(item.rect))
                ++mark;
            if (mark == scene_.marks.end())
                return;
            const bool dim = scene_.show_path && !mark->on_path;
            p_.setPen(dim ? theme_.muted : on_[static_cast<size_t>(mark->kind)]);
            drawElided(item, metrics);
        }
    }

    void drawElided(const SceneText& item, const QFontMetricsF& metrics) {
        QString shown = item.text;
        if (metrics.horizontalAdvance(shown) > item.rect.width()) {
            shown = metrics.elidedText(shown, Qt::ElideRight, item.rect.width());
            if (item.role == SceneRole::SliceLabel && shown.size() < kLeastLabel)
                return;
        }
        place(item, shown, metrics);
    }

    void place(const SceneText& item, const QString& shown, const QFontMetricsF& metrics) {
        double x = item.rect.left();
        if (item.align & Qt::AlignHCenter)
            x = item.rect.center().x() - metrics.horizontalAdvance(shown) / 2;
        else if (item.align & Qt::AlignRight)
            x = item.rect.right() - metrics.horizontalAdvance(shown);
        const double y = item.rect.center().y() + (metrics.ascent() - metrics.descent()) / 2;
        p_.drawText(QPointF(x, y), shown);
    }

    void text(const SceneText& item) {
        QFont font = Theme::font(11);
        QColor pen = theme_.muted;
        switch (item.role) {
        case SceneRole::Header:
            font = Theme::font(12);
            break;
        case SceneRole::BandTitle:
            font = Theme::font(12, QFont::DemiBold);
            pen = theme_.text;
            break;
        case SceneRole::Tick:
        case SceneRole::LaneNote:
            font = Theme::font(10);
            break;
        case SceneRole::Message:
            font = Theme::font(12);
            break;
        case SceneRole::Saved:
            pen = theme_.hidden_ok;
            break;
        case SceneRole::Caption:
        case SceneRole::Elsewhere:
            pen = theme_.accent;
            break;
        default:
            break;
        }
        p_.setFont(font);
        p_.setPen(pen);
        const QFontMetricsF metrics(font);
        if (item.role == SceneRole::LaneLabel || item.role == SceneRole::Header ||
            item.role == SceneRole::LaneNote || item.role == SceneRole::ErrorNote)
            drawElided(item, metrics);
        else
            place(item, item.text, metrics);
    }

    QPainter& p_;
    const TimelineScene& scene_;
    const Theme& theme_;
    double pixel_;                            ///< one device pixel
    std::array<QColor, kSliceCategories> on_; ///< readable on a slice of the kind
};

} // namespace

void paintScene(QPainter& painter, const TimelineScene& scene, const Theme& theme) {
    painter.save();
    ScenePainter(painter, scene, theme).paint();
    painter.restore();
}

double gutterWidth(const TimelineData& data) {
    const QFontMetricsF metrics(Theme::font(11));
    double width = 80;
    for (const TimelineBand& band : data.bands) {
        for (const TimelineLane& lane : band.lanes)
            width = std::max(width, metrics.horizontalAdvance(lane.label));
    }
    return std::clamp(std::ceil(width) + kSideMargin + 14, 110.0, 240.0);
}

} // namespace gs

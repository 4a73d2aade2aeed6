#include "views/step/step_painter.h"

#include "views/ink.h"
#include "views/theme.h"
#include "views/timeline/blend.h"

#include <QFontMetricsF>
#include <QPainter>
#include <algorithm>
#include <cmath>
#include <initializer_list>

namespace gs {

namespace {

constexpr qsizetype kLeastChars = 4; ///< a label cut to fewer says nothing

class StepPainter {
public:
    StepPainter(QPainter& painter, const StepScene& scene, const Theme& theme)
        : p_(painter), scene_(scene), t_(theme), s_(scene.scale) {}

    void paint() {
        using enum SweepMark;
        lines({Funnel, Tick});
        rects({OverviewBar, OverviewClaim, OverviewNow, OverviewPage, ClaimLane, Compute, UsedUp, Forbidden,
               Claim, Found, Carry, LeftOver, Window, Comm, Contention, Slack, Shortfall});
        labels({ComputeLabel, UsedLabel, ClaimLabel, FoundLabel, CarryLabel, NeedPartLabel});
        lines({PointerStart, Floor, Move, Pointer});
        marks();
        labels({RowLabel, FromLabel, ToLabel, NeedLabel, FloorLabel, PointerLabel, Tick, Message});
    }

private:
    void rects(std::initializer_list<SweepMark> roles) {
        for (const SweepMark role : roles) {
            for (const StepRect& item : scene_.rects) {
                if (item.role == role)
                    rect(item);
            }
        }
    }

    void rect(const StepRect& item) {
        switch (item.role) {
        case SweepMark::OverviewBar:
            return block(item.rect, mixed(t_.compute, t_.panel, 0.45), 3);
        case SweepMark::OverviewClaim:
            return p_.fillRect(item.rect, mixed(t_.gather, t_.panel, 0.75));
        case SweepMark::OverviewNow:
            return p_.fillRect(item.rect, t_.accent);
        case SweepMark::OverviewPage:
            return outline(item.rect.adjusted(-1, -2, 1, 2), t_.text, 1.2, 3);
        case SweepMark::ClaimLane:
            return p_.fillRect(item.rect, t_.dark ? t_.window : t_.field);
        case SweepMark::UsedUp:
            return p_.fillRect(item.rect, faded(t_.panel, 0.55));
        case SweepMark::Forbidden:
            return hatch(item.rect, faded(t_.muted, 0.5), 9, faded(t_.panel, 0.35));
        case SweepMark::Window:
            p_.fillRect(item.rect, faded(t_.accent, t_.dark ? 0.16 : 0.12));
            return outline(item.rect, t_.accent, 1.6 * s_, 3);
        case SweepMark::LeftOver:
        case SweepMark::Carry:
            return hatch(item.rect, faded(t_.accent, 0.9), 5, faded(t_.accent, 0.18));
        case SweepMark::Shortfall:
            hatch(item.rect, t_.limited, 5, mixed(t_.limited, t_.panel, 0.25));
            return outline(item.rect, t_.limited, 1, 0);
        default:
            return gapped(item.rect, fill(item.role));
        }
    }

    QColor fill(SweepMark role) const {
        switch (role) {
        case SweepMark::Compute:
            return t_.compute;
        case SweepMark::Claim:
            return claimFill();
        case SweepMark::Found:
            return t_.accent;
        case SweepMark::Comm:
            return t_.gather;
        case SweepMark::Contention:
            return mixed(t_.gather, t_.panel, 0.5);
        default:
            return t_.muted; // slack
        }
    }
    QColor claimFill() const { return mixed(t_.gather, t_.panel, t_.dark ? 0.55 : 0.45); }

    void block(const QRectF& rect, const QColor& color, double radius) {
        p_.setRenderHint(QPainter::Antialiasing, true);
        p_.setPen(Qt::NoPen);
        p_.setBrush(color);
        p_.drawRoundedRect(rect, radius, radius);
        p_.setRenderHint(QPainter::Antialiasing, false);
    }

    /// A hairline between neighbours, where there is room for one.
    void gapped(const QRectF& rect, const QColor& color) {
        QRectF box(std::round(rect.left()), rect.top(), 0, rect.height());
        box.setRight(std::max(box.left() + 1, std::round(rect.right()) - (rect.width() >= 4 ? 1 : 0)));
        if (box.width() >= 8)
            block(box, color, 2);
        else
            p_.fillRect(box, color);
    }

    void outline(const QRectF& rect, const QColor& color, double width, double radius) {
        p_.setRenderHint(QPainter::Antialiasing, true);
        p_.setPen(QPen(color, width));
        p_.setBrush(Qt::NoBrush);
        p_.drawRoundedRect(rect, radius, radius);
        p_.setRenderHint(QPainter::Antialiasing, false);
    }

    void hatch(const QRectF& rect, const QColor& color, double distance, const QColor& ground) {
        p_.fillRect(rect, ground);
        distance *= s_;
        QVector<QLineF> strokes;
        const double low = rect.left() + rect.top();
        for (double c = std::ceil(low / distance) * distance; c < rect.right() + rect.bottom();
             c += distance) {
            const double x1 = std::max(rect.left(), c - rect.bottom());
            const double x2 = std::min(rect.right(), c - rect.top());
            if (x2 > x1)
                strokes.push_back(QLineF(x1, c - x1, x2, c - x2));
        }
        p_.setRenderHint(QPainter::Antialiasing, true);
        p_.setPen(QPen(color, 1));
        p_.drawLines(strokes);
        p_.setRenderHint(QPainter::Antialiasing, false);
    }

    void lines(std::initializer_list<SweepMark> roles) {
        p_.setRenderHint(QPainter::Antialiasing, true);
        for (const SweepMark role : roles) {
            for (const StepLine& item : scene_.lines) {
                if (item.role == role)
                    line(item);
            }
        }
        p_.setRenderHint(QPainter::Antialiasing, false);
    }

    void line(const StepLine& item) {
        p_.setBrush(Qt::NoBrush);
        switch (item.role) {
        case SweepMark::Funnel:
            p_.setPen(Qt::NoPen);
            p_.setBrush(t_.field);
            p_.drawPolygon(item.points);
            return;
        case SweepMark::Tick:
            p_.setPen(QPen(t_.border, 1));
            break;
        case SweepMark::PointerStart:
            p_.setPen(QPen(t_.muted, s_, Qt::DotLine));
            break;
        case SweepMark::Floor:
            p_.setPen(QPen(t_.text, 1.6 * s_, Qt::DashLine));
            break;
        case SweepMark::Pointer:
            p_.setPen(QPen(t_.text, 1.8 * s_));
            p_.drawPolyline(item.points);
            p_.setPen(Qt::NoPen);
            p_.setBrush(t_.text);
            p_.drawEllipse(item.points.back(), 3 * s_, 3 * s_);
            return;
        default:
            p_.setPen(QPen(t_.accent, 1.6 * s_, Qt::DashLine, Qt::FlatCap, Qt::RoundJoin));
        }
        p_.drawPolyline(item.points);
    }

    /// Triangles that point at their place: hollow where the launch was, filled where it is.
    void marks() {
        p_.setRenderHint(QPainter::Antialiasing, true);
        for (const StepMark& item : scene_.marks) {
            const bool own = item.role == SweepMark::LaunchFrom || item.role == SweepMark::LaunchTo;
            const double size = (own ? 8 : 5.5) * s_;
            const QPolygonF shape{item.tip, item.tip + QPointF(-0.62 * size, -1.5 * size),
                                  item.tip + QPointF(0.62 * size, -1.5 * size)};
            const bool filled = item.role == SweepMark::LaunchDone || item.role == SweepMark::LaunchTo;
            const QColor color = own ? t_.accent : t_.gather;
            p_.setPen(QPen(color, 1.4 * s_, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
            p_.setBrush(filled ? color : t_.panel);
            p_.drawPolygon(shape);
        }
        p_.setRenderHint(QPainter::Antialiasing, false);
    }

    static bool onGround(SweepMark role) {
        return role == SweepMark::CarryLabel || role == SweepMark::FloorLabel ||
               role == SweepMark::PointerLabel || role == SweepMark::NeedLabel ||
               role == SweepMark::FromLabel || role == SweepMark::ToLabel;
    }

    int px(double size) const { return static_cast<int>(std::lround(size * s_)); }

    void labels(std::initializer_list<SweepMark> roles) {
        for (const SweepMark role : roles) {
            style(role);
            const QFontMetricsF metrics(p_.font());
            for (const StepLabel& item : scene_.labels) {
                if (item.role == role)
                    label(item, metrics);
            }
        }
    }

    void style(SweepMark role) {
        p_.setPen(t_.muted);
        p_.setFont(Theme::font(px(11)));
        switch (role) {
        case SweepMark::ComputeLabel:
        case SweepMark::FoundLabel:
            p_.setPen(inkOn(t_.compute, t_));
            break;
        case SweepMark::ClaimLabel:
            p_.setPen(t_.text);
            break;
        case SweepMark::CarryLabel:
            p_.setFont(Theme::font(px(10)));
            p_.setPen(t_.accent);
            break;
        case SweepMark::NeedPartLabel:
            p_.setFont(Theme::font(px(10)));
            p_.setPen(t_.dark ? t_.window : t_.text);
            break;
        case SweepMark::FromLabel:
        case SweepMark::ToLabel:
            p_.setFont(Theme::font(px(11), QFont::DemiBold));
            p_.setPen(t_.accent);
            break;
        case SweepMark::NeedLabel:
        case SweepMark::PointerLabel:
            p_.setFont(Theme::font(px(11), QFont::DemiBold));
            p_.setPen(t_.text);
            break;
        case SweepMark::FloorLabel:
            p_.setPen(t_.text);
            break;
        case SweepMark::Tick:
            p_.setFont(Theme::font(px(10)));
            break;
        case SweepMark::Message:
            p_.setFont(Theme::font(px(13)));
            break;
        default:
            break;
        }
    }

    void label(const StepLabel& item, const QFontMetricsF& metrics) {
        QString text = item.text;
        if (item.role == SweepMark::Message) {
            p_.drawText(item.rect, static_cast<int>(item.align) | Qt::TextWordWrap, text);
            return;
        }
        if (metrics.horizontalAdvance(text) > item.rect.width()) {
            text = metrics.elidedText(text, Qt::ElideRight, item.rect.width());
            if (text.size() < kLeastChars || item.role == SweepMark::CarryLabel)
                return;
        }
        const bool right = item.align & Qt::AlignRight;
        const double width = metrics.horizontalAdvance(text);
        const double x = item.align & Qt::AlignHCenter ? item.rect.center().x() - width / 2
                         : right                       ? item.rect.right() - width
                                                       : item.rect.left();
        // What runs behind it must not cross it out.
        if (onGround(item.role))
            p_.fillRect(
                QRectF(x - 3, item.rect.center().y() - metrics.height() / 2, width + 6, metrics.height()),
                t_.panel);
        p_.drawText(QPointF(x, item.rect.center().y() + (metrics.ascent() - metrics.descent()) / 2), text);
    }

    QPainter& p_;
    const StepScene& scene_;
    const Theme& t_;
    double s_;
};

} // namespace

void paintStepScene(QPainter& painter, const StepScene& scene, const Theme& theme) {
    painter.save();
    StepPainter(painter, scene, theme).paint();
    painter.restore();
}

} // namespace gs

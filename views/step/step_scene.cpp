#include "views/step/step_scene.h"

#include "base/units.h"
#include "views/step/step_text.h"
#include "views/timeline/timeline_text.h"

#include <algorithm>
#include <cmath>

namespace gs {

namespace {

// Heights and distances at scale 1. What is left of the height goes to the strip.
constexpr double kMargin = 14, kGutter = 84;
constexpr double kOverviewHeight = 18, kFunnelHeight = 10, kMarksHeight = 46;
constexpr double kClaimHeight = 24, kNeedGap = 5, kNeedHeight = 16;
constexpr double kFlagHeight = 16, kRulerHeight = 18;
constexpr double kLeastStrip = 26, kMostStrip = 170;
constexpr double kMarkReach = 7;     ///< a click so near hits a launch
constexpr double kLeastLabelPx = 30; ///< narrower blocks carry no text
constexpr double kMergePx = 3;       ///< narrower nodes are drawn as runs

class SceneBuilder {
public:
    SceneBuilder(const StepData& data, const StepRequest& request)
        : data_(data), request_(request), s_(request.scale), plot_(stepPlot(request)),
          axis_(stepAxis(request)), all_(data.full(), axis_.width()) {}

    StepScene build() {
        scene_.scale = s_;
        if (data_.size() == 0) {
            scene_.labels.push_back(
                {QRectF(QPointF(), request_.size), data_.message, SweepMark::Message, Qt::AlignCenter});
            return std::move(scene_);
        }
        arrange();
        addOverview();
        addCompute();
        addClaims();
        addWindow();
        addNeed();
        addLaunches();
        addMove();
        addFlags();
        addRuler();
        return std::move(scene_);
    }

private:
    const SweepStep& step() const { return data_.step(request_.step); }
    const Decision& decision() const { return data_.decision(request_.step); }
    double x(int64_t time) const { return plot_.left() + axis_.pixelOf(time); }
    double overviewX(int64_t time) const { return plot_.left() + all_.pixelOf(time); }
    bool visible(int64_t begin, int64_t end) const {
        return begin <= request_.range.end_ns && end >= request_.range.begin_ns;
    }

    void arrange() {
        const auto row = [&](double y, double height) {
            return QRectF(plot_.left(), y, plot_.width(), height);
        };
        const double fixed = (4 + kOverviewHeight + kFunnelHeight + kMarksHeight + kClaimHeight + kNeedGap +
                              kNeedHeight + 4 + 2 * kFlagHeight + kRulerHeight) *
                             s_;
        const double strip = std::clamp(request_.size.height() - fixed, kLeastStrip * s_, kMostStrip * s_);
        // Height beyond what the strip takes stays above and below, not between the rows.
        double y = 4 * s_ + std::max(0.0, request_.size.height() - fixed - strip) / 3;
        scene_.overview = row(y, kOverviewHeight * s_);
        y += (kOverviewHeight + kFunnelHeight) * s_;
        marks_top_ = y;
        y += kMarksHeight * s_;
        scene_.compute = row(y, strip);
        scene_.claims = row(y + strip, kClaimHeight * s_);
        y = scene_.claims.bottom() + kNeedGap * s_;
        scene_.need = row(y, kNeedHeight * s_);
        flags_top_ = scene_.need.bottom() + 4 * s_;
        scene_.ruler = row(flags_top_ + 2 * kFlagHeight * s_, kRulerHeight * s_);
        rowLabel(scene_.overview, StepText::tr("program"));
        rowLabel(row(scene_.compute.top() - 22 * s_, 20 * s_), StepText::tr("launches"));
        rowLabel(scene_.compute, StepText::tr("compute"));
        rowLabel(scene_.claims, StepText::tr("claimed by"));
        rowLabel(scene_.need, StepText::tr("need"));
    }

    void rowLabel(const QRectF& row, const QString& text) {
        const QRectF rect(kMargin, row.top(), plot_.left() - kMargin - 8, row.height());
        scene_.labels.push_back({rect, text, SweepMark::RowLabel});
    }

    /// Cut at the edges of the plot; nothing if it lies outside.
    void stretch(int64_t begin, int64_t end, const QRectF& row, SweepMark role, int of = -1,
                 NodeId node = kNoNode) {
        if (begin >= end || !visible(begin, end))
            return;
        const double left = std::max(plot_.left(), x(begin));
        const double right = std::min(plot_.right(), x(end));
        if (right > left)
            scene_.rects.push_back({QRectF(left, row.top(), right - left, row.height()), role, of, node});
    }

    void label(const StepRect& block, const QString& text, SweepMark role) {
        if (block.rect.width() >= kLeastLabelPx * s_)
            scene_.labels.push_back(
                {block.rect.adjusted(5 * s_, 0, -3 * s_, 0), text, role, Qt::AlignLeft | Qt::AlignVCenter});
    }

    void part(int64_t begin, int64_t end, const QRectF& row, SweepMark role, const QString& text,
              SweepMark text_role) {
        const size_t before = scene_.rects.size();
        stretch(begin, end, row, role);
        if (scene_.rects.size() > before)
            label(StepRect(scene_.rects.back()), text, text_role);
    }

    void overview(TimeRange range, SweepMark role, double least) {
        const double left = overviewX(range.begin_ns);
        const double width = std::max(least, overviewX(range.end_ns) - left);
        scene_.rects.push_back({QRectF(std::min(left, plot_.right() - width), scene_.overview.top(), width,
                                       scene_.overview.height()),
                                role});
    }

    void addOverview() {
        scene_.rects.push_back({scene_.overview, SweepMark::OverviewBar});
        // Claims come from the right without order faults of more than a few: neighbours become one mark.
        std::optional<TimeRange> run;
        const int64_t gap = all_.span(1);
        for (size_t i = 0; i < request_.step; ++i) {
            const TimeRange claim = data_.claim(i);
            if (claim.length() <= 0)
                continue;
            if (run && claim.end_ns >= run->begin_ns - gap && claim.begin_ns <= run->end_ns) {
                run = TimeRange{std::min(run->begin_ns, claim.begin_ns), std::max(run->end_ns, claim.end_ns)};
                continue;
            }
            if (run)
                overview(*run, SweepMark::OverviewClaim, 1);
            run = claim;
        }
        if (run)
            overview(*run, SweepMark::OverviewClaim, 1);
        overview(windowNow(), SweepMark::OverviewNow, 3 * s_);
        overview({std::max<int64_t>(0, request_.range.begin_ns), request_.range.end_ns},
                 SweepMark::OverviewPage, 6 * s_);
        const QRectF page = scene_.rects.back().rect;
        if (page.width() < plot_.width() - 1)
            scene_.lines.push_back({QPolygonF{page.bottomLeft(), page.bottomRight(),
                                              QPointF(plot_.right(), page.bottom() + kFunnelHeight * s_),
                                              QPointF(plot_.left(), page.bottom() + kFunnelHeight * s_)},
                                    SweepMark::Funnel});
    }

    /// Found so far, carry included.
    TimeRange windowNow() const {
        return {data_.front(request_.step, request_.fill),
                data_.at(step().start) + std::llround(decision().carry_in_ns)};
    }

    void addCompute() {
        const int64_t merge = axis_.span(kMergePx);
        for (const SliceRun& run :
             data_.compute.query(request_.range.begin_ns, request_.range.end_ns, merge, merge)) {
            const NodeId node = run.count() == 1 ? data_.compute[run.first].id : kNoNode;
            const size_t before = scene_.rects.size();
            stretch(run.start_ns, run.end_ns, scene_.compute, SweepMark::Compute, -1, node);
            if (scene_.rects.size() > before && node != kNoNode)
                computeText(scene_.rects.back(), run, computeLabel(data_.graph(), node));
        }
    }

    /// On the part of a node that is free, or on the one that is used up: whichever comes first with room.
    void computeText(StepRect block, const SliceRun& run, const QString& text) {
        if (block.rect.width() < kLeastLabelPx * s_)
            return;
        const int64_t left = std::max(run.start_ns, request_.range.begin_ns);
        const int claim = data_.claimOver({left, run.end_ns}, request_.step);
        const int64_t border = claim < 0 ? run.end_ns : data_.claim(static_cast<size_t>(claim)).begin_ns;
        if (claim >= 0 && border > left) { // the node is free up to there
            if (x(border) - block.rect.left() >= 2 * kLeastLabelPx * s_) {
                block.rect.setRight(x(border));
                return label(block, text, SweepMark::ComputeLabel);
            }
            block.rect.setLeft(x(border));
        }
        label(block, text, claim < 0 ? SweepMark::ComputeLabel : SweepMark::UsedLabel);
    }

    void addClaims() {
        scene_.rects.push_back({scene_.claims, SweepMark::ClaimLane});
        for (size_t i = 0; i < request_.step; ++i) {
            const TimeRange claim = data_.claim(i);
            if (!visible(claim.begin_ns, claim.end_ns))
                continue;
            stretch(claim.begin_ns, claim.end_ns, scene_.compute, SweepMark::UsedUp, static_cast<int>(i));
            const size_t before = scene_.rects.size();
            stretch(claim.begin_ns, claim.end_ns, scene_.claims, SweepMark::Claim, static_cast<int>(i));
            if (scene_.rects.size() > before && scene_.rects.back().rect.width() >= kLeastLabelPx * s_)
                label(scene_.rects.back(), shortGather(data_, i), SweepMark::ClaimLabel);
        }
    }

    void addWindow() {
        const TimeRange now = windowNow();
        const int64_t start = data_.at(step().start);
        stretch(now.begin_ns, now.end_ns, scene_.compute.united(scene_.claims), SweepMark::Window);
        part(start, now.end_ns, scene_.claims, SweepMark::Carry, StepText::tr("carried"),
             SweepMark::CarryLabel);
        // Beyond the need: only once the walk has come so far.
        const int64_t need_end = now.end_ns - std::llround(decision().need_ns);
        const int64_t beyond = step().left_over_ns > 0 ? std::min(start, need_end) : now.begin_ns;
        part(std::max(now.begin_ns, beyond), start, scene_.claims, SweepMark::Found,
             shortGather(data_, request_.step), SweepMark::FoundLabel);
        if (request_.fill >= 1)
            part(now.begin_ns, now.begin_ns + std::llround(step().left_over_ns), scene_.claims,
                 SweepMark::LeftOver, StepText::tr("left over"), SweepMark::CarryLabel);
    }

    /// From the right edge of the window to the left, on the same scale: what covers it is above it.
    void addNeed() {
        const Decision& d = decision();
        const int64_t end = windowNow().end_ns;
        const int64_t slack = std::llround(std::min(data_.sweep.settings.slack_ns, d.need_ns));
        const int64_t comm = std::llround(std::min(d.comm_ns, d.need_ns));
        const int64_t need = std::llround(d.need_ns);
        const bool is_short = d.verdict == Verdict::ComputeLimited && request_.fill >= 1;
        const auto piece = [&](int64_t from, int64_t to, SweepMark role, const QString& text) {
            if (is_short) // its texts would lie on the hatch
                stretch(from, to, scene_.need, role);
            else
                part(from, to, scene_.need, role, text, SweepMark::NeedPartLabel);
        };
        piece(end - comm, end, SweepMark::Comm, StepText::tr("transfer"));
        piece(end - need + slack, end - comm, SweepMark::Contention, StepText::tr("contention"));
        stretch(end - need, end - need + slack, scene_.need, SweepMark::Slack);
        if (is_short)
            stretch(end - need, end - std::llround(d.window_ns), scene_.need, SweepMark::Shortfall);
        const double left = std::clamp(x(end - need), plot_.left(), plot_.right());
        const double right = std::clamp(x(end), plot_.left(), plot_.right());
        const QString text =
            d.verdict == Verdict::ComputeLimited && request_.fill >= 1
                ? StepText::tr("%1 · %2 short").arg(stepTime(d.need_ns), stepTime(d.need_ns - d.window_ns))
                : stepTime(d.need_ns);
        const double room = 150 * s_;
        const bool behind = right + room <= plot_.right() || left - plot_.left() < room;
        const QRectF rect = behind
                                ? QRectF(right + 6 * s_, scene_.need.top(), room, scene_.need.height())
                                : QRectF(left - room - 6 * s_, scene_.need.top(), room, scene_.need.height());
        scene_.labels.push_back(
            {rect, text, SweepMark::NeedLabel, (behind ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter});
    }

    void mark(int64_t time, SweepMark role, size_t of) {
        if (visible(time, time))
            scene_.marks.push_back({QPointF(x(time), scene_.compute.top() - 1), role, static_cast<int>(of)});
    }

    void addLaunches() {
        for (size_t i = data_.size(); i-- > 0;) {
            if (i == request_.step)
                continue;
            if (i < request_.step)
                mark(data_.at(data_.step(i).target), SweepMark::LaunchDone, i);
            else
                mark(data_.at(data_.decision(i).cur), SweepMark::LaunchAhead, i);
        }
        mark(data_.at(decision().cur), SweepMark::LaunchFrom, request_.step);
        if (request_.fill >= 1)
            mark(data_.at(step().target), SweepMark::LaunchTo, request_.step);
    }

    /// The launch's way, with its two places named. A launch that is not on the page is named at its edge.
    void addMove() {
        const double from = x(data_.at(decision().cur));
        const double to = x(data_.at(step().target));
        const double edge = plot_.right();
        const double base = scene_.compute.top() - 18 * s_;
        const double top = marks_top_ + 16 * s_;
        const double text_y = marks_top_;
        const bool outside = from > edge;
        const bool done = request_.fill >= 1 && step().target != decision().cur;
        const auto text = [&](double at, const QString& words, SweepMark role, bool to_left) {
            const double room = 230 * s_;
            const double left = std::clamp(to_left ? at - room : at, plot_.left(), edge - room);
            scene_.labels.push_back({QRectF(left, text_y, room, 15 * s_), words, role,
                                     (to_left ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter});
        };
        if (done)
            scene_.lines.push_back(
                {QPolygonF{QPointF(std::min(from, edge), outside ? top : base),
                           QPointF(std::min(from, edge), top), QPointF(to, top), QPointF(to, base)},
                 SweepMark::Move});
        const QString here = StepText::tr("launch: %1").arg(placeText(decision().cur));
        const bool crowded = std::abs(from - to) < 240 * s_;
        if (done && crowded) {
            const bool left_side = from + 230 * s_ > edge;
            text(left_side ? to : std::min(from, edge),
                 here + QStringLiteral(" → ") + QString::fromStdString(formatCount(step().target)),
                 SweepMark::ToLabel, left_side);
            return;
        }
        if (outside)
            text(edge, here + QStringLiteral(" ▸"), SweepMark::FromLabel, true);
        else
            text(from, here, SweepMark::FromLabel, from + 230 * s_ > edge);
        if (done)
            text(to, StepText::tr("new place: %1").arg(placeText(step().target)), SweepMark::ToLabel,
                 to + 230 * s_ > edge || to - plot_.left() > 230 * s_);
    }

    void addFlags() {
        const double top = scene_.compute.top(), bottom = flags_top_;
        const double wide = 260 * s_;
        const auto flag = [&](double at, int row, const QString& text, SweepMark role, bool to_left) {
            const double left = std::clamp(to_left ? at - wide - 5 * s_ : at + 5 * s_, plot_.left(),
                                           std::max(plot_.left(), plot_.right() - wide));
            scene_.labels.push_back(
                {QRectF(left, flags_top_ + row * kFlagHeight * s_, wide, kFlagHeight * s_), text, role,
                 (to_left ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter});
        };
        const int64_t floor = data_.at(decision().floor);
        const QString floor_text = floorText(data_, request_.step);
        const bool room = floor > request_.range.begin_ns + axis_.span(2);
        if (room && visible(floor, floor)) {
            stretch(request_.range.begin_ns, floor, scene_.compute.united(scene_.claims),
                    SweepMark::Forbidden);
            scene_.lines.push_back(
                {QPolygonF{QPointF(x(floor), top), QPointF(x(floor), bottom + kFlagHeight * s_)},
                 SweepMark::Floor});
            flag(x(floor), 0, floor_text, SweepMark::FloorLabel, x(floor) + wide > plot_.right());
        } else {
            flag(plot_.left() - 5 * s_, 0,
                 (floor <= 0 ? QString() : QStringLiteral("◂ ")) + floor_text + QStringLiteral(" · ") +
                     placeText(decision().floor),
                 SweepMark::FloorLabel, false);
        }
        const int64_t before = data_.at(step().pointer);
        if (request_.step > 0 && visible(before, before))
            scene_.lines.push_back(
                {QPolygonF{QPointF(x(before), top), QPointF(x(before), scene_.need.bottom())},
                 SweepMark::PointerStart});
        const int64_t now = data_.front(request_.step, request_.fill);
        const double at = std::clamp(x(now), plot_.left(), plot_.right());
        scene_.lines.push_back(
            {QPolygonF{QPointF(at, top - 4 * s_), QPointF(at, bottom + 2 * kFlagHeight * s_)},
             SweepMark::Pointer});
        flag(at, 1, pointerText(now), SweepMark::PointerLabel, at + wide > plot_.right());
    }

    QString pointerText(int64_t now) const {
        if (request_.fill >= 1)
            return StepText::tr("pointer · %1").arg(placeText(step().target));
        const size_t slice = data_.compute.firstEndingAfter(now);
        const NodeId node = slice < data_.compute.size() ? data_.compute[slice].id : step().start;
        return StepText::tr("pointer · %1").arg(placeText(node));
    }

    void addRuler() {
        const Ticks ticks = niceTicks(axis_, 110 * s_);
        for (const int64_t time : ticks.times) {
            const double at = x(time);
            const double half = 45 * s_;
            if (time < 0 || at < plot_.left() || at + half > plot_.right() + 6)
                continue;
            scene_.lines.push_back(
                {QPolygonF{QPointF(at, scene_.compute.top()), QPointF(at, scene_.ruler.top() + 3)},
                 SweepMark::Tick});
            scene_.labels.push_back({QRectF(at - half, scene_.ruler.top(), 2 * half, scene_.ruler.height()),
                                     QString::fromStdString(formatTick(time, ticks.step_ns)), SweepMark::Tick,
                                     Qt::AlignCenter});
        }
    }

    const StepData& data_;
    const StepRequest& request_;
    double s_;
    QRectF plot_;
    TimeAxis axis_;
    TimeAxis all_;
    double marks_top_ = 0;
    double flags_top_ = 0;
    StepScene scene_;
};

} // namespace

QRectF stepPlot(const StepRequest& request) {
    const double left = kMargin + kGutter * request.scale;
    return {left, 0, std::max(10.0, request.size.width() - left - kMargin), request.size.height()};
}

TimeAxis stepAxis(const StepRequest& request) {
    return {request.range, static_cast<int>(stepPlot(request).width())};
}

StepScene buildStepScene(const StepData& data, const StepRequest& request) {
    return SceneBuilder(data, request).build();
}

int StepScene::stepAt(const QPointF& position) const {
    const StepMark* best = nullptr;
    for (const StepMark& mark : marks) {
        const bool near = std::abs(position.x() - mark.tip.x()) <= kMarkReach * scale &&
                          position.y() <= mark.tip.y() + 2 && position.y() >= mark.tip.y() - 18 * scale;
        if (near && (!best || std::abs(position.x() - mark.tip.x()) < std::abs(position.x() - best->tip.x())))
            best = &mark;
    }
    if (best)
        return best->step;
    for (const StepRect& rect : rects) {
        if (rect.role == SweepMark::Claim && rect.rect.contains(position))
            return rect.step;
    }
    return -1;
}

const StepRect* StepScene::computeAt(const QPointF& position) const {
    for (const StepRect& rect : rects) {
        if (rect.role == SweepMark::Compute && rect.node != kNoNode && rect.rect.contains(position))
            return &rect;
    }
    return nullptr;
}

} // namespace gs

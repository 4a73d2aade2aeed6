#include "views/graph/box_picture.h"

#include "views/ink.h"
#include <QFontMetricsF>
#include <QPainter>

#include <cmath>

namespace gs {

namespace {

constexpr double kTextPad = 12; ///< left and right of the text
constexpr double kMinWidth = 100;
constexpr double kOneLine = 34, kTwoLines = 44, kParameterHeight = 28, kPortalHeight = 22,
                 kPortalTwoLines = 36;
constexpr double kMoveMargin = 24; ///< room for the arrow of a move, left of the boxes
constexpr double kLegible = 0.5;   ///< below this scale texts are left out
constexpr int kTitlePixels = 12, kDetailPixels = 11;

QString fromStd(const std::string& text) {
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

QFont titleFont(BoxRole role) {
    return role == BoxRole::Portal ? Theme::font(kDetailPixels) : Theme::font(kTitlePixels, QFont::Medium);
}

QPainterPath toPath(const std::vector<LayoutPoint>& points) {
    QPainterPath path;
    if (points.size() < 4)
        return path;
    path.moveTo(points[0].x, points[0].y);
    for (size_t i = 1; i + 2 < points.size(); i += 3)
        path.cubicTo(points[i].x, points[i].y, points[i + 1].x, points[i + 1].y, points[i + 2].x,
                     points[i + 2].y);
    return path;
}

} // namespace

namespace {

/// Cut to `room`. The end of a module path tells more than its beginning.
QString elided(const QFontMetricsF& metrics, const QString& text, double room) {
    const bool path = text.contains(QLatin1Char('.')) && !text.contains(QLatin1Char(' '));
    QString out = metrics.elidedText(text, path ? Qt::ElideLeft : Qt::ElideRight, room);
    if (out.startsWith(QStringLiteral("\u2026.")))
        out.remove(1, 1);
    return out;
}

} // namespace

namespace {

struct BoxRooms {
    double box = 0, portal = 0;
    bool split = false; ///< details on a line of their own in every box, so that neighbours look alike
};

QString oneLine(const LayoutBox& box) {
    const QString title = fromStd(box.title), detail = fromStd(box.detail);
    const bool sentence = box.role == BoxRole::Portal || detail.startsWith(QChar(0x2192));
    return detail.isEmpty() ? title
                            : title + (sentence ? QStringLiteral(" ") : QStringLiteral(" · ")) + detail;
}

/// Text of one box and the width it takes.
BoxText measureText(const LayoutBox& box, const BoxRooms& rooms, double& width) {
    const QFontMetricsF metrics(titleFont(box.role)), detail_metrics(Theme::font(kDetailPixels));
    const bool portal = box.role == BoxRole::Portal;
    const double room = portal ? rooms.portal : rooms.box;
    const QString line = oneLine(box);
    BoxText text;
    const bool fits = metrics.horizontalAdvance(line) <= room;
    if (box.detail.empty() || (fits && (portal || !rooms.split))) {
        text.title = fits ? line : elided(metrics, line, room);
        width = metrics.horizontalAdvance(text.title);
        return text;
    }
    text.two_lines = true;
    text.title = elided(metrics, fromStd(box.title), room);
    text.detail = elided(detail_metrics, fromStd(box.detail), room);
    width = std::max(metrics.horizontalAdvance(text.title), detail_metrics.horizontalAdvance(text.detail));
    return text;
}

double boxHeight(BoxRole role, bool two_lines) {
    if (role == BoxRole::Portal)
        return two_lines ? kPortalTwoLines : kPortalHeight;
    return two_lines ? kTwoLines : role == BoxRole::Parameter ? kParameterHeight : kOneLine;
}

} // namespace

MeasuredBoxes measureBoxes(const LayoutGraph& picture, double pane_width) {
    MeasuredBoxes out;
    const bool column = std::any_of(picture.links.begin(), picture.links.end(),
                                    [](const LayoutLink& link) { return link.spine; });
    // One column of boxes may fill the pane, else two stand beside each other.
    BoxRooms rooms;
    rooms.box =
        column ? std::clamp(pane_width * 0.62, 156.0, 260.0) : std::clamp(pane_width / 2 - 44, 108.0, 180.0);
    rooms.portal = std::clamp(pane_width * 0.3, 92.0, 170.0);
    const QFontMetricsF metrics(titleFont(BoxRole::Compute));
    rooms.split =
        !column && std::any_of(picture.boxes.begin(), picture.boxes.end(), [&](const LayoutBox& box) {
            return box.role != BoxRole::Portal && metrics.horizontalAdvance(oneLine(box)) > rooms.box;
        });
    for (const LayoutBox& box : picture.boxes) {
        double width = 0;
        BoxText text = measureText(box, rooms, width);
        width = std::ceil(width) + 2 * kTextPad;
        if (box.role != BoxRole::Portal)
            out.box_width = std::max(out.box_width, width);
        out.sizes.push_back({width, boxHeight(box.role, text.two_lines)});
        out.texts.push_back(std::move(text));
    }
    setBoxWidth(out, picture, std::max(out.box_width, kMinWidth));
    return out;
}

void setBoxWidth(MeasuredBoxes& measured, const LayoutGraph& picture, double width) {
    measured.box_width = width;
    for (size_t i = 0; i < picture.boxes.size(); ++i) {
        if (picture.boxes[i].role != BoxRole::Portal)
            measured.sizes[i].width = width;
    }
}

BoxStyle boxStyle(BoxRole role, const Theme& theme) {
    switch (role) {
    case BoxRole::Gather:
        return {theme.gather, theme.gather.darker(112), inkOn(theme.gather, theme)};
    case BoxRole::Collective:
        return {theme.other_comm, theme.other_comm.darker(112), inkOn(theme.other_comm, theme)};
    case BoxRole::Compute:
    case BoxRole::Folded:
        return {theme.compute, theme.compute.darker(112), inkOn(theme.compute, theme)};
    case BoxRole::Portal:
        return {Qt::transparent, theme.border, theme.accent};
    default:
        return {theme.field, theme.border, theme.text};
    }
}

QPen linkPen(LinkKind kind, const Theme& theme, bool strong) {
    QPen pen(strong ? theme.accent : theme.muted, strong ? 1.8 : 1.3);
    pen.setCapStyle(Qt::FlatCap);
    switch (kind) {
    case LinkKind::Data:
        break;
    case LinkKind::Effect:
        pen.setDashPattern({5, 3});
        break;
    case LinkKind::Advisory:
        pen.setCapStyle(Qt::RoundCap);
        pen.setWidthF(pen.widthF() + 0.3);
        pen.setDashPattern({0.1, 2.4});
        break;
    case LinkKind::Order: {
        QColor faint = theme.muted;
        faint.setAlphaF(0.45F);
        pen.setColor(faint);
        break;
    }
    }
    return pen;
}

void paintArrowHead(QPainter& painter, QPointF tip, QPointF direction, double size, const QColor& colour) {
    const double length = std::hypot(direction.x(), direction.y());
    if (length < 1e-6)
        return;
    const QPointF along = direction / length * size;
    const QPointF across(-along.y() * 0.5, along.x() * 0.5);
    painter.setPen(Qt::NoPen);
    painter.setBrush(colour);
    painter.drawPolygon(QPolygonF{tip, tip - along + across, tip - along - across});
    painter.setBrush(Qt::NoBrush);
}

BoxPicture::BoxPicture(LayoutGraph graph, MeasuredBoxes measured, Placement placement, double move_from_y)
    : graph_(std::move(graph)), texts_(std::move(measured.texts)), move_from_y_(move_from_y) {
    bounds_ = QRectF(0, 0, placement.width, placement.height);
    for (size_t i = 0; i < placement.boxes.size(); ++i) {
        // dot rounds sizes to 1/100 inch; the measured size is what the text needs
        const LayoutRect& r = placement.boxes[i];
        const LayoutSize& size = measured.sizes[i];
        boxes_.push_back(QRectF(r.x + (r.width - size.width) / 2, r.y + (r.height - size.height) / 2,
                                size.width, size.height));
        bounds_ |= boxes_.back();
    }
    for (const std::vector<LayoutPoint>& points : placement.links) {
        links_.push_back(toPath(points));
        bounds_ |= links_.back().controlPointRect();
    }
    if (move_from_y_ >= 0 && focusY() >= 0) {
        bounds_.setLeft(bounds_.left() - kMoveMargin);
        bounds_.setBottom(std::max(bounds_.bottom(), move_from_y_));
    }
}

double BoxPicture::focusY() const {
    const int box = mainBox();
    return box >= 0 && graph_.boxes[static_cast<size_t>(box)].focus
               ? boxes_[static_cast<size_t>(box)].center().y()
               : -1;
}

int BoxPicture::mainBox() const {
    for (size_t i = 0; i < graph_.boxes.size(); ++i) {
        if (graph_.boxes[i].focus)
            return static_cast<int>(i);
    }
    return boxes_.empty() ? -1 : 0;
}

bool BoxPicture::hasLinks(LinkKind kind) const {
    for (const LayoutLink& link : graph_.links) {
        if (link.kind == kind)
            return true;
    }
    return false;
}

int BoxPicture::boxAt(QPointF point, QSizeF slack) const {
    for (int i = boxCount() - 1; i >= 0; --i) { // later boxes are on top
        const QRectF& r = boxes_[static_cast<size_t>(i)];
        if (r.contains(point))
            return i;
    }
    for (int i = boxCount() - 1; i >= 0; --i) {
        const QRectF& r = boxes_[static_cast<size_t>(i)];
        if (r.adjusted(-slack.width(), -slack.height(), slack.width(), slack.height()).contains(point))
            return i;
    }
    return -1;
}

NodeId BoxPicture::jumpAt(QPointF point, QSizeF slack) const {
    const int box = boxAt(point, slack);
    if (box < 0)
        return kNoNode;
    const LayoutBox& at = graph_.boxes[static_cast<size_t>(box)];
    return at.role == BoxRole::Portal && !at.nodes.empty() ? at.nodes.front() : kNoNode;
}

int BoxPicture::step(int box, GraphStep step) const {
    if (box < 0)
        return boxes_.empty() ? -1 : 0;
    const QPointF here = boxes_[static_cast<size_t>(box)].center();
    int best = -1;
    double best_distance = 0;
    const auto consider = [&](int other) {
        const QPointF d = boxes_[static_cast<size_t>(other)].center() - here;
        const double distance = std::abs(d.y()) + std::abs(d.x()) * 0.5;
        if (other != box && (best < 0 || distance < best_distance)) {
            best = other;
            best_distance = distance;
        }
    };
    if (step == GraphStep::Up || step == GraphStep::Down) {
        for (const LayoutLink& link : graph_.links) {
            if (step == GraphStep::Up && link.to == static_cast<uint32_t>(box))
                consider(static_cast<int>(link.from));
            if (step == GraphStep::Down && link.from == static_cast<uint32_t>(box))
                consider(static_cast<int>(link.to));
        }
        return best;
    }
    for (int other = 0; other < boxCount(); ++other) {
        const QPointF d = boxes_[static_cast<size_t>(other)].center() - here;
        if (std::abs(d.y()) < std::abs(d.x()) && (d.x() < 0) == (step == GraphStep::Left))
            consider(other);
    }
    return best;
}

QRectF BoxPicture::titleRect(size_t box) const {
    const QRectF inner = boxes_[box].adjusted(kTextPad - 2, 0, -(kTextPad - 2), 0);
    if (!texts_[box].two_lines)
        return inner;
    return {inner.left(), inner.center().y() - 17, inner.width(), 18};
}

QRectF BoxPicture::detailRect(size_t box) const {
    const QRectF inner = boxes_[box].adjusted(kTextPad - 2, 0, -(kTextPad - 2), 0);
    return {inner.left(), inner.center().y() + 1, inner.width(), 15};
}

/// From where the launch was, left of the boxes, to where it is now.
QPainterPath BoxPicture::movePath() const {
    QPainterPath path;
    const double to = focusY();
    if (move_from_y_ < 0 || to < 0 || std::abs(move_from_y_ - to) < 4)
        return path;
    const double x = boxes_[static_cast<size_t>(mainBox())].left() - 3;
    const double bow = x - (kMoveMargin - 6) * 1.25;
    path.moveTo(x, move_from_y_);
    path.cubicTo(bow, move_from_y_ + (to - move_from_y_) * 0.2, bow, to - (to - move_from_y_) * 0.2, x, to);
    return path;
}

std::vector<GraphMark> BoxPicture::marks() const {
    std::vector<GraphMark> out;
    for (size_t i = 0; i < links_.size(); ++i)
        out.push_back({QString::fromLatin1(linkKindName(graph_.links[i].kind).data()),
                       links_[i].controlPointRect(),
                       {}});
    for (size_t i = 0; i < boxes_.size(); ++i) {
        out.push_back({QString::fromLatin1(boxRoleName(graph_.boxes[i].role).data()), boxes_[i],
                       fromStd(graph_.boxes[i].title)});
        out.push_back({QStringLiteral("title"), titleRect(i), texts_[i].title});
        if (texts_[i].two_lines)
            out.push_back({QStringLiteral("detail"), detailRect(i), texts_[i].detail});
    }
    if (const QPainterPath move = movePath(); !move.isEmpty())
        out.push_back({QStringLiteral("move"), move.controlPointRect(), {}});
    return out;
}

void BoxPicture::paintLink(QPainter& painter, const GraphCamera& camera, size_t index,
                           const GraphMarks& marks, const Theme& theme) const {
    const LayoutLink& link = graph_.links[index];
    const auto touches = [&](int box) {
        return box >= 0 && (link.from == static_cast<uint32_t>(box) || link.to == static_cast<uint32_t>(box));
    };
    const bool strong = touches(marks.hovered) || touches(marks.cursor);
    QPen pen = linkPen(link.kind, theme, strong && link.kind != LinkKind::Order);
    pen.setWidthF(pen.widthF() * std::clamp(camera.sy, 0.6, 2.0));
    painter.setPen(pen);
    painter.setBrush(Qt::NoBrush);
    const QTransform transform(camera.sx, 0, 0, camera.sy, camera.ox, camera.oy);
    const QPainterPath path = transform.map(links_[index]);
    painter.drawPath(path);
    if (link.kind == LinkKind::Order || camera.sy < kLegible || path.elementCount() < 2)
        return;
    const QPointF tip = path.currentPosition();
    const QPointF before = path.pointAtPercent(std::max(0.0, path.percentAtLength(path.length() - 5)));
    paintArrowHead(painter, tip, tip - before, 6 * std::clamp(camera.sy, 0.6, 2.0), pen.color());
}

void BoxPicture::paintBox(QPainter& painter, const GraphCamera& camera, size_t index, const GraphMarks& marks,
                          const Theme& theme) const {
    const LayoutBox& box = graph_.boxes[index];
    const int at = static_cast<int>(index);
    const QRectF rect = camera.map(boxes_[index]);
    const BoxStyle style = boxStyle(box.role, theme);
    const bool selected = at == marks.selected || box.focus;
    const bool found = std::find(marks.found.begin(), marks.found.end(), at) != marks.found.end();
    const double radius = std::min(6.0, 6 * camera.sy);
    painter.setBrush(style.fill);
    QPen outline(selected ? theme.accent : style.outline, selected ? 1.8 : 1);
    if (box.role == BoxRole::Portal)
        outline.setStyle(at == marks.hovered ? Qt::SolidLine : Qt::NoPen);
    painter.setPen(outline);
    painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), radius, radius);
    if (found || at == marks.hovered || at == marks.cursor) {
        painter.setBrush(Qt::NoBrush);
        QPen ring(found ? theme.warning : theme.accent, found ? 2 : 1.2);
        if (at == marks.cursor)
            ring.setStyle(Qt::DotLine);
        if (box.role != BoxRole::Portal || found || at == marks.cursor) {
            painter.setPen(ring);
            painter.drawRoundedRect(rect.adjusted(-2.5, -2.5, 2.5, 2.5), radius + 2, radius + 2);
        }
    }
    if (box.floor) { // a bar above: nothing of the focus goes higher than this box
        painter.fillRect(QRectF(rect.left(), rect.bottom() - 3 * camera.sy, rect.width(), 3 * camera.sy),
                         theme.warning);
    }
    if (camera.sy < kLegible)
        return;
    // The painter scales the text, not the font size, so that it fills its box alike at every zoom.
    painter.save();
    painter.translate(camera.ox, camera.oy);
    painter.scale(camera.sx, camera.sy);
    painter.setFont(titleFont(box.role));
    painter.setPen(style.text);
    painter.drawText(titleRect(index), Qt::AlignCenter | Qt::TextSingleLine, texts_[index].title);
    if (texts_[index].two_lines) {
        painter.setFont(Theme::font(kDetailPixels));
        QColor colour = style.text;
        colour.setAlphaF(0.82F);
        painter.setPen(colour);
        painter.drawText(detailRect(index), Qt::AlignCenter | Qt::TextSingleLine, texts_[index].detail);
    }
    painter.restore();
}

void BoxPicture::paintMove(QPainter& painter, const GraphCamera& camera, const Theme& theme) const {
    const QPainterPath move = movePath();
    if (move.isEmpty())
        return;
    QPen pen(theme.accent, 1.6 * std::clamp(camera.sy, 0.6, 2.0));
    pen.setDashPattern({3, 2.5});
    painter.setPen(pen);
    painter.setBrush(Qt::NoBrush);
    const QPainterPath path = QTransform(camera.sx, 0, 0, camera.sy, camera.ox, camera.oy).map(move);
    painter.drawPath(path);
    const QPointF tip = path.currentPosition();
    const QPointF before = path.pointAtPercent(path.percentAtLength(path.length() - 6));
    paintArrowHead(painter, tip, tip - before, 7 * std::clamp(camera.sy, 0.6, 2.0), theme.accent);
}

void BoxPicture::paint(QPainter& painter, const GraphCamera& camera, const QRectF& clip,
                       const GraphMarks& marks, const Theme& theme) const {
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing, camera.sy >= kLegible || boxes_.size() < 80);
    for (size_t i = 0; i < links_.size(); ++i) {
        if (camera.map(links_[i].controlPointRect()).adjusted(-8, -8, 8, 8).intersects(clip))
            paintLink(painter, camera, i, marks, theme);
    }
    for (size_t i = 0; i < boxes_.size(); ++i) {
        if (camera.map(boxes_[i]).adjusted(-4, -4, 4, 4).intersects(clip))
            paintBox(painter, camera, i, marks, theme);
    }
    paintMove(painter, camera, theme);
    painter.restore();
}

} // namespace gs

#include "views/graph/lane_picture.h"

#include "views/graph/box_picture.h"
#include "views/ink.h"

#include <QCoreApplication>
#include <QFontMetricsF>
#include <QPainter>
#include <QPainterPath>

#include <cmath>

namespace gs {

namespace {

struct LaneSpan {
    double left, width;
};
constexpr LaneSpan kLanes[kLaneCount] = {{0, 200}, {240, 240}, {512, 190}, {734, 266}};

constexpr double kBandScale = 0.1; ///< below this, rows melt into bands
constexpr double kTextRow = 12;    ///< pixels a row needs for its text
constexpr double kLinkRow = 3;     ///< pixels a row needs for its links
constexpr double kSmooth = 0.5;    ///< below this scale without antialiasing

QString laneTitle(size_t lane) {
    static const char* const kTitles[kLaneCount] = {
        QT_TRANSLATE_NOOP("LanePicture", "inputs"), QT_TRANSLATE_NOOP("LanePicture", "launches"),
        QT_TRANSLATE_NOOP("LanePicture", "waits"), QT_TRANSLATE_NOOP("LanePicture", "compute")};
    return QCoreApplication::translate("LanePicture", kTitles[lane]);
}

QRectF rowRect(uint32_t row, size_t lane) {
    return {kLanes[lane].left, row * LanePicture::kRowHeight + 2, kLanes[lane].width,
            LanePicture::kRowHeight - 4};
}

/// Keeps far ends near the canvas: rasterising lines of millions of pixels costs without being seen.
double clampY(double y, const QRectF& clip) {
    return std::clamp(y, clip.top() - 400, clip.bottom() + 400);
}

size_t laneOfShade(LaneShade shade) {
    switch (shade) {
    case LaneShade::Parameter:
        return 0;
    case LaneShade::Gather:
    case LaneShade::Collective:
        return 1;
    case LaneShade::Wait:
        return 2;
    default:
        return 3;
    }
}

} // namespace

QColor laneColour(LaneShade shade, const Theme& theme) {
    switch (shade) {
    case LaneShade::Gather:
        return theme.gather;
    case LaneShade::Collective:
        return theme.other_comm;
    case LaneShade::Compute:
        return theme.compute;
    default:
        return theme.field;
    }
}

QRectF LanePicture::bounds() const {
    return {0, 0, kWidth, static_cast<double>(lanes_->rows()) * kRowHeight};
}

QRectF LanePicture::boxRect(int box) const {
    const uint32_t row = static_cast<uint32_t>(box);
    return rowRect(row, static_cast<size_t>(lanes_->lanes[row]));
}

int LanePicture::boxAt(QPointF point, QSizeF slack) const {
    const double at = point.y() / kRowHeight;
    if (at < 0 || at >= static_cast<double>(lanes_->rows()))
        return -1;
    const auto hits = [&](int64_t row) {
        return row >= 0 && row < static_cast<int64_t>(lanes_->rows()) &&
               boxRect(static_cast<int>(row))
                   .adjusted(-slack.width(), -slack.height(), slack.width(), slack.height())
                   .contains(point);
    };
    const int64_t row = static_cast<int64_t>(at);
    // Zoomed out, the slack covers many rows; the nearest in the lane under the mouse wins.
    const int64_t reach = static_cast<int64_t>(slack.height() / kRowHeight) + 1;
    for (int64_t d = 0; d <= reach; ++d) {
        if (hits(row + d))
            return static_cast<int>(row + d);
        if (hits(row - d))
            return static_cast<int>(row - d);
    }
    return -1;
}

int LanePicture::boxOf(NodeId node) const {
    return node < lanes_->row_of.size() ? static_cast<int>(lanes_->row_of[node]) : -1;
}

std::vector<NodeId> LanePicture::boxNodes(int box) const {
    return {lanes_->order[static_cast<size_t>(box)]};
}

NodeId LanePicture::longEnd(uint32_t row, bool up) const {
    const Graph& graph = *lanes_->graph;
    const NodeId node = lanes_->order[row];
    for (NodeId other : up ? graph.inputs(node) : graph.users(node)) {
        const uint32_t other_row = lanes_->row_of[other];
        if (std::max(row, other_row) - std::min(row, other_row) > kMaxLaneSpan)
            return other;
    }
    return kNoNode;
}

/// Portals are the marks in the right corners of a box: up in the upper, down in the lower one.
NodeId LanePicture::jumpAt(QPointF point, QSizeF slack) const {
    const int box = boxAt(point, slack);
    if (box < 0)
        return kNoNode;
    const QRectF rect = boxRect(box);
    const uint32_t row = static_cast<uint32_t>(box);
    if (point.x() < rect.right() - rect.width() * 0.08)
        return kNoNode;
    const bool up = point.y() < rect.center().y();
    if (up ? lanes_->long_up[row] == 0 : lanes_->long_down[row] == 0)
        return kNoNode;
    return longEnd(row, up);
}

int LanePicture::step(int box, GraphStep step) const {
    if (lanes_->rows() == 0)
        return -1;
    if (box < 0)
        return 0;
    const Graph& graph = *lanes_->graph;
    const uint32_t row = static_cast<uint32_t>(box);
    const NodeId node = lanes_->order[row];
    if (step == GraphStep::Left)
        return box > 0 ? box - 1 : -1;
    if (step == GraphStep::Right)
        return row + 1 < lanes_->rows() ? box + 1 : -1;
    int best = -1;
    for (NodeId other : step == GraphStep::Up ? graph.inputs(node) : graph.users(node)) {
        const int at = static_cast<int>(lanes_->row_of[other]);
        if (best < 0 || std::abs(at - box) < std::abs(best - box))
            best = at;
    }
    return best;
}

LanePicture::Rows LanePicture::visibleRows(const GraphCamera& camera, const QRectF& clip) const {
    const double rows = static_cast<double>(lanes_->rows());
    const auto row = [&](double y) {
        return std::clamp((y - camera.oy) / camera.sy / kRowHeight, 0.0, rows);
    };
    return {static_cast<uint32_t>(std::floor(row(clip.top()))),
            static_cast<uint32_t>(std::ceil(row(clip.bottom())))};
}

void LanePicture::paintBands(QPainter& painter, const GraphCamera& camera, const QRectF& clip,
                             const Theme& theme) const {
    // Later shades of a lane win: a single gather must stay visible among its neighbours.
    static constexpr LaneShade kShades[] = {LaneShade::Parameter, LaneShade::View,       LaneShade::Compute,
                                            LaneShade::Wait,      LaneShade::Collective, LaneShade::Gather};
    const uint32_t rows = static_cast<uint32_t>(lanes_->rows());
    const double rows_per_pixel = 1 / (camera.sy * kRowHeight);
    const int top = static_cast<int>(std::floor(clip.top())),
              bottom = static_cast<int>(std::ceil(clip.bottom()));
    const auto rowAt = [&](int y) {
        return static_cast<uint32_t>(
            std::clamp((y - camera.oy) * rows_per_pixel, 0.0, static_cast<double>(rows)));
    };
    for (const LaneShade shade : kShades) {
        const std::vector<uint32_t>& counts = lanes_->counts[static_cast<size_t>(shade)];
        const LaneSpan lane = kLanes[laneOfShade(shade)];
        const double left = camera.ox + lane.left * camera.sx, width = lane.width * camera.sx;
        const bool strip =
            shade == LaneShade::Parameter || shade == LaneShade::View || shade == LaneShade::Wait;
        QColor colour = strip ? theme.muted : laneColour(shade, theme);
        int open = -1, open_level = 0; // runs of equal pixels are one rectangle
        for (int y = top; y <= bottom; ++y) {
            const uint32_t begin = rowAt(y), end = std::max(begin, rowAt(y + 1));
            const uint32_t count = y == bottom || begin >= rows ? 0 : counts[end] - counts[begin];
            const double share = count == 0 ? 0 : std::min(1.0, count / std::max(1.0, rows_per_pixel));
            const int level = count == 0 ? 0 : 1 + static_cast<int>(share * 3.99);
            if (level == open_level)
                continue;
            if (open_level > 0) {
                colour.setAlphaF(
                    static_cast<float>((strip ? 0.12 : 0.4) + (strip ? 0.06 : 0.15) * open_level));
                painter.fillRect(QRectF(left, open, width, y - open), colour);
            }
            open = y;
            open_level = level;
        }
    }
}

void LanePicture::paintText(QPainter& painter, const GraphCamera& camera, uint32_t row,
                            const Theme& theme) const {
    const NodeId node = lanes_->order[row];
    const std::string_view name = lanes_->graph->name(node);
    const QString text = QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()));
    const QFontMetricsF metrics(painter.font());
    const QRectF box = camera.map(boxRect(static_cast<int>(row)));
    const double width = metrics.horizontalAdvance(text);
    const LaneShade shade = lanes_->shades[row];
    const bool filled =
        shade == LaneShade::Gather || shade == LaneShade::Collective || shade == LaneShade::Compute;
    if (width + 8 <= box.width()) {
        painter.setPen(filled ? inkOn(laneColour(shade, theme), theme) : theme.text);
        painter.drawText(box.adjusted(4, 0, -4, 0), Qt::AlignVCenter | Qt::AlignLeft | Qt::TextSingleLine,
                         text);
        return;
    }
    // A row holds one box only: where the box is too narrow, the text stands beside it.
    const double left = camera.map(QPointF(0, 0)).x(), right = camera.map(QPointF(kWidth, 0)).x();
    const bool before = width > right - box.right() - 4 && box.left() - left > right - box.right();
    const double room = before ? box.left() - 4 - left : right - box.right() - 4;
    const QString shown = metrics.elidedText(text, Qt::ElideMiddle, room);
    const double shown_width = std::min(room, metrics.horizontalAdvance(shown));
    const QRectF rect(before ? box.left() - 4 - shown_width : box.right() + 4, box.top(), shown_width,
                      box.height());
    QColor behind = theme.panel;
    behind.setAlphaF(0.8F);
    painter.fillRect(rect, behind);
    painter.setPen(theme.text);
    painter.drawText(rect, Qt::AlignVCenter | Qt::AlignLeft | Qt::TextSingleLine, shown);
}

void LanePicture::paintBoxes(QPainter& painter, const GraphCamera& camera, Rows rows, const GraphMarks& marks,
                             const Theme& theme) const {
    const double row_pixels = kRowHeight * camera.sy;
    const bool text = row_pixels >= kTextRow;
    const bool round = row_pixels >= kTextRow;
    painter.setRenderHint(QPainter::Antialiasing, round);
    painter.setFont(Theme::font(std::clamp(qRound(row_pixels * 0.55), 8, 12)));
    for (uint32_t row = rows.begin; row < rows.end; ++row) {
        const QRectF rect = camera.map(boxRect(static_cast<int>(row)));
        const LaneShade shade = lanes_->shades[row];
        const QColor fill = laneColour(shade, theme);
        if (!round) {
            const bool faint = fill == theme.field;
            painter.fillRect(rect, faint ? theme.border : fill);
            continue;
        }
        const bool outlined = fill == theme.field;
        painter.setBrush(fill);
        painter.setPen(outlined ? QPen(theme.border, 1) : QPen(Qt::NoPen));
        painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), 3, 3);
        if (text)
            paintText(painter, camera, row, theme);
        painter.setPen(Qt::NoPen);
        painter.setBrush(outlined ? theme.muted : theme.on_accent);
        const double x = rect.right() - 5;
        if (lanes_->long_up[row] != 0)
            painter.drawPolygon(
                QPolygonF{{x - 3, rect.top() + 5}, {x + 3, rect.top() + 5}, {x, rect.top() + 1.5}});
        if (lanes_->long_down[row] != 0)
            painter.drawPolygon(
                QPolygonF{{x - 3, rect.bottom() - 5}, {x + 3, rect.bottom() - 5}, {x, rect.bottom() - 1.5}});
    }
    for (int box : marks.found) {
        if (static_cast<uint32_t>(box) >= rows.begin && static_cast<uint32_t>(box) < rows.end)
            paintRing(painter, camera, box, QPen(theme.warning, 2));
    }
}

void LanePicture::paintRing(QPainter& painter, const GraphCamera& camera, int box, QPen pen) const {
    QRectF rect = camera.map(boxRect(box));
    if (rect.height() < 4) // a ring around a pixel: widened so that it can be seen
        rect = QRectF(rect.left(), rect.center().y() - 2, rect.width(), 4);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(pen);
    painter.drawRoundedRect(rect.adjusted(-1, -1, 1, 1), 3, 3);
}

void LanePicture::paintLinks(QPainter& painter, const GraphCamera& camera, Rows rows,
                             const Theme& theme) const {
    const uint32_t first = rows.begin > kMaxLaneSpan ? rows.begin - kMaxLaneSpan : 0;
    auto it = std::lower_bound(lanes_->links.begin(), lanes_->links.end(), first,
                               [](const LaneLink& link, uint32_t row) { return link.from < row; });
    for (; it != lanes_->links.end() && it->from < rows.end; ++it) {
        if (it->to < rows.begin)
            continue;
        const QRectF a = camera.map(boxRect(static_cast<int>(it->from)));
        const QRectF b = camera.map(boxRect(static_cast<int>(it->to)));
        QPen pen = linkPen(it->kind, theme, false);
        QColor colour = pen.color();
        colour.setAlphaF(0.45F);
        pen.setColor(colour);
        pen.setWidthF(1);
        painter.setPen(pen);
        if (it->to == it->from + 1 && a.left() == b.left()) {
            painter.drawLine(QPointF(a.center().x(), a.bottom()), QPointF(b.center().x(), b.top()));
        } else if (a.left() == b.left()) { // same lane: a bow on the right
            const double bow = std::min(14.0, 4 + 1.0 * (it->to - it->from));
            QPainterPath path(QPointF(a.right(), a.center().y()));
            path.cubicTo(a.right() + bow, a.center().y(), b.right() + bow, b.center().y(), b.right(),
                         b.center().y());
            painter.drawPath(path);
        } else {
            const bool rightwards = a.left() < b.left();
            painter.drawLine(QPointF(rightwards ? a.right() : a.left(), a.center().y()),
                             QPointF(rightwards ? b.left() : b.right(), b.center().y()));
        }
    }
}

void LanePicture::paintTransfers(QPainter& painter, const GraphCamera& camera, Rows rows, const QRectF& clip,
                                 const Theme& theme) const {
    QColor colour = theme.gather;
    colour.setAlphaF(0.7F);
    for (const LaneLink& link : lanes_->transfers) {
        if (link.from >= rows.end)
            break;
        if (link.to < rows.begin)
            continue;
        const QRectF a = camera.map(boxRect(static_cast<int>(link.from)));
        const QRectF b = camera.map(boxRect(static_cast<int>(link.to)));
        const bool gather = lanes_->shades[link.from] == LaneShade::Gather;
        painter.setPen(QPen(gather ? colour : theme.other_comm, 1.5));
        const double x = a.right() + (b.left() - a.right()) * 0.5;
        const double y0 = clampY(a.center().y(), clip), y1 = clampY(b.center().y(), clip);
        painter.drawPolyline(QPolygonF{{a.right(), y0}, {x, y0}, {x, y1}, {b.left(), y1}});
    }
}

void LanePicture::paintMoves(QPainter& painter, const GraphCamera& camera, Rows rows, const GraphMarks& marks,
                             const QRectF& clip, const Theme& theme) const {
    const bool all = kRowHeight * camera.sy >= kTextRow;
    for (const LaneMove& move : lanes_->moves) {
        const uint32_t low = std::min(move.row, move.from_row), high = std::max(move.row, move.from_row);
        const bool own = static_cast<int>(move.row) == marks.selected;
        if (low >= rows.end || high < rows.begin || (!all && !own))
            continue;
        const QRectF to = camera.map(boxRect(static_cast<int>(move.row)));
        const double x = to.left() - 2;
        const double y0 = clampY(camera.oy + move.from_row * kRowHeight * camera.sy, clip);
        const double y1 = clampY(to.center().y(), clip);
        const double bow = std::min(34.0, 8 + 0.06 * std::abs(y1 - y0));
        QPainterPath path(QPointF(x, y0));
        path.cubicTo(x - bow, y0, x - bow, y1, x, y1);
        QColor colour = theme.accent;
        colour.setAlphaF(own ? 1.0F : 0.55F);
        QPen pen(colour, own ? 2 : 1.2);
        pen.setDashPattern({3, 2.5});
        painter.setBrush(Qt::NoBrush);
        painter.setPen(pen);
        painter.drawPath(path);
        paintArrowHead(painter, {x, y1}, {1, 0}, own ? 7 : 5, colour);
    }
}

/// All links of one box, long ones too, over everything else.
void LanePicture::paintOwnLinks(QPainter& painter, const GraphCamera& camera, int box, const QRectF& clip,
                                const Theme& theme) const {
    if (box < 0)
        return;
    const Graph& graph = *lanes_->graph;
    const NodeId node = lanes_->order[static_cast<size_t>(box)];
    const QRectF here = camera.map(boxRect(box));
    const auto draw = [&](NodeId other, LinkKind kind) {
        const QRectF there = camera.map(boxRect(static_cast<int>(lanes_->row_of[other])));
        painter.setPen(linkPen(kind, theme, true));
        const double y0 = clampY(here.center().y(), clip), y1 = clampY(there.center().y(), clip);
        const double x0 = here.right(), x1 = there.right();
        QPainterPath path(QPointF(x0, y0));
        const double bow = 18;
        path.cubicTo(std::max(x0, x1) + bow, y0, std::max(x0, x1) + bow, y1, x1, y1);
        painter.setBrush(Qt::NoBrush);
        painter.drawPath(path);
    };
    size_t drawn = 0;
    for (NodeId input : graph.inputs(node)) {
        if (++drawn <= 64)
            draw(input, LinkKind::Data);
    }
    for (NodeId user : graph.users(node)) {
        if (++drawn <= 64)
            draw(user, LinkKind::Data);
    }
    for (const OrderEdge& edge : graph.orderEdges(node)) {
        if (++drawn <= 64)
            draw(edge.node, edge.kind == EdgeKind::Effect ? LinkKind::Effect : LinkKind::Data);
    }
    for (NodeId weak : graph.weakInputs(node)) {
        if (++drawn <= 64)
            draw(weak, LinkKind::Advisory);
    }
}

void LanePicture::paintHeader(QPainter& painter, const GraphCamera& camera, const QRectF& clip,
                              const Theme& theme) const {
    painter.fillRect(QRectF(clip.left(), clip.top(), clip.width(), stickyHeight()), theme.panel);
    painter.setFont(Theme::font(11));
    painter.setPen(theme.muted);
    const QFontMetricsF metrics(painter.font());
    for (size_t lane = 0; lane < kLaneCount; ++lane) {
        const QRectF rect(camera.ox + kLanes[lane].left * camera.sx, clip.top(),
                          kLanes[lane].width * camera.sx, stickyHeight() - 2);
        painter.drawText(rect, Qt::AlignVCenter | Qt::AlignLeft | Qt::TextSingleLine,
                         metrics.elidedText(laneTitle(lane), Qt::ElideRight, rect.width()));
    }
    painter.setPen(theme.border);
    painter.drawLine(QPointF(clip.left(), clip.top() + stickyHeight() - 0.5),
                     QPointF(clip.right(), clip.top() + stickyHeight() - 0.5));
}

void LanePicture::paint(QPainter& painter, const GraphCamera& camera, const QRectF& clip,
                        const GraphMarks& marks, const Theme& theme) const {
    painter.save();
    const Rows rows = visibleRows(camera, clip);
    painter.setRenderHint(QPainter::Antialiasing, false);
    if (camera.sy < kBandScale) {
        paintBands(painter, camera, clip, theme);
    } else {
        painter.setRenderHint(QPainter::Antialiasing, camera.sy >= kSmooth);
        if (kRowHeight * camera.sy >= kLinkRow)
            paintLinks(painter, camera, rows, theme);
        paintTransfers(painter, camera, rows, clip, theme);
    }
    painter.setRenderHint(QPainter::Antialiasing, true);
    paintMoves(painter, camera, rows, marks, clip, theme);
    paintOwnLinks(painter, camera, marks.cursor >= 0 ? marks.cursor : marks.selected, clip, theme);
    if (camera.sy >= kBandScale)
        paintBoxes(painter, camera, rows, marks, theme);
    painter.setRenderHint(QPainter::Antialiasing, true);
    if (marks.hovered >= 0 && camera.sy >= kBandScale)
        paintRing(painter, camera, marks.hovered, QPen(theme.accent, 1));
    if (marks.selected >= 0)
        paintRing(painter, camera, marks.selected, QPen(theme.accent, 2));
    if (marks.cursor >= 0 && marks.cursor != marks.selected)
        paintRing(painter, camera, marks.cursor, QPen(theme.accent, 1.4, Qt::DotLine));
    paintHeader(painter, camera, clip, theme);
    painter.restore();
}

} // namespace gs

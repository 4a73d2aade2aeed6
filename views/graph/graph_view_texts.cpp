// Captions, banner, legend and export of the graph view.
#include "views/graph/graph_view.h"

#include "base/units.h"
#include "layout/dot_writer.h"
#include "views/graph/graph_legend.h"
#include "views/graph/graph_pane.h"
#include "views/graph/graph_toolbar.h"
#include "views/graph/lane_picture.h"
#include "views/graph/render_graph.h"
#include "views/shown_text.h"

#include <QLabel>

#include <cstdlib>

namespace gs {

namespace {

QString count(int64_t value) {
    return QString::fromStdString(formatCount(value));
}

const QString kSeparator = QStringLiteral(" · ");

} // namespace

QString GraphView::focusCaption() const {
    QStringList parts;
    const FocusPair& pair = result_.pair;
    if (pair.gather && pair.has_decision) {
        parts << (pair.moved_up > 0   ? (pair.moved_up == 1 ? tr("moved 1 node up")
                                                            : tr("moved %1 nodes up").arg(count(pair.moved_up)))
                  : pair.moved_up < 0 ? tr("moved %1 nodes down").arg(count(-pair.moved_up))
                                      : tr("not moved"));
        parts << (pair.floor_distance > 0 ? tr("floor is %1 nodes further").arg(count(pair.floor_distance))
                                          : tr("at its floor"));
    } else {
        parts << (pair.gather ? tr("not a candidate") : tr("inputs above, users below"));
    }
    return parts.join(kSeparator);
}

QString GraphView::moduleCaption() const {
    const LayoutGraph& after = result_.pair.after;
    QStringList parts{tr("%1 nodes in %2 boxes")
                          .arg(count(static_cast<int64_t>(shown_snapshot_->after.graph->size())),
                               count(static_cast<int64_t>(after.boxes.size() - after.portals())))};
    if (after.portals() > 0)
        parts << tr("%1 long links as portals").arg(count(static_cast<int64_t>(after.portals())));
    parts << (result_.refused > 0 ? tr("no room to unfold more")
              : unfolded_.empty() ? tr("double-click unfolds")
                                  : tr("Backspace folds"));
    return parts.join(kSeparator);
}

QString GraphView::laneCaption() const {
    const LaneLayout& lanes = *result_.after_lanes;
    return QStringList{tr("%1 rows").arg(count(static_cast<int64_t>(lanes.rows()))),
                       tr("%1 launches moved").arg(count(static_cast<int64_t>(lanes.moves.size()))),
                       tr("%1 long links as portals").arg(count(static_cast<int64_t>(lanes.portals)))}
        .join(kSeparator);
}

void GraphView::updateTexts() {
    plain_caption_.clear();
    QString link;
    QString hint = snapshot() && snapshot()->after.graph ? QString() : tr("Open a graph to see it here.");
    if (shown_snapshot_) {
        if (result_.mode == GraphMode::Lanes) {
            plain_caption_ = result_.after_lanes ? laneCaption() : QString();
        } else if (result_.mode == GraphMode::Modules) {
            plain_caption_ = moduleCaption();
        } else if (result_.pair.after.boxes.empty() && result_.pair.before.boxes.empty()) {
            hint = tr("\"%1\" is not in this graph.").arg(shownText(shown_name_));
        } else {
            plain_caption_ = focusCaption();
            const int64_t hidden = static_cast<int64_t>(result_.pair.after.hidden_portals);
            if (focus_options_.portals)
                link = tr("hide portals");
            else if (hidden > 0)
                link = hidden == 1 ? tr("1 portal hidden") : tr("%1 portals hidden").arg(count(hidden));
        }
    }
    plain_caption_ = shownText(plain_caption_, 400);
    QString rich = plain_caption_.toHtmlEscaped();
    if (!link.isEmpty()) {
        plain_caption_ += kSeparator + link;
        rich += kSeparator.toHtmlEscaped() +
                QStringLiteral("<a href=\"portals\" style=\"color:%1; text-decoration:none\">%2</a>")
                    .arg(Theme::current().accent.name(), link.toHtmlEscaped());
    }
    caption_->setText(rich);
    caption_->setToolTip(plain_caption_);
    before_->canvas()->setHint(hint.isEmpty() ? tr("not there before") : hint);
    after_->canvas()->setHint(hint.isEmpty() ? tr("not there after") : hint);
    updateLegend();
}

void GraphView::setBanner(const QString& text) {
    banner_->setText(text);
    banner_->setVisible(!text.isEmpty());
}

QString GraphView::banner() const {
    return banner_->text();
}

void GraphView::updateLegend() {
    std::vector<LinkKind> kinds;
    bool moves = false;
    const bool lanes = shown_snapshot_ && result_.mode == GraphMode::Lanes && result_.after_lanes;
    for (const LinkKind kind : {LinkKind::Data, LinkKind::Effect, LinkKind::Advisory, LinkKind::Order}) {
        bool has = false;
        for (const bool after : {false, true}) {
            const GraphPicturePtr& picture = pane(after)->canvas()->picture();
            if (const auto* boxes = dynamic_cast<const BoxPicture*>(picture.get()))
                has = has || boxes->hasLinks(kind);
        }
        if (lanes) {
            for (const LaneLink& link : result_.after_lanes->links)
                has = has || link.kind == kind;
        }
        if (has)
            kinds.push_back(kind);
    }
    if (shown_snapshot_)
        moves = lanes ? !result_.after_lanes->moves.empty()
                      : result_.mode == GraphMode::Focus && result_.pair.moved_up != 0;
    legend_->setKinds(kinds, moves, lanes && !result_.after_lanes->transfers.empty());
}

void GraphView::applyTheme() {
    const Theme& t = Theme::current();
    toolbar_->applyTheme();
    banner_->setStyleSheet(
        QStringLiteral("color: %1; background: %2; border: 1px solid %3; border-radius: 5px;"
                       " padding: 3px 8px; font-size: 11px;")
            .arg(t.text.name(), t.field.name(), t.warning.name()));
    updateTexts();
}

void GraphView::render(QPainter* painter, const QRectF& target) const {
    GraphRendering rendering;
    rendering.before = before_->canvas()->picture();
    rendering.after = after_->canvas()->picture();
    rendering.before_marks = before_->canvas()->marks();
    rendering.after_marks = after_->canvas()->marks();
    rendering.title =
        result_.mode == GraphMode::Focus ? QString::fromStdString(result_.pair.subject) : QString();
    rendering.caption = plain_caption_;
    rendering.legend = legend_;
    renderGraph(painter, target, rendering, Theme::current());
}

std::string GraphView::exportDot(bool after) const {
    if (!shown_snapshot_)
        return writeDot({}, "empty");
    const Program& program = after ? shown_snapshot_->after : shown_snapshot_->before;
    const std::string title = program.graph->info().name + (after ? ", after" : ", before");
    if (result_.mode == GraphMode::Lanes)
        return writeDot(foldByModule(*program.graph, programOrder(program), {}).picture, title);
    return writeDot(after ? result_.pair.after : result_.pair.before, title);
}

} // namespace gs

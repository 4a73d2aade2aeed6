#include "views/graph/graph_pane.h"

#include "layout/dot_writer.h"
#include "layout/lanes.h"

#include <QTimer>
#include <QVBoxLayout>

namespace gs {

namespace {

constexpr qsizetype kMaxCached = 64;

} // namespace

GraphPane::GraphPane(const QString& title, QWidget* parent)
    : QWidget(parent), canvas_(new GraphCanvas(this)), dot_(new DotProcess(this)) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(2);
    auto* label = new QLabel(title, this);
    label->setProperty("role", "caption");
    layout->addWidget(label);
    layout->addWidget(canvas_, 1);
    connect(dot_, &DotProcess::slow, this, &GraphPane::slow);
    connect(dot_, &DotProcess::finished, this, [this](quint64 generation, const Placement& placement) {
        if (!placing_ || generation != dot_generation_)
            return;
        if (cache_.size() >= kMaxCached)
            cache_.clear();
        cache_.insert(key_, placement);
        placement_ = placement;
        finish();
    });
    connect(dot_, &DotProcess::failed, this,
            [this](quint64 generation, DotProcess::Failure, const QString& message) {
                if (!placing_ || generation != dot_generation_)
                    return;
                failure_ = message;
                finish();
            });
}

void GraphPane::place(LayoutGraph graph, MeasuredBoxes measured) {
    cancel();
    graph_ = std::move(graph);
    measured_ = std::move(measured);
    placing_ = true;
    if (graph_.boxes.empty()) {
        placement_ = Placement();
    } else if (graph_.boxes.size() <= kMaxDotBoxes) {
        key_ = QByteArray::fromStdString(writeLayoutDot(graph_, measured_.sizes));
        const auto known = cache_.constFind(key_);
        if (known == cache_.constEnd()) {
            dot_generation_ = dot_->start(graph_, measured_.sizes);
            return;
        }
        placement_ = *known;
    }
    QTimer::singleShot(0, this, [this, request = request_] {
        if (placing_ && request == request_)
            finish();
    });
}

void GraphPane::cancel() {
    dot_->cancel();
    placing_ = false;
    placement_.reset();
    failure_.clear();
    ++request_; // answers that are under way belong to nobody
}

void GraphPane::finish() {
    placing_ = false;
    emit settled();
}

std::shared_ptr<const BoxPicture> GraphPane::makePicture(double move_from_y) const {
    Placement placement = placement_ ? *placement_ : placeInLanes(graph_, measured_.sizes);
    return std::make_shared<BoxPicture>(graph_, measured_, std::move(placement), move_from_y);
}

} // namespace gs

#include "views/docks/flow_layout.h"

#include <QWidget>
#include <algorithm>

namespace gs {

FlowLayout::FlowLayout(QWidget* parent, int spacing) : QLayout(parent) {
    setContentsMargins(0, 0, 0, 0);
    setSpacing(spacing);
}

FlowLayout::~FlowLayout() {
    for (QLayoutItem* item : items_)
        delete item;
}

void FlowLayout::addItem(QLayoutItem* item) {
    items_.push_back(item);
}

QLayoutItem* FlowLayout::itemAt(int index) const {
    return index >= 0 && index < count() ? items_[static_cast<size_t>(index)] : nullptr;
}

QLayoutItem* FlowLayout::takeAt(int index) {
    if (index < 0 || index >= count())
        return nullptr;
    QLayoutItem* item = items_[static_cast<size_t>(index)];
    items_.erase(items_.begin() + index);
    return item;
}

int FlowLayout::heightForWidth(int width) const {
    return arrange(QRect(0, 0, width, 0), false);
}

QSize FlowLayout::minimumSize() const {
    QSize size;
    for (const QLayoutItem* item : items_) {
        if (!item->isEmpty())
            size = size.expandedTo(item->minimumSize());
    }
    const QMargins margins = contentsMargins();
    return size + QSize(margins.left() + margins.right(), margins.top() + margins.bottom());
}

void FlowLayout::setGeometry(const QRect& rect) {
    QLayout::setGeometry(rect);
    arrange(rect, true);
}

int FlowLayout::arrange(const QRect& rect, bool apply) const {
    const QRect inner = rect.marginsRemoved(contentsMargins());
    struct Placed {
        QLayoutItem* item;
        QRect rect;
    };
    std::vector<Placed> line;
    int y = inner.top();
    int height = 0;
    // Items of one line share its middle.
    const auto finish = [&] {
        for (const Placed& placed : line) {
            if (apply)
                placed.item->setGeometry(placed.rect.translated(0, y + (height - placed.rect.height()) / 2));
        }
        line.clear();
    };
    int x = inner.left();
    for (size_t i = 0; i < items_.size(); ++i) {
        QLayoutItem* item = items_[i];
        if (item->isEmpty())
            continue;
        const bool stretch = stretch_last_ && i + 1 == items_.size();
        QSize size =
            stretch ? item->minimumSize().expandedTo(QSize(0, item->sizeHint().height())) : item->sizeHint();
        if (x > inner.left() && x + size.width() > inner.right() + 1) {
            finish();
            x = inner.left();
            y += height + spacing();
            height = 0;
        }
        if (stretch)
            size.setWidth(std::max(size.width(), inner.right() + 1 - x));
        line.push_back({item, QRect(QPoint(x, 0), size)});
        x += size.width() + spacing();
        height = std::max(height, size.height());
    }
    finish();
    return y + height - rect.top() + contentsMargins().bottom();
}

} // namespace gs

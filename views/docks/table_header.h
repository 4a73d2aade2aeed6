// Column titles in the caption style, with the sort arrow beside the words instead of on them.
#pragma once

#include <QHeaderView>

namespace gs {

class TableHeader : public QHeaderView {
    Q_OBJECT
public:
    explicit TableHeader(QWidget* parent);
    QSize sizeHint() const override;

protected:
    void paintSection(QPainter* painter, const QRect& rect, int section) const override;
    void paintEvent(QPaintEvent* event) override;
};

} // namespace gs

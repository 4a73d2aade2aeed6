// The box over the timeline with the totals of the dragged range.
#pragma once

#include "views/timeline/range_totals.h"

#include <QFrame>

class QLabel;

namespace gs {

class RangeBox : public QFrame {
    Q_OBJECT
public:
    explicit RangeBox(QWidget* parent);

    void showTotals(const TimelineData& data, TimeRange range);
    /// The same facts as lines of tab-separated columns.
    QString plainText() const { return plain_; }

signals:
    void closed();

protected:
    void paintEvent(QPaintEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    QLabel* text_ = nullptr;
    QString plain_;
};

} // namespace gs

// A filter chip: shape, word and count; pressed = the filter is on.
#pragma once

#include "views/models/table_roles.h"

#include <QAbstractButton>

namespace gs {

class Chip : public QAbstractButton {
    Q_OBJECT
public:
    Chip(const QString& text, Mark mark, QWidget* parent = nullptr);
    void setCount(int count);
    int count() const { return count_; }

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QString label() const;

    Mark mark_;
    int count_ = 0;
};

} // namespace gs

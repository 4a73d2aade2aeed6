// The ring of ranks that wait for each other, drawn small: who waits for whom, and on which group.
#pragma once

#include "explain/rank_compare.h"

#include <QWidget>

namespace gs {

class WaitRing : public QWidget {
    Q_OBJECT
public:
    explicit WaitRing(QWidget* parent = nullptr);

    /// Null or without a cycle: hidden.
    void setComparison(const RankComparisonPtr& comparison);

    /// What is drawn, for tests: ranks in order, and the texts on the arrows.
    QStringList ranks() const { return ranks_; }
    QStringList arrows() const { return arrows_; }
    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QStringList ranks_;
    QStringList arrows_; ///< from rank i to the next: the group of the collective it waits for
    bool closed_ = true;
    bool certain_ = false;
};

} // namespace gs

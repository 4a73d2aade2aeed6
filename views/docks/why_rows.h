// Lists of the Why card: label and value rows, and the costs with their badges.
#pragma once

#include "explain/why.h"

#include <QLabel>
#include <QWidget>
#include <vector>

class QGridLayout;

namespace gs {

/// A label that wraps, is selectable, and whose links "node:ID" are reported. Muted = in the caption colour.
class CardLabel : public QLabel {
    Q_OBJECT
public:
    enum class Style { Title, Headline, Text, Muted, Small };
    explicit CardLabel(Style style, QWidget* parent = nullptr);
    /// Plain text, all of it a link if `node` is given; hides itself if the text is empty.
    void show(const QString& whole, NodeId node = kNoNode);

signals:
    void nodeActivated(gs::NodeId node);
};

/// Two columns of labels; reuses its labels, so that a moving slider makes no new widgets.
class RowsWidget : public QWidget {
    Q_OBJECT
public:
    /// `value_right`: values right-aligned, as numbers are, else directly behind the labels.
    explicit RowsWidget(bool value_right, QWidget* parent = nullptr);
    void setRows(const std::vector<WhyRow>& rows);
    int shownRows() const { return shown_; }

signals:
    void nodeActivated(gs::NodeId node);

private:
    QGridLayout* grid_;
    bool value_right_;
    std::vector<std::pair<CardLabel*, CardLabel*>> labels_;
    int shown_ = 0;
};

/// One line per cost: label, time, badge. A click leads to the node.
class CostLines : public QWidget {
    Q_OBJECT
public:
    explicit CostLines(QWidget* parent = nullptr);
    void setCosts(std::vector<WhyCost> costs);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return {160, sizeHint().height()}; }

signals:
    void nodeActivated(gs::NodeId node);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    bool event(QEvent* event) override;

private:
    int lineAt(double y) const;
    std::vector<WhyCost> costs_;
};

} // namespace gs

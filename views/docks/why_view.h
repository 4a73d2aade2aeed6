// The card for the selection: why this gather is launched where it is, and what would change it.
#pragma once

#include "explain/why.h"
#include "views/view.h"

class QLabel;
class QScrollArea;

namespace gs {

class CardLabel;
class CostLines;
class CounterfactualList;
class RowsWidget;
class WhyBars;

class WhyView : public View {
    Q_OBJECT
public:
    explicit WhyView(QWidget* parent = nullptr);

    const WhyCard& card() const { return card_; }
    WhyBars* bars() const { return bars_; }
    CounterfactualList* counterfactuals() const { return counterfactuals_; }
    bool busy() const override;

protected:
    void snapshotChanged() override { rebuild(); }
    void selectionChanged() override { rebuild(); }
    void changeEvent(QEvent* event) override;

private:
    void build();
    void rebuild();
    void showCard();
    void showEmpty(const QString& text);
    void activate(NodeId node);

    WhyCard card_;
    QScrollArea* scroll_;
    QWidget* content_ = nullptr;
    QLabel* empty_;
    CardLabel *title_, *headline_, *detail_, *reason_, *source_, *disagreement_;
    WhyBars* bars_;
    RowsWidget *rows_, *facts_;
    CounterfactualList* counterfactuals_;
    CostLines* costs_;
    QWidget *counterfactuals_head_, *facts_head_, *costs_head_;
};

} // namespace gs

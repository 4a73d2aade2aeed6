// The ranks of a job side by side: can they run together, where do they differ first, who waits for whom.
#pragma once

#include "views/models/ranks_model.h"
#include "views/view.h"

class QLabel;
class QPushButton;
class QSplitter;

namespace gs {

class DataTable;
class WaitRing;

class RanksView : public View {
    Q_OBJECT
public:
    explicit RanksView(QWidget* parent = nullptr);

    DataTable* table() const { return table_; }
    WaitRing* ring() const { return ring_; }
    QPushButton* addButton() const { return add_; }
    QPushButton* removeButton() const { return remove_; }
    /// Everything that is said in words, as plain text.
    QString words() const;

protected:
    void snapshotChanged() override;
    void selectionChanged() override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    QWidget* makeHeader();
    QWidget* makeCard();
    void fitCard();
    void chooseFiles();
    void ask(const QStringList& paths);
    void showComparison(const RankComparison& comparison);
    void showMessage(const QString& title, const QString& text);
    void follow(const QString& link);
    QString differencesText(const RankComparison& comparison) const;
    QString cycleText(const RankComparison& comparison) const;
    QString nodeLink(const RankSide& side) const;

    RanksModel* model_;
    DataTable* table_;
    WaitRing* ring_;
    QSplitter* splitter_;
    QWidget* card_; ///< everything in words, inside its scroll area
    QLabel* mode_;
    QLabel* verdict_;
    QLabel* ranks_;
    QLabel* details_;
    QLabel* cycle_;
    QPushButton* add_;
    QPushButton* remove_;
    bool split_by_hand_ = false;
};

} // namespace gs

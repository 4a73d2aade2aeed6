// The first page: a card per sample. Arrow keys choose, Enter opens.
#pragma once

#include "views/shell/samples.h"

#include <QWidget>

class QListView;
class QStandardItemModel;

namespace gs {

class SamplesPage : public QWidget {
    Q_OBJECT
public:
    explicit SamplesPage(QWidget* parent = nullptr);
    void setSamples(const QList<Sample>& samples);
    QListView* list() const { return list_; }

signals:
    void sampleChosen(const gs::Sample& sample);
    void openClicked();

protected:
    void resizeEvent(QResizeEvent* event) override;
    void showEvent(QShowEvent* event) override;

private:
    void fitCards();

    QList<Sample> samples_;
    QStandardItemModel* model_;
    QListView* list_;
};

} // namespace gs

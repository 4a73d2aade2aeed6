// The line above the panes: mode, linked panes, fit, search.
#pragma once

#include "views/graph/graph_job.h"

#include <QWidget>

class QButtonGroup;
class QLabel;
class QLineEdit;
class QToolButton;

namespace gs {

class GraphToolbar : public QWidget {
    Q_OBJECT
public:
    explicit GraphToolbar(QWidget* parent = nullptr);

    GraphMode mode() const;
    void setMode(GraphMode mode);
    bool linked() const;
    void setLinked(bool linked);
    QString searchText() const;
    void focusSearch();
    /// "3 of 17"; empty = nothing searched.
    void setMatches(const QString& text);
    void applyTheme();

signals:
    void modeChosen(gs::GraphMode mode);
    void linkedChanged(bool linked);
    void fitRequested();
    void searchEdited(const QString& text);
    /// Enter (+1) or Shift+Enter (−1) in the search field.
    void searchStepped(int direction);
    void searchLeft();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    QButtonGroup* modes_;
    QLabel* matches_ = nullptr;
    QLineEdit* search_ = nullptr;
    QToolButton* link_ = nullptr;
    QToolButton* fit_ = nullptr;
};

} // namespace gs

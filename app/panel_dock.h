// A dock that looks like a panel: rounded, with a flat title line whose buttons show on hover. Among tabs the
// title line gives way to the tab.
#pragma once

#include <QDockWidget>

class QLabel;
class QToolButton;

namespace gs {

class PanelDock : public QDockWidget {
    Q_OBJECT
public:
    PanelDock(const QString& id, const QString& title, QWidget* content, QWidget* parent);
    /// Whether the dock shares its place with others.
    void setTabbed(bool tabbed);

protected:
    void paintEvent(QPaintEvent* event) override;
    void enterEvent(QEnterEvent* event) override;
    void leaveEvent(QEvent* event) override;

private:
    QWidget* makeTitleBar(const QString& title);
    void updateTitleBar();

    QWidget* title_bar_ = nullptr;
    QWidget* no_title_bar_ = nullptr;
    QToolButton* float_button_ = nullptr;
    QToolButton* close_button_ = nullptr;
    bool tabbed_ = false;
};

} // namespace gs

// F1: every shortcut on one sheet, over the window.
#pragma once

#include <QWidget>

namespace gs {

class HelpOverlay : public QWidget {
    Q_OBJECT
public:
    explicit HelpOverlay(QWidget* window);
    /// Covers the window with the shortcuts of its actions, and those that the views handle themselves.
    void open();

protected:
    void paintEvent(QPaintEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;

private:
    QList<std::pair<QString, QString>> rows_; ///< keys, meaning
};

} // namespace gs

// A full page with one message and what can be done about it: nothing open, or a file that could not be read.
#pragma once

#include "base/result.h"

#include <QWidget>

class QLabel;
class QPushButton;

namespace gs {

class MessagePage : public QWidget {
    Q_OBJECT
public:
    explicit MessagePage(QWidget* parent = nullptr);
    void showEmpty();
    void showError(const QString& file, const Error& error);

signals:
    void openClicked();
    void samplesClicked();
    void retryClicked();

private:
    QLabel* title_;
    QLabel* message_;
    QLabel* place_;
    QLabel* hint_;
    QPushButton* retry_;
};

} // namespace gs

// Strips above the panels: a message with actions, and the progress of a job. The picture below stays usable.
#pragma once

#include "base/result.h"

#include <QWidget>

#include <functional>

class QHBoxLayout;
class QLabel;
class QProgressBar;
class QPushButton;

namespace gs {

class ElidedLabel;

class Banner : public QWidget {
    Q_OBJECT
public:
    enum class Look : uint8_t { Info, Warning };
    explicit Banner(QWidget* parent = nullptr);

    /// Shows a message with an optional action button; the banner hides when either button is clicked.
    void showMessage(Look look, const QString& message, const QString& action = {});
    /// A message with a choice between two actions; the banner hides when any button is clicked.
    struct Choice {
        QString text;
        std::function<void()> chosen;
    };
    void ask(const QString& message, Choice first, Choice second);
    QString message() const;

signals:
    void actionClicked();

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    Look look_ = Look::Info;
    QLabel* text_;
    QPushButton* action_;
    QPushButton* other_action_;
    std::function<void()> chosen_, other_chosen_; ///< of a question; empty else
    QPushButton* dismiss_;
};

/// What runs, how far it is, and Cancel. Used as a strip and, while nothing is open, as a page.
class LoadingPanel : public QWidget {
    Q_OBJECT
public:
    enum class Shape : uint8_t { Strip, Page };
    explicit LoadingPanel(Shape shape, QWidget* parent = nullptr);

    void begin(const QString& title);
    void setProgress(const QString& stage, double fraction);
    QString stage() const;

signals:
    void cancelClicked();

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    Shape shape_;
    QLabel* title_;
    ElidedLabel* stage_;
    QProgressBar* bar_;
};

/// "message (file, line 3, column 7). hint" in one paragraph.
QString errorText(const Error& error);
/// "file, line 3, column 7", or nothing.
QString placeText(const SourcePos& where);

} // namespace gs

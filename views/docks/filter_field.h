// The text filter of a table: reports after 150 ms of rest, Escape clears it, "/" in the view focuses it.
#pragma once

#include <QLineEdit>
#include <QTimer>

namespace gs {

class FilterField : public QLineEdit {
    Q_OBJECT
public:
    static constexpr int kDebounceMs = 150;

    /// `view` gets the "/" shortcut.
    explicit FilterField(QWidget* view);

signals:
    void filterChanged(const QString& text);
    /// Enter, or Escape on an empty field: the keyboard goes back to the table.
    void left();

protected:
    void keyPressEvent(QKeyEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void applyTheme();

    QString style_; ///< as set: setting a style sheet makes a palette change of its own
    QTimer debounce_;
};

} // namespace gs

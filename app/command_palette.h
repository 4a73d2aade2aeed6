// Ctrl+K: every action of the window by name, with its shortcut.
#pragma once

#include <QFrame>

class QAction;
class QLineEdit;
class QListWidget;

namespace gs {

class CommandPalette : public QFrame {
    Q_OBJECT
public:
    explicit CommandPalette(QWidget* window);

    /// Lists the window's actions as they are now and waits for a choice.
    void open();
    QStringList shown() const; ///< titles, best match first

protected:
    bool eventFilter(QObject* object, QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    void filter(const QString& text);
    void run();

    QLineEdit* edit_;
    QListWidget* list_;
    QList<QAction*> actions_;
};

/// Actions a person can name: with a text, no separators, no submenus; in order of their text. Disabled ones
/// are left out.
QList<QAction*> namedActions(const QWidget* window);
/// Text without the mnemonic's ampersand.
QString actionTitle(const QAction* action);
/// How well the letters of `needle` are found in order in `text`; 0 = not at all.
int matchScore(const QString& needle, const QString& text);

} // namespace gs

#include "views/docks/filter_field.h"

#include "views/theme.h"

#include <QKeyEvent>
#include <QShortcut>

namespace gs {

FilterField::FilterField(QWidget* view) : QLineEdit(view) {
    setPlaceholderText(tr("filter"));
    setAccessibleName(tr("Filter"));
    setToolTip(tr("Words that must occur in a row ( / )"));
    setClearButtonEnabled(true);
    setMinimumWidth(96);
    setFixedHeight(22);
    debounce_.setSingleShot(true);
    debounce_.setInterval(kDebounceMs);
    connect(this, &QLineEdit::textChanged, &debounce_, qOverload<>(&QTimer::start));
    connect(&debounce_, &QTimer::timeout, this, [this] { emit filterChanged(text()); });
    auto* shortcut = new QShortcut(QKeySequence(Qt::Key_Slash), view);
    shortcut->setContext(Qt::WidgetWithChildrenShortcut);
    connect(shortcut, &QShortcut::activated, this, [this] {
        setFocus(Qt::ShortcutFocusReason);
        selectAll();
    });
    applyTheme();
}

void FilterField::applyTheme() {
    const Theme& theme = Theme::current();
    setFont(Theme::font(12));
    const QString style =
        QStringLiteral("QLineEdit{background:%1;color:%2;border:1px solid transparent;border-radius:6px;"
                       "padding:0 6px;}QLineEdit:focus{border-color:%3;}")
            .arg(theme.field.name(), theme.text.name(), theme.accent.name());
    if (style == style_)
        return;
    style_ = style;
    setStyleSheet(style);
}

void FilterField::changeEvent(QEvent* event) {
    QLineEdit::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        applyTheme();
}

void FilterField::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape && !text().isEmpty()) {
        clear();
        return;
    }
    if (event->key() == Qt::Key_Escape || event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) {
        emit left();
        return;
    }
    QLineEdit::keyPressEvent(event);
}

} // namespace gs

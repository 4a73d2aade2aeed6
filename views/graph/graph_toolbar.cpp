#include "views/graph/graph_toolbar.h"

#include "views/theme.h"

#include <QButtonGroup>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QToolButton>

namespace gs {

GraphToolbar::GraphToolbar(QWidget* parent) : QWidget(parent), modes_(new QButtonGroup(this)) {
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(2);
    const QString names[] = {tr("Focus"), tr("Modules"), tr("Lanes")};
    const QString tips[] = {tr("Neighbourhood of the selection"),
                            tr("The whole program, folded by module; double-click unfolds"),
                            tr("The whole program, one row a node")};
    for (int i = 0; i < 3; ++i) {
        auto* button = new QToolButton(this);
        button->setText(names[i]);
        button->setToolTip(tips[i]);
        button->setCheckable(true);
        button->setProperty("segment", true);
        button->setFocusPolicy(Qt::TabFocus);
        modes_->addButton(button, i);
        layout->addWidget(button);
    }
    modes_->button(0)->setChecked(true);
    matches_ = new QLabel(this);
    search_ = new QLineEdit(this);
    link_ = new QToolButton(this);
    fit_ = new QToolButton(this);
    layout->addStretch(1);
    link_->setText(tr("Link"));
    link_->setToolTip(tr("Before and after scroll and zoom together"));
    link_->setCheckable(true);
    link_->setChecked(true);
    fit_->setText(tr("Fit"));
    fit_->setToolTip(tr("Fit the picture into the pane (F)"));
    search_->setPlaceholderText(tr("/ find"));
    search_->setClearButtonEnabled(false);
    search_->setAccessibleName(tr("Find nodes by name"));
    search_->setMinimumWidth(64);
    search_->setMaximumWidth(180);
    search_->installEventFilter(this);
    for (QWidget* widget : {static_cast<QWidget*>(matches_), static_cast<QWidget*>(search_),
                            static_cast<QWidget*>(link_), static_cast<QWidget*>(fit_)})
        layout->addWidget(widget);
    link_->setFocusPolicy(Qt::TabFocus);
    fit_->setFocusPolicy(Qt::TabFocus);
    matches_->setObjectName(QStringLiteral("matches"));
    connect(modes_, &QButtonGroup::idClicked, this,
            [this](int id) { emit modeChosen(static_cast<GraphMode>(id)); });
    connect(link_, &QToolButton::toggled, this, &GraphToolbar::linkedChanged);
    connect(fit_, &QToolButton::clicked, this, &GraphToolbar::fitRequested);
    connect(search_, &QLineEdit::textChanged, this, &GraphToolbar::searchEdited);
    applyTheme();
}

void GraphToolbar::applyTheme() {
    const Theme& t = Theme::current();
    setStyleSheet(
        QStringLiteral("QToolButton { border: none; border-radius: 5px; padding: 3px 8px; color: %1; }"
                       "QToolButton:hover { background: %2; }"
                       "QToolButton:checked { background: %3; color: %4; }"
                       "QToolButton:focus { border: 1px solid %5; padding: 2px 7px; }"
                       "QLineEdit { border: 1px solid %2; border-radius: 5px; background: %2;"
                       " padding: 2px 6px; color: %4; }"
                       "QLineEdit:focus { border-color: %5; }"
                       "QLabel#matches { color: %1; padding-right: 4px; }")
            .arg(t.muted.name(), t.field.name(), t.selection.name(), t.text.name(), t.accent.name()));
}

GraphMode GraphToolbar::mode() const {
    return static_cast<GraphMode>(modes_->checkedId());
}

void GraphToolbar::setMode(GraphMode mode) {
    modes_->button(static_cast<int>(mode))->setChecked(true);
}

bool GraphToolbar::linked() const {
    return link_->isChecked();
}

void GraphToolbar::setLinked(bool linked) {
    link_->setChecked(linked);
}

QString GraphToolbar::searchText() const {
    return search_->text();
}

void GraphToolbar::focusSearch() {
    search_->setFocus(Qt::ShortcutFocusReason);
    search_->selectAll();
}

void GraphToolbar::setMatches(const QString& text) {
    matches_->setText(text);
}

void GraphToolbar::resizeEvent(QResizeEvent*) {
    matches_->setVisible(width() >= 460); // the count is the first to give way
}

bool GraphToolbar::eventFilter(QObject* watched, QEvent* event) {
    if (watched == search_ && event->type() == QEvent::KeyPress) {
        auto* key = static_cast<QKeyEvent*>(event);
        if (key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter) {
            emit searchStepped(key->modifiers() & Qt::ShiftModifier ? -1 : 1);
            return true;
        }
        if (key->key() == Qt::Key_Escape) {
            search_->clear();
            emit searchLeft();
            return true;
        }
    }
    return QWidget::eventFilter(watched, event);
}

} // namespace gs

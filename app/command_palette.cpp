#include "app/command_palette.h"

#include "views/theme.h"

#include <QAction>
#include <QKeyEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QVBoxLayout>

#include <algorithm>

namespace gs {

namespace {

constexpr int kWidth = 520;
constexpr int kRows = 10;
constexpr int kRowHeight = 30;
constexpr int kShortcutRole = Qt::UserRole + 1;
constexpr int kActionRole = Qt::UserRole + 2;

class CommandDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override { return {0, kRowHeight}; }
    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override {
        const Theme& theme = Theme::current();
        if (option.state & QStyle::State_Selected)
            painter->fillRect(option.rect, theme.selection);
        const QRect text = option.rect.adjusted(14, 0, -14, 0);
        painter->setFont(Theme::font());
        painter->setPen(theme.text);
        painter->drawText(text, Qt::AlignVCenter | Qt::AlignLeft, index.data().toString());
        painter->setFont(Theme::font(11));
        painter->setPen(theme.muted);
        painter->drawText(text, Qt::AlignVCenter | Qt::AlignRight, index.data(kShortcutRole).toString());
    }
};

} // namespace

QString actionTitle(const QAction* action) {
    QString text = action->text();
    text.remove(QLatin1Char('&'));
    return text;
}

QList<QAction*> namedActions(const QWidget* window) {
    QList<QAction*> actions;
    for (QAction* action : window->findChildren<QAction*>())
        if (!action->text().isEmpty() && !action->isSeparator() && !action->menu() && action->isEnabled())
            actions.append(action);
    std::stable_sort(actions.begin(), actions.end(), [](const QAction* a, const QAction* b) {
        return actionTitle(a).compare(actionTitle(b), Qt::CaseInsensitive) < 0;
    });
    return actions;
}

int matchScore(const QString& needle, const QString& text) {
    if (needle.isEmpty())
        return 1;
    const qsizetype at = text.indexOf(needle, 0, Qt::CaseInsensitive);
    if (at == 0)
        return 1000;
    if (at > 0)
        return text[at - 1].isLetterOrNumber() ? 500 : 800;
    int score = 100;
    qsizetype from = 0;
    for (const QChar letter : needle) {
        const qsizetype found = text.indexOf(letter, from, Qt::CaseInsensitive);
        if (found < 0)
            return 0;
        score -= static_cast<int>(std::min<qsizetype>(found - from, 5));
        from = found + 1;
    }
    return std::max(score, 1);
}

CommandPalette::CommandPalette(QWidget* window) : QFrame(window) {
    setObjectName(QStringLiteral("palette"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(8, 8, 8, 8);
    layout->setSpacing(6);
    edit_ = new QLineEdit;
    edit_->setPlaceholderText(tr("Type a command"));
    edit_->setAccessibleName(tr("Command"));
    list_ = new QListWidget;
    list_->setItemDelegate(new CommandDelegate(list_));
    list_->setProperty("role", "bare");
    list_->setFocusPolicy(Qt::NoFocus);
    list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    layout->addWidget(edit_);
    layout->addWidget(list_);
    edit_->installEventFilter(this);
    connect(edit_, &QLineEdit::textChanged, this, &CommandPalette::filter);
    connect(list_, &QListWidget::itemClicked, this, &CommandPalette::run);
    hide();
}

void CommandPalette::open() {
    actions_ = namedActions(window());
    edit_->clear();
    filter({});
    const QWidget* host = parentWidget();
    const int width = std::min(kWidth, host->width() - 40);
    setGeometry((host->width() - width) / 2, std::min(72, host->height() / 8), width,
                kRows * kRowHeight + edit_->sizeHint().height() + 24);
    show();
    raise();
    edit_->setFocus(Qt::ShortcutFocusReason);
}

void CommandPalette::filter(const QString& text) {
    std::vector<std::pair<int, QAction*>> hits;
    for (QAction* action : actions_)
        if (const int score = matchScore(text.trimmed(), actionTitle(action)))
            hits.emplace_back(score, action);
    std::stable_sort(hits.begin(), hits.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    list_->clear();
    for (const auto& [score, action] : hits) {
        auto* item = new QListWidgetItem(actionTitle(action), list_);
        item->setData(kShortcutRole, action->shortcut().toString(QKeySequence::NativeText));
        item->setData(kActionRole, QVariant::fromValue(action));
    }
    list_->setCurrentRow(0);
}

QStringList CommandPalette::shown() const {
    QStringList titles;
    for (int i = 0; i < list_->count(); ++i)
        titles.append(list_->item(i)->text());
    return titles;
}

void CommandPalette::run() {
    const QListWidgetItem* item = list_->currentItem();
    QAction* action = item ? item->data(kActionRole).value<QAction*>() : nullptr;
    hide();
    parentWidget()->setFocus();
    if (action)
        action->trigger();
}

bool CommandPalette::eventFilter(QObject* object, QEvent* event) {
    if (event->type() == QEvent::FocusOut) {
        hide();
        return false;
    }
    if (event->type() != QEvent::KeyPress)
        return QFrame::eventFilter(object, event);
    auto* key = static_cast<QKeyEvent*>(event);
    const int row = list_->currentRow();
    switch (key->key()) {
    case Qt::Key_Escape:
        hide();
        parentWidget()->setFocus();
        return true;
    case Qt::Key_Down:
        list_->setCurrentRow(std::min(row + 1, list_->count() - 1));
        return true;
    case Qt::Key_Up:
        list_->setCurrentRow(std::max(row - 1, 0));
        return true;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        run();
        return true;
    default:
        return false;
    }
}

void CommandPalette::paintEvent(QPaintEvent*) {
    const Theme& theme = Theme::current();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(theme.border);
    painter.setBrush(theme.panel);
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 8, 8);
}

} // namespace gs

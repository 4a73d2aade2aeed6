#include "app/help_overlay.h"

#include "app/command_palette.h"
#include "views/theme.h"

#include <QAction>
#include <QKeyEvent>
#include <QPainter>

#include <algorithm>

namespace gs {

namespace {

constexpr int kRowHeight = 24;
constexpr int kKeyWidth = 108;
constexpr int kColumnWidth = 360;
constexpr int kMargin = 28;

} // namespace

HelpOverlay::HelpOverlay(QWidget* window) : QWidget(window) {
    setObjectName(QStringLiteral("help"));
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Keyboard shortcuts"));
    hide();
}

void HelpOverlay::open() {
    rows_.clear();
    for (const QAction* action : namedActions(window()))
        if (!action->shortcut().isEmpty())
            rows_.append({action->shortcut().toString(QKeySequence::NativeText), actionTitle(action)});
    rows_.append({tr("W S A D"), tr("Zoom and pan the timeline")});
    rows_.append({tr("Esc"), tr("Close what is open on top")});
    setGeometry(parentWidget()->rect());
    show();
    raise();
    setFocus(Qt::OtherFocusReason);
}

void HelpOverlay::paintEvent(QPaintEvent*) {
    const Theme& theme = Theme::current();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    QColor veil = theme.dark ? QColor(Qt::black) : theme.text;
    veil.setAlphaF(theme.dark ? 0.55F : 0.35F);
    painter.fillRect(rect(), veil);

    const int columns = std::clamp((width() - 3 * kMargin) / kColumnWidth, 1, 2);
    const int lines = (static_cast<int>(rows_.size()) + columns - 1) / columns;
    QRect sheet(0, 0, columns * kColumnWidth + kMargin, 76 + lines * kRowHeight + 20);
    sheet.moveCenter(rect().center());
    painter.setPen(theme.border);
    painter.setBrush(theme.panel);
    painter.drawRoundedRect(QRectF(sheet), 8, 8);
    painter.setPen(theme.text);
    painter.setFont(Theme::font(14, QFont::DemiBold));
    painter.drawText(QRect(sheet.left() + kMargin, sheet.top() + 20, sheet.width(), 20), Qt::AlignVCenter,
                     tr("Keyboard shortcuts"));
    painter.setFont(Theme::font(11));
    painter.setPen(theme.muted);
    painter.drawText(QRect(sheet.left() + kMargin, sheet.top() + 42, sheet.width(), 16), Qt::AlignVCenter,
                     tr("Ctrl+K finds every command by name"));
    for (int i = 0; i < rows_.size(); ++i) {
        const QPoint at(sheet.left() + kMargin + (i / lines) * kColumnWidth,
                        sheet.top() + 74 + (i % lines) * kRowHeight);
        painter.setFont(Theme::font(11, QFont::Medium));
        const int key_width =
            std::min(kKeyWidth, painter.fontMetrics().horizontalAdvance(rows_[i].first) + 14);
        painter.setPen(Qt::NoPen);
        painter.setBrush(theme.field);
        painter.drawRoundedRect(QRect(at.x(), at.y() + 2, key_width, kRowHeight - 5), 4, 4);
        painter.setPen(theme.text);
        painter.drawText(QRect(at.x(), at.y() + 2, key_width, kRowHeight - 5), Qt::AlignCenter,
                         rows_[i].first);
        painter.setFont(Theme::font());
        const int room = kColumnWidth - kKeyWidth - 24;
        painter.drawText(QRect(at.x() + kKeyWidth + 12, at.y(), room, kRowHeight), Qt::AlignVCenter,
                         painter.fontMetrics().elidedText(rows_[i].second, Qt::ElideRight, room));
    }
}

void HelpOverlay::keyPressEvent(QKeyEvent* event) {
    event->accept();
    hide();
}

void HelpOverlay::mousePressEvent(QMouseEvent*) {
    hide();
}

} // namespace gs

// The style sheet that turns Fusion into flat fields, rounded panels and thin scroll bars. Widgets name their
// role in the property "role"; colours come from the theme only.
#include "views/theme.h"

namespace gs {

namespace {

/// `@name` stands for a colour of the theme.
const char* const kSheet = R"(
QLabel[role="windowTitle"] { font-size: 15px; font-weight: 600; }
QLabel[role="pageTitle"] { font-size: 20px; font-weight: 600; }
QLabel[role="panelTitle"] { font-size: 13px; font-weight: 600; }
QLabel[role="subtitle"], QLabel[role="pageHint"] { color: @muted; }
QLabel[role="better"] { color: @hidden_ok; font-weight: 500; }
QLabel[role="worse"] { color: @exposed; font-weight: 500; }
QLabel[role="caption"] { color: @muted; font-size: 11px; }
QLabel[role="page"], QLabel[role="pageHint"] { font-size: 13px; }
QLabel[role="code"] { background: @field; border-radius: 4px; padding: 6px 9px; }

QMainWindow::separator { background: transparent; width: 8px; height: 8px; }
QMainWindow::separator:hover { background: @border; }

QPushButton { background: @field; border: 1px solid transparent; border-radius: 5px; padding: 4px 11px; min-height: 16px; }
QPushButton:hover, QPushButton:pressed { background: @selection; }
QPushButton:focus { border-color: @accent; }
QPushButton:disabled { color: @muted; }
QPushButton[role="primary"] { background: @accent; color: @on_accent; font-weight: 500; }
QPushButton[role="primary"]:disabled { background: @field; color: @muted; }
QPushButton[role="primary"]:focus { border-color: @text; }
QPushButton[role="link"] { background: transparent; border: none; border-radius: 3px; padding: 1px 1px; }
QPushButton[role="link"]:hover { color: @accent; text-decoration: underline; }
QPushButton[role="link"]:focus { color: @accent; background: @selection; }
QToolButton[role="title"] { background: transparent; border: none; border-radius: 4px; color: @muted; font-size: 14px; }
QToolButton[role="title"]:hover { background: @field; color: @text; }

QLineEdit, QAbstractSpinBox { background: @field; border: 1px solid transparent; border-radius: 5px;
    padding: 3px 7px; min-height: 18px; selection-background-color: @accent; selection-color: @on_accent; }
QLineEdit:focus, QAbstractSpinBox:focus { border-color: @accent; }
QAbstractSpinBox::up-button, QAbstractSpinBox::down-button { width: 0; border: none; }
QComboBox QAbstractItemView { background: @panel; border: 1px solid @border; selection-background-color: @selection;
    selection-color: @text; outline: none; }

QAbstractScrollArea { border: none; background: transparent; }
QAbstractScrollArea::corner { border: none; background: transparent; }
QAbstractItemView { background: @panel; border: none; outline: none; selection-background-color: @selection;
    selection-color: @text; }
QAbstractItemView[role="bare"] { background: transparent; }
QListWidget[role="menu"] { border: 1px solid @border; border-radius: 6px; padding: 4px; }
QListWidget[role="menu"]::item { border-radius: 4px; padding-left: 8px; }
QListWidget[role="menu"]::item:selected { background: @selection; color: @text; }
QStackedWidget#exportPreview { background: @panel; border: 1px solid @border; border-radius: 6px; }
QHeaderView { background: transparent; border: none; }
QHeaderView::section { background: @panel; color: @muted; border: none; border-bottom: 1px solid @border;
    padding: 4px 6px; font-size: 11px; }
QTableCornerButton::section { background: @panel; border: none; }

QScrollBar:vertical { background: transparent; width: 10px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 10px; margin: 0; }
QScrollBar::handle { background: @border; border-radius: 3px; margin: 2px; }
QScrollBar::handle:vertical { min-height: 28px; }
QScrollBar::handle:horizontal { min-width: 28px; }
QScrollBar::handle:hover, QScrollBar::handle:pressed { background: @muted; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }

QTabBar { background: transparent; }
QTabBar::tab { background: transparent; color: @muted; border: none; padding: 6px 12px 7px 12px; font-size: 13px; font-weight: 500; }
QTabBar::tab:selected { color: @text; font-weight: 600; border-bottom: 2px solid @accent; padding-bottom: 5px; }
QTabBar::tab:hover, QTabBar::tab:focus { color: @text; }

QMenu { background: @panel; border: 1px solid @border; padding: 5px; }
QMenu::item { padding: 5px 26px 5px 22px; border-radius: 4px; }
QMenu::item:selected { background: @selection; }
QMenu::item:disabled { color: @muted; }
QMenu::separator { height: 1px; background: @border; margin: 5px 8px; }
QMenu::indicator { width: 12px; height: 12px; left: 5px; }
QToolTip { background: @panel; color: @text; border: 1px solid @border; padding: 3px 5px; }

QSlider::groove:horizontal { height: 4px; border-radius: 2px; background: @border; }
QSlider::sub-page:horizontal { height: 4px; border-radius: 2px; background: @accent; }
QSlider::handle:horizontal { width: 14px; height: 14px; margin: -5px 0; border-radius: 7px; background: @accent; }
QSlider::handle:horizontal:focus { border: 2px solid @text; width: 10px; height: 10px; }
QProgressBar { background: @field; border: none; border-radius: 2px; }
QProgressBar::chunk { background: @accent; border-radius: 2px; }
)";

} // namespace

QString Theme::styleSheet() const {
    const std::pair<const char*, QColor> colours[] = {
        {"@on_accent", on_accent}, {"@selection", selection}, {"@accent", accent}, {"@border", border},
        {"@panel", panel},         {"@field", field},         {"@muted", muted},   {"@text", text},
        {"@hidden_ok", hidden_ok}, {"@exposed", exposed},
    };
    QString sheet = QString::fromLatin1(kSheet);
    for (const auto& [name, colour] : colours)
        sheet.replace(QLatin1String(name), colour.name());
    return sheet;
}

} // namespace gs

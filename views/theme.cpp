#include "views/theme.h"

#include "views/flat_style.h"

#include <QApplication>
#include <QFontDatabase>

namespace gs {

namespace {

Theme& active() {
    static Theme theme = Theme::light();
    return theme;
}

/// Inter where it is installed, else the desktop's own sans serif.
QString family() {
    static const QString name =
        QFontDatabase::families().contains(QStringLiteral("Inter"))         ? QStringLiteral("Inter")
        : QFontDatabase::families().contains(QStringLiteral("DejaVu Sans")) ? QStringLiteral("DejaVu Sans")
                                                                            : QApplication::font().family();
    return name;
}

} // namespace

Theme Theme::light() {
    Theme t;
    t.dark = false;
    t.window = QColor(0xf6f7f9);
    t.panel = QColor(0xffffff);
    t.border = QColor(0xd9dde3);
    t.text = QColor(0x1c2530);
    t.muted = QColor(0x5f6b7a);
    t.field = QColor(0xeef1f5);
    t.accent = QColor(0x0b6bcb);
    t.selection = QColor(0xe3effb);
    t.on_accent = QColor(0xffffff);
    t.compute = QColor(0x8aa0b8);
    t.gather = QColor(0xe8a33d);
    t.other_comm = QColor(0x4fa3a5);
    t.exposed = QColor(0xd1495b);
    t.hidden_ok = QColor(0x2f9e77);
    t.limited = QColor(0xd1495b);
    t.live_bytes = QColor(0x6c4bb6);
    t.warning = QColor(0xb7791f);
    return t;
}

Theme Theme::darkTheme() {
    Theme t;
    t.dark = true;
    t.window = QColor(0x14181d);
    t.panel = QColor(0x1b2027);
    t.border = QColor(0x2c343d);
    t.text = QColor(0xe6ebf0);
    t.muted = QColor(0x8d99a6);
    t.field = QColor(0x262d35);
    t.accent = QColor(0x59a7f0);
    t.selection = QColor(0x22384f);
    t.on_accent = QColor(0xffffff);
    t.compute = QColor(0x5f7891);
    t.gather = QColor(0xd9952f);
    t.other_comm = QColor(0x3f8b8d);
    t.exposed = QColor(0xe0667a);
    t.hidden_ok = QColor(0x4cc196);
    t.limited = QColor(0xe0667a);
    t.live_bytes = QColor(0xa48be0);
    t.warning = QColor(0xe0b04c);
    return t;
}

const Theme& Theme::current() {
    return active();
}

QPalette Theme::palette() const {
    QPalette p;
    p.setColor(QPalette::Window, window);
    p.setColor(QPalette::WindowText, text);
    p.setColor(QPalette::Base, panel);
    p.setColor(QPalette::AlternateBase, panel);
    p.setColor(QPalette::Text, text);
    p.setColor(QPalette::PlaceholderText, muted);
    p.setColor(QPalette::Button, field);
    p.setColor(QPalette::ButtonText, text);
    p.setColor(QPalette::Highlight, selection);
    p.setColor(QPalette::HighlightedText, text);
    p.setColor(QPalette::ToolTipBase, panel);
    p.setColor(QPalette::ToolTipText, text);
    p.setColor(QPalette::Link, accent);
    p.setColor(QPalette::Mid, border);
    p.setColor(QPalette::Midlight, border);
    p.setColor(QPalette::Dark, border);
    p.setColor(QPalette::Light, panel);
    p.setColor(QPalette::Shadow, border);
    for (const QPalette::ColorRole role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
        p.setColor(QPalette::Disabled, role, muted);
    return p;
}

QFont Theme::font(int pixel_size, QFont::Weight weight) {
    QFont font(family());
    font.setPixelSize(pixel_size);
    font.setWeight(weight);
    return font;
}

void Theme::apply(bool dark) {
    active() = dark ? darkTheme() : light();
    QApplication::setStyle(new FlatStyle);
    QApplication::setPalette(active().palette());
    QApplication::setFont(font());
    qApp->setStyleSheet(active().styleSheet());
}

} // namespace gs

#include "app/panel_dock.h"

#include "views/theme.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QToolButton>

namespace gs {

namespace {

constexpr int kRadius = 6;

QToolButton* titleButton(const QString& text, const QString& tip, QWidget* parent) {
    auto* button = new QToolButton(parent);
    button->setText(text);
    button->setToolTip(tip);
    button->setAccessibleName(tip);
    button->setProperty("role", "title");
    button->setFocusPolicy(Qt::NoFocus);
    button->setFixedSize(20, 20);
    return button;
}

} // namespace

PanelDock::PanelDock(const QString& id, const QString& title, QWidget* content, QWidget* parent)
    : QDockWidget(title, parent) {
    setObjectName(id);
    setFeatures(DockWidgetClosable | DockWidgetMovable | DockWidgetFloatable);
    // The frame is painted here; the content keeps clear of its line and its round corners.
    auto* frame = new QWidget(this);
    auto* layout = new QVBoxLayout(frame);
    layout->setContentsMargins(1, 0, 1, kRadius / 2);
    layout->addWidget(content);
    setWidget(frame);
    title_bar_ = makeTitleBar(title);
    no_title_bar_ = new QWidget(this);
    no_title_bar_->setFixedHeight(1);
    no_title_bar_->hide();
    setTitleBarWidget(title_bar_);
    connect(this, &QDockWidget::topLevelChanged, this, &PanelDock::updateTitleBar);
}

QWidget* PanelDock::makeTitleBar(const QString& title) {
    auto* bar = new QWidget(this);
    auto* layout = new QHBoxLayout(bar);
    layout->setContentsMargins(13, 7, 8, 5);
    layout->setSpacing(2);
    auto* label = new QLabel(title, bar);
    label->setProperty("role", "panelTitle");
    float_button_ = titleButton(QStringLiteral("⧉"), tr("Float or dock %1").arg(title), bar);
    close_button_ = titleButton(QStringLiteral("×"), tr("Close %1").arg(title), bar);
    connect(float_button_, &QToolButton::clicked, this, [this] { setFloating(!isFloating()); });
    connect(close_button_, &QToolButton::clicked, this, &QDockWidget::close);
    layout->addWidget(label);
    layout->addStretch(1);
    for (QToolButton* button : {float_button_, close_button_}) {
        QSizePolicy policy = button->sizePolicy();
        policy.setRetainSizeWhenHidden(true);
        button->setSizePolicy(policy);
        button->hide();
        layout->addWidget(button);
    }
    return bar;
}

void PanelDock::setTabbed(bool tabbed) {
    tabbed_ = tabbed;
    updateTitleBar();
}

void PanelDock::updateTitleBar() {
    QWidget* wanted = tabbed_ && !isFloating() ? no_title_bar_ : title_bar_;
    if (titleBarWidget() == wanted)
        return;
    titleBarWidget()->hide();
    setTitleBarWidget(wanted);
    wanted->show();
}

void PanelDock::paintEvent(QPaintEvent*) {
    const Theme& theme = Theme::current();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.fillRect(rect(), theme.window);
    painter.setPen(theme.border);
    painter.setBrush(theme.panel);
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), kRadius, kRadius);
}

void PanelDock::enterEvent(QEnterEvent* event) {
    float_button_->show();
    close_button_->show();
    QDockWidget::enterEvent(event);
}

void PanelDock::leaveEvent(QEvent* event) {
    float_button_->hide();
    close_button_->hide();
    QDockWidget::leaveEvent(event);
}

} // namespace gs

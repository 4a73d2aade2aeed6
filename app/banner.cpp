#include "app/banner.h"

#include "app/elided_label.h"
#include "app/text.h"
#include "views/theme.h"

#include <QFileInfo>
#include <QHBoxLayout>
#include <QPainter>
#include <QProgressBar>
#include <QPushButton>

#include <cmath>

namespace gs {

QString placeText(const SourcePos& where) {
    if (where.file.empty())
        return {};
    QString text = QFileInfo(toQString(where.file)).fileName();
    if (where.line > 0)
        text += Banner::tr(", line %1").arg(where.line);
    if (where.line > 0 && where.column > 0)
        text += Banner::tr(", column %1").arg(where.column);
    return text;
}

QString errorText(const Error& error) {
    QString text = toSentence(error.message);
    const QString place = placeText(error.where);
    if (!place.isEmpty() && !text.contains(place))
        text = Banner::tr("%1: %2").arg(place, text);
    if (!error.hint.empty())
        text += QLatin1Char(' ') + toSentence(error.hint);
    return text;
}

Banner::Banner(QWidget* parent) : QWidget(parent) {
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(36, 6, 10, 6);
    layout->setSpacing(8);
    text_ = new QLabel;
    text_->setWordWrap(true);
    text_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    action_ = new QPushButton;
    other_action_ = new QPushButton;
    dismiss_ = new QPushButton(tr("Dismiss"));
    layout->addWidget(text_, 1);
    layout->addWidget(action_);
    layout->addWidget(other_action_);
    layout->addWidget(dismiss_);
    connect(action_, &QPushButton::clicked, this, [this] {
        hide();
        if (chosen_)
            chosen_();
        else
            emit actionClicked();
    });
    connect(other_action_, &QPushButton::clicked, this, [this] {
        hide();
        other_chosen_();
    });
    connect(dismiss_, &QPushButton::clicked, this, &QWidget::hide);
    hide();
}

void Banner::showMessage(Look look, const QString& message, const QString& action) {
    look_ = look;
    text_->setText(message);
    action_->setText(action);
    action_->setVisible(!action.isEmpty());
    other_action_->hide();
    chosen_ = other_chosen_ = nullptr;
    show();
    update();
}

void Banner::ask(const QString& message, Choice first, Choice second) {
    showMessage(Look::Info, message, first.text);
    chosen_ = std::move(first.chosen);
    other_chosen_ = std::move(second.chosen);
    other_action_->setText(second.text);
    other_action_->show();
}

QString Banner::message() const {
    return isHidden() ? QString() : text_->text();
}

void Banner::paintEvent(QPaintEvent*) {
    const Theme& theme = Theme::current();
    const QColor colour = look_ == Look::Warning ? theme.exposed : theme.accent;
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(theme.border);
    painter.setBrush(theme.panel);
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6);
    // A sign of its own for each kind, so that colour is not the only one.
    const QRectF sign(14, height() / 2.0 - 7, 14, 14);
    painter.setPen(Qt::NoPen);
    painter.setBrush(colour);
    if (look_ == Look::Warning) {
        painter.drawPolygon(
            QPolygonF{{sign.center().x(), sign.top()}, sign.bottomRight(), sign.bottomLeft()});
    } else {
        painter.drawEllipse(sign);
    }
    painter.setPen(theme.panel);
    painter.setFont(Theme::font(10, QFont::Bold));
    painter.drawText(sign.adjusted(0, look_ == Look::Warning ? 3 : 0, 0, 0), Qt::AlignCenter,
                     look_ == Look::Warning ? QStringLiteral("!") : QStringLiteral("i"));
}

LoadingPanel::LoadingPanel(Shape shape, QWidget* parent) : QWidget(parent), shape_(shape) {
    title_ = new QLabel;
    title_->setProperty("role", shape == Shape::Page ? "pageTitle" : "panelTitle");
    stage_ = new ElidedLabel;
    stage_->setProperty("role", "subtitle");
    bar_ = new QProgressBar;
    bar_->setRange(0, 1000);
    bar_->setTextVisible(false);
    bar_->setFixedHeight(4);
    auto* cancel = new QPushButton(tr("Cancel"));
    connect(cancel, &QPushButton::clicked, this, &LoadingPanel::cancelClicked);
    if (shape == Shape::Strip) {
        auto* layout = new QHBoxLayout(this);
        layout->setContentsMargins(14, 6, 10, 6);
        layout->setSpacing(12);
        layout->addWidget(title_);
        layout->addWidget(stage_);
        layout->addWidget(bar_, 1);
        layout->addWidget(cancel);
        return;
    }
    auto* box = new QWidget;
    box->setFixedWidth(420);
    auto* column = new QVBoxLayout(box);
    column->setSpacing(12);
    column->addWidget(title_);
    column->addWidget(bar_);
    auto* row = new QHBoxLayout;
    row->addWidget(stage_);
    row->addStretch(1);
    row->addWidget(cancel);
    column->addLayout(row);
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(box, 0, Qt::AlignCenter);
}

void LoadingPanel::begin(const QString& title) {
    title_->setText(title);
    setProgress({}, 0);
}

void LoadingPanel::setProgress(const QString& stage, double fraction) {
    stage_->setFullText(stage);
    bar_->setValue(static_cast<int>(std::lround(fraction * 1000)));
}

QString LoadingPanel::stage() const {
    return stage_->text();
}

void LoadingPanel::paintEvent(QPaintEvent*) {
    if (shape_ == Shape::Page)
        return;
    const Theme& theme = Theme::current();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(theme.border);
    painter.setBrush(theme.panel);
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6);
}

} // namespace gs

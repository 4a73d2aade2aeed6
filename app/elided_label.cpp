#include "app/elided_label.h"

namespace gs {

namespace {

constexpr int kMinimumWidth = 48;

} // namespace

ElidedLabel::ElidedLabel(QWidget* parent) : QLabel(parent) {
    setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Preferred);
}

void ElidedLabel::setFullText(const QString& text) {
    full_ = text;
    updateGeometry();
    elide();
}

QSize ElidedLabel::sizeHint() const {
    ensurePolished();
    return {fontMetrics().horizontalAdvance(full_) + 2, fontMetrics().height()};
}

QSize ElidedLabel::minimumSizeHint() const {
    const QSize hint = sizeHint();
    return {std::min(hint.width(), kMinimumWidth), hint.height()};
}

void ElidedLabel::resizeEvent(QResizeEvent* event) {
    QLabel::resizeEvent(event);
    elide();
}

void ElidedLabel::elide() {
    const QString text = fontMetrics().elidedText(full_, Qt::ElideMiddle, width());
    setText(text);
    setToolTip(text == full_ ? QString() : full_);
}

} // namespace gs

#include "app/paragraph.h"

#include <QLabel>
#include <QLayout>

namespace gs {

QLabel* paragraph(const char* role, QLayout* layout) {
    auto* label = new QLabel;
    label->setProperty("role", role);
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    layout->addWidget(label);
    return label;
}

} // namespace gs

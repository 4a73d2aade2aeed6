#include "app/message_page.h"

#include "app/banner.h"
#include "app/paragraph.h"
#include "app/text.h"

#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>

namespace gs {

MessagePage::MessagePage(QWidget* parent) : QWidget(parent) {
    auto* box = new QWidget;
    box->setFixedWidth(560);
    auto* column = new QVBoxLayout(box);
    column->setSpacing(10);
    title_ = paragraph("pageTitle", column);
    message_ = paragraph("page", column);
    place_ = paragraph("code", column);
    hint_ = paragraph("pageHint", column);
    auto* buttons = new QHBoxLayout;
    buttons->setContentsMargins(0, 10, 0, 0);
    buttons->setSpacing(8);
    retry_ = new QPushButton(tr("Try again"));
    auto* open = new QPushButton(tr("Open…"));
    open->setProperty("role", "primary");
    auto* samples = new QPushButton(tr("Samples"));
    for (QPushButton* button : {open, retry_, samples})
        buttons->addWidget(button);
    buttons->addStretch(1);
    column->addLayout(buttons);
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(box, 0, Qt::AlignCenter);
    connect(open, &QPushButton::clicked, this, &MessagePage::openClicked);
    connect(samples, &QPushButton::clicked, this, &MessagePage::samplesClicked);
    connect(retry_, &QPushButton::clicked, this, &MessagePage::retryClicked);
    showEmpty();
}

void MessagePage::showEmpty() {
    title_->setText(tr("Nothing is open"));
    message_->setText(tr("Open a graph of a compiled training step: graph JSON, printed FX code, an FX graph "
                         "listing or a log that has one; plain or gzip. Or drop the file here."));
    place_->hide();
    hint_->setText(tr("No graph at hand? The samples are small real ones, each with its story."));
    retry_->hide();
}

void MessagePage::showError(const QString& file, const Error& error) {
    title_->setText(tr("%1 could not be opened").arg(QFileInfo(file).fileName()));
    message_->setText(toSentence(error.message));
    const QString place = placeText(error.where);
    place_->setText(place.isEmpty() ? file : place);
    place_->setToolTip(file);
    place_->setVisible(!place_->text().isEmpty());
    hint_->setText(toSentence(error.hint));
    retry_->show();
}

} // namespace gs

#include "views/shell/samples_page.h"

#include "base/units.h"
#include "views/theme.h"

#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QListView>
#include <QPainter>
#include <QPushButton>
#include <QStandardItemModel>
#include <QStyledItemDelegate>
#include <QVBoxLayout>

namespace gs {

namespace {

constexpr int kStoryRole = Qt::UserRole + 1;
constexpr int kCountsRole = Qt::UserRole + 2;
constexpr int kCardHeight = 122; // title, three lines of story, counts
constexpr int kMinCardWidth = 340;
constexpr int kGap = 6;

class CardDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    int card_width = kMinCardWidth;

    QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override {
        return {card_width, kCardHeight};
    }

    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override {
        const Theme& theme = Theme::current();
        const bool current = option.state & QStyle::State_Selected;
        const bool hover = option.state & QStyle::State_MouseOver;
        const QRectF card = QRectF(option.rect).adjusted(kGap + 0.5, kGap + 0.5, -kGap - 0.5, -kGap - 0.5);
        painter->save();
        painter->setRenderHint(QPainter::Antialiasing);
        painter->setBrush(current ? theme.selection : theme.panel);
        painter->setPen(QPen(current || hover ? theme.accent : theme.border, current ? 1.5 : 1));
        painter->drawRoundedRect(card, 6, 6);
        const QRect text = card.toRect().adjusted(14, 10, -14, -10);
        const auto line = [&](int y, int height, const QFont& font, const QColor& colour, int flags,
                              const QString& string) {
            painter->setFont(font);
            painter->setPen(colour);
            painter->drawText(QRect(text.left(), text.top() + y, text.width(), height), flags, string);
        };
        const QFont title = Theme::font(13, QFont::DemiBold);
        line(0, 18, title, theme.text, Qt::AlignVCenter,
             QFontMetrics(title).elidedText(index.data().toString(), Qt::ElideRight, text.width()));
        line(23, 48, Theme::font(12), theme.text, Qt::AlignTop | Qt::TextWordWrap,
             index.data(kStoryRole).toString());
        line(text.height() - 14, 14, Theme::font(11), theme.muted, Qt::AlignVCenter,
             index.data(kCountsRole).toString());
        painter->restore();
    }
};

QString countsText(const Sample& sample) {
    if (sample.nodes <= 0)
        return {};
    if (sample.gathers <= 0)
        return SamplesPage::tr("%1 nodes").arg(QString::fromStdString(formatCount(sample.nodes)));
    return SamplesPage::tr("%1 nodes · %2 gathers")
        .arg(QString::fromStdString(formatCount(sample.nodes)),
             QString::fromStdString(formatCount(sample.gathers)));
}

} // namespace

SamplesPage::SamplesPage(QWidget* parent) : QWidget(parent) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(28, 24, 28, 12);
    layout->setSpacing(4);
    auto* row = new QHBoxLayout;
    auto* title = new QLabel(tr("Where do the gathers go?"));
    title->setProperty("role", "pageTitle");
    auto* open = new QPushButton(tr("Open a graph…"));
    open->setProperty("role", "primary");
    row->addWidget(title);
    row->addStretch(1);
    row->addWidget(open);
    layout->addLayout(row);
    auto* hint =
        new QLabel(tr("Small real training graphs, each with its story. Or drop a graph of your own."));
    hint->setProperty("role", "pageHint");
    layout->addWidget(hint);
    layout->addSpacing(10);
    model_ = new QStandardItemModel(this);
    list_ = new QListView;
    list_->setObjectName(QStringLiteral("samples"));
    list_->setAccessibleName(tr("Samples"));
    list_->setModel(model_);
    list_->setItemDelegate(new CardDelegate(list_));
    list_->setViewMode(QListView::IconMode);
    list_->setMovement(QListView::Static);
    list_->setResizeMode(QListView::Adjust);
    list_->setUniformItemSizes(true);
    list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    list_->setMouseTracking(true);
    list_->setProperty("role", "bare");
    layout->addWidget(list_, 1);
    const auto choose = [this](const QModelIndex& index) { emit sampleChosen(samples_[index.row()]); };
    // One click opens with the mouse, Enter with the keys; activated() covers only the latter in all styles.
    connect(list_, &QListView::clicked, this, choose);
    connect(list_, &QListView::activated, this, [this, choose](const QModelIndex& index) {
        if (!(QGuiApplication::mouseButtons() & Qt::LeftButton))
            choose(index);
    });
    connect(open, &QPushButton::clicked, this, &SamplesPage::openClicked);
}

void SamplesPage::setSamples(const QList<Sample>& samples) {
    samples_ = samples;
    model_->clear();
    for (const Sample& sample : samples) {
        auto* item = new QStandardItem(sample.title);
        item->setEditable(false);
        item->setData(sample.story, kStoryRole);
        item->setData(countsText(sample), kCountsRole);
        item->setData(tr("%1. %2 %3").arg(sample.title, sample.story, countsText(sample)),
                      Qt::AccessibleTextRole);
        model_->appendRow(item);
    }
    if (!samples.isEmpty())
        list_->setCurrentIndex(model_->index(0, 0));
    fitCards();
}

void SamplesPage::fitCards() {
    // Less a scroll bar, and the list wraps a little before its edge.
    const int width = list_->width() - 18;
    const int columns = std::max(1, width / kMinCardWidth);
    auto* delegate = static_cast<CardDelegate*>(list_->itemDelegate());
    delegate->card_width = width / columns;
    list_->setGridSize({delegate->card_width, kCardHeight});
    // By count: the list itself keeps the bar that a narrower layout needed.
    const auto rows = (samples_.size() + columns - 1) / columns;
    list_->setVerticalScrollBarPolicy(rows * kCardHeight > list_->height() ? Qt::ScrollBarAlwaysOn
                                                                           : Qt::ScrollBarAlwaysOff);
}

void SamplesPage::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    fitCards();
}

void SamplesPage::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    fitCards();
    list_->setFocus(Qt::OtherFocusReason);
}

} // namespace gs

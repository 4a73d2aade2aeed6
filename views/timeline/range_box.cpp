#include "views/timeline/range_box.h"

#include "base/units.h"
#include "views/theme.h"
#include "views/timeline/timeline_text.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QPainter>
#include <QToolButton>

namespace gs {

namespace {

/// Rows of cells; the first cell is the name.
using Table = std::vector<QStringList>;

QString percentOf(int64_t part, int64_t whole) {
    if (whole <= 0)
        return QStringLiteral("–");
    return QString::fromStdString(formatPercent(static_cast<double>(part) / static_cast<double>(whole)));
}

Table makeTable(const TimelineData& data, TimeRange range) {
    std::vector<RangeTotals> totals;
    QStringList head{timeText(range.length())};
    for (const TimelineBand& band : data.bands) {
        totals.push_back(rangeTotals(band, range));
        head << band.title;
    }
    Table table{head};
    const auto row = [&](const QString& name, auto cell) {
        QStringList cells{name};
        for (const RangeTotals& item : totals)
            cells << cell(item);
        table.push_back(cells);
    };
    row(TimelineText::tr("compute"), [](const RangeTotals& t) { return timeText(t.compute_ns); });
    row(TimelineText::tr("exposed"), [](const RangeTotals& t) { return timeText(t.exposed_ns); });
    QStringList streams;
    for (const RangeTotals& item : totals) {
        for (const RangeTotals::Stream& stream : item.streams) {
            if (stream.busy_ns > 0 && !streams.contains(stream.label))
                streams << stream.label;
        }
    }
    for (const QString& label : streams) {
        row(label, [&](const RangeTotals& t) {
            int64_t busy = 0;
            for (const RangeTotals::Stream& stream : t.streams)
                busy += stream.label == label ? stream.busy_ns : 0;
            return timeText(busy);
        });
    }
    if (streams.size() > 1)
        row(TimelineText::tr("any group"), [](const RangeTotals& t) { return timeText(t.comm_ns); });
    row(TimelineText::tr("overlapped"),
        [](const RangeTotals& t) { return percentOf(t.overlapped_ns, t.comm_ns); });
    row(TimelineText::tr("collectives"),
        [](const RangeTotals& t) { return QString::fromStdString(formatCount(t.transfers)); });
    row(TimelineText::tr("bytes"), [](const RangeTotals& t) { return bytesText(t.bytes); });
    return table;
}

QString toHtml(const Table& table) {
    QString html = QStringLiteral("<table cellspacing='0' cellpadding='1'>");
    for (size_t i = 0; i < table.size(); ++i) {
        html += QStringLiteral("<tr>");
        for (qsizetype c = 0; c < table[i].size(); ++c) {
            const QString text = table[i][c].toHtmlEscaped();
            const QString cell = i == 0 ? QStringLiteral("<b>%1</b>").arg(text) : text;
            html += c == 0 ? QStringLiteral("<td>%1&nbsp;&nbsp;</td>").arg(cell)
                           : QStringLiteral("<td align='right'>&nbsp;&nbsp;%1</td>").arg(cell);
        }
        html += QStringLiteral("</tr>");
    }
    return html + QStringLiteral("</table>");
}

} // namespace

RangeBox::RangeBox(QWidget* parent) : QFrame(parent), text_(new QLabel(this)) {
    setAccessibleName(tr("Totals of the selected range"));
    setCursor(Qt::ArrowCursor);
    text_->setTextFormat(Qt::RichText);
    text_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    auto* close = new QToolButton(this);
    close->setText(QStringLiteral("×"));
    close->setAutoRaise(true);
    close->setToolTip(tr("Close (Esc)"));
    close->setAccessibleName(tr("Close the totals"));
    connect(close, &QToolButton::clicked, this, &RangeBox::closed);
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(12, 8, 6, 8);
    layout->setSpacing(6);
    layout->addWidget(text_);
    layout->addWidget(close, 0, Qt::AlignTop);
    hide();
}

void RangeBox::showTotals(const TimelineData& data, TimeRange range) {
    const Table table = makeTable(data, range);
    plain_.clear();
    for (const QStringList& row : table)
        plain_ += row.join(QLatin1Char('\t')) + QLatin1Char('\n');
    text_->setFont(Theme::font(11));
    text_->setText(toHtml(table));
    setAccessibleDescription(plain_);
    adjustSize();
    show();
    raise();
}

void RangeBox::paintEvent(QPaintEvent*) {
    const Theme& theme = Theme::current();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(theme.border);
    painter.setBrush(theme.panel);
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6);
}

void RangeBox::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape)
        emit closed();
    else
        QFrame::keyPressEvent(event);
}

} // namespace gs

#include "app/export/export_preview.h"

#include "app/banner.h"
#include "app/text.h"
#include "base/units.h"
#include "views/theme.h"

#include <QFontDatabase>
#include <QLabel>
#include <QPainter>
#include <QPlainTextEdit>
#include <QRegularExpression>
#include <QScrollArea>
#include <QStackedWidget>
#include <QSvgRenderer>
#include <QVBoxLayout>

#include <algorithm>

namespace gs {

namespace {

/// Parsing and painting a larger SVG would hold the dialog up.
constexpr size_t kMostSvgBytes = 3'000'000;
constexpr QSize kSvgSize(1600, 1200);

/// An image as large as fits, on a page of its own.
class Sheet : public QWidget {
public:
    void setImage(const QImage& image) {
        image_ = image;
        update();
    }

protected:
    void paintEvent(QPaintEvent*) override {
        if (image_.isNull())
            return;
        const QSizeF room = QSizeF(size()) - QSizeF(24, 24);
        QSizeF wanted = image_.size();
        if (wanted.width() > room.width() || wanted.height() > room.height())
            wanted.scale(room, Qt::KeepAspectRatio);
        const QRectF sheet(QPointF((width() - wanted.width()) / 2, (height() - wanted.height()) / 2), wanted);
        QPainter painter(this);
        painter.setRenderHints(QPainter::SmoothPixmapTransform | QPainter::Antialiasing);
        painter.drawImage(sheet, image_);
        painter.setPen(Theme::current().border);
        painter.drawRect(sheet.adjusted(-0.5, -0.5, 0.5, 0.5));
    }

private:
    QImage image_;
};

/// Qt's renderer forgets the size of a text whose anchor is an attribute; by a class it keeps it.
void anchorByClass(QString& svg) {
    static const QRegularExpression kText(QStringLiteral("<text\\b[^>]*>"));
    static const QRegularExpression kAnchor(QStringLiteral("\\s+text-anchor=\"(middle|end)\""));
    QString out;
    qsizetype done = 0;
    for (auto match = kText.globalMatch(svg); match.hasNext();) {
        const QRegularExpressionMatch text = match.next();
        QString tag = text.captured();
        if (const QRegularExpressionMatch anchor = kAnchor.match(tag); anchor.hasMatch()) {
            const QString name = QStringLiteral("anchor-") + anchor.captured(1);
            tag.remove(anchor.capturedStart(), anchor.capturedLength());
            if (tag.contains(QLatin1String("class=\"")))
                tag.replace(QLatin1String("class=\""), QLatin1String("class=\"") + name + QLatin1Char(' '));
            else
                tag.insert(5, QStringLiteral(" class=\"%1\"").arg(name));
        }
        out += QStringView(svg).mid(done, text.capturedStart() - done);
        out += tag;
        done = text.capturedEnd();
    }
    svg = out += QStringView(svg).mid(done);
    svg.replace(QLatin1String("</style>"),
                QLatin1String(".anchor-middle{text-anchor:middle}.anchor-end{text-anchor:end}</style>"));
}

/// In words that Qt's renderer knows: our pictures choose their colours by CSS variables.
QByteArray plainSvg(const std::string& svg) {
    static const QRegularExpression kMedia(QStringLiteral("@media([^{]*)\\{:root\\{([^}]*)\\}\\s*\\}"));
    static const QRegularExpression kRoot(QStringLiteral(":root\\{([^}]*)\\}"));
    static const QRegularExpression kVariable(QStringLiteral("--([a-z-]+):([^;]+)"));
    QString text = QString::fromStdString(svg);
    QMap<QString, QString> colours;
    const auto read = [&](const QString& block) {
        for (auto match = kVariable.globalMatch(block); match.hasNext();) {
            const QRegularExpressionMatch one = match.next();
            colours[one.captured(1)] = one.captured(2).trimmed();
        }
    };
    QString dark;
    for (auto match = kMedia.globalMatch(text); match.hasNext();) {
        const QRegularExpressionMatch one = match.next();
        if (one.captured(1).contains(QLatin1String("dark")))
            dark = one.captured(2);
    }
    text.remove(kMedia);
    read(kRoot.match(text).captured(1));
    if (Theme::current().dark)
        read(dark);
    text.remove(kRoot);
    for (auto it = colours.cbegin(); it != colours.cend(); ++it)
        text.replace(QStringLiteral("var(--%1)").arg(it.key()), it.value());
    static const QRegularExpression kInside(QStringLiteral("\\bsvg ([.a-z-]+\\{)"));
    text.replace(kInside, QStringLiteral("\\1"));
    anchorByClass(text);
    return text.toUtf8();
}

QImage imageOf(const std::string& svg) {
    QSvgRenderer renderer(plainSvg(svg));
    if (!renderer.isValid() || renderer.defaultSize().isEmpty())
        return {};
    const QSize size = renderer.defaultSize().scaled(kSvgSize, Qt::KeepAspectRatio);
    QImage image(size, QImage::Format_ARGB32_Premultiplied);
    QPainter painter(&image);
    QFont font = Theme::font(12);
    font.setHintingPreference(QFont::PreferNoHinting);
    painter.setFont(font);
    // Qt measures a glyph a little differently before and after it has drawn it: only what is drawn a second
    // time is the same for equal files.
    for (int round = 0; round < 2; ++round) {
        painter.fillRect(image.rect(), Qt::white);
        renderer.render(&painter);
    }
    return image;
}

QString plainText(QString html) {
    static const QRegularExpression kTag(QStringLiteral("<[^>]*>"));
    html.remove(kTag);
    for (const auto& [entity, character] :
         {std::pair("&lt;", "<"), std::pair("&gt;", ">"), std::pair("&quot;", "\""), std::pair("&amp;", "&")})
        html.replace(QLatin1String(entity), QLatin1String(character));
    return html.simplified();
}

qsizetype countOf(const std::string& text, std::string_view what) {
    qsizetype count = 0;
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + what.size()))
        ++count;
    return count;
}

} // namespace

QString headOf(const std::string& text, qsizetype characters, qsizetype line_length) {
    // A character has at most four bytes; half a one at the end is cut with its replacement.
    const auto bytes = std::min(static_cast<qsizetype>(text.size()), characters * 4 + 4);
    QString head = QString::fromUtf8(text.data(), bytes).left(characters);
    if (!head.isEmpty() && head.back().isHighSurrogate())
        head.chop(1);
    QStringList lines = head.split(QLatin1Char('\n'));
    for (QString& line : lines)
        if (line.size() > line_length)
            line = line.left(line_length) + QStringLiteral("…");
    return lines.join(QLatin1Char('\n'));
}

ExportPreview::ExportPreview(QWidget* parent) : QWidget(parent) {
    stack_ = new QStackedWidget;
    text_ = new QPlainTextEdit;
    text_->setReadOnly(true);
    text_->setLineWrapMode(QPlainTextEdit::NoWrap);
    QFont fixed = QFontDatabase::systemFont(QFontDatabase::FixedFont);
    fixed.setPixelSize(11);
    text_->setFont(fixed);
    text_->setAccessibleName(tr("Preview"));
    text_->document()->setDocumentMargin(10);
    outline_ = new QLabel;
    outline_->setWordWrap(true);
    outline_->setTextFormat(Qt::RichText);
    outline_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    outline_->setContentsMargins(16, 14, 16, 14);
    auto* scroll = new QScrollArea;
    scroll->setWidgetResizable(true);
    scroll->setWidget(outline_);
    for (QWidget* clear : {scroll->viewport(), static_cast<QWidget*>(outline_)})
        clear->setAutoFillBackground(false); // the sheet's own shows
    picture_ = new Sheet;
    message_ = new QLabel;
    message_->setAlignment(Qt::AlignCenter);
    message_->setWordWrap(true);
    message_->setProperty("role", "pageHint");
    message_->setContentsMargins(40, 0, 40, 0);
    for (QWidget* page : std::initializer_list<QWidget*>{text_, scroll, picture_, message_})
        stack_->addWidget(page);
    caption_ = new QLabel;
    caption_->setProperty("role", "caption");
    stack_->setObjectName(QStringLiteral("exportPreview"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(4);
    layout->addWidget(stack_, 1);
    layout->addWidget(caption_);
}

void ExportPreview::showWorking() {
    message_->setText(tr("Making the file…"));
    stack_->setCurrentWidget(message_);
    caption_->setText(QStringLiteral(" "));
}

void ExportPreview::showProduct(const ExportItem& item, const ExportProduct& product) {
    if (!product.bytes) {
        showError(product.error.value_or(Error{"export-failed", "nothing was made", {}, ""}));
        return;
    }
    const std::string& bytes = *product.bytes;
    caption_->setText(toQString(formatBytes(static_cast<int64_t>(bytes.size()))));
    if (bytes.empty()) {
        message_->setText(tr("The file is empty: this graph has nothing of the kind."));
        stack_->setCurrentWidget(message_);
        return;
    }
    const std::string_view extension = item.exporter ? item.exporter->extension : std::string_view();
    QImage picture = product.picture;
    if (extension == "svg" && bytes.size() <= kMostSvgBytes)
        picture = imageOf(bytes);
    if (!picture.isNull()) {
        showPicture(picture);
        if (!product.size.isEmpty())
            caption_->setText(tr("%1 × %2 · %3")
                                  .arg(product.size.width())
                                  .arg(product.size.height())
                                  .arg(caption_->text()));
    } else if (extension == "html") {
        showOutline(bytes);
    } else if (item.exporter && item.exporter->binary) {
        message_->setText(tr("A binary file: there is no preview of it."));
        stack_->setCurrentWidget(message_);
    } else {
        showText(bytes);
    }
}

void ExportPreview::showText(const std::string& bytes) {
    const QString head = headOf(bytes, kMostCharacters, kMostLineLength);
    text_->setPlainText(head);
    stack_->setCurrentWidget(text_);
    const auto lines = static_cast<int>(std::min<qsizetype>(countOf(bytes, "\n"), 1 << 30));
    QString caption = tr("%1 · %2 lines").arg(caption_->text(), toQString(formatCount(lines)));
    if (head.toUtf8().size() < static_cast<qsizetype>(bytes.size()))
        caption += tr(" · only the beginning is shown");
    caption_->setText(caption);
}

/// A browser shows it better: here is what it holds.
void ExportPreview::showOutline(const std::string& html) {
    static const QRegularExpression kHeading(QStringLiteral("<h([12])[^>]*>(.*?)</h[12]>"),
                                             QRegularExpression::DotMatchesEverythingOption);
    QString list, title;
    QRegularExpressionMatchIterator matches = kHeading.globalMatch(QString::fromStdString(html));
    while (matches.hasNext()) {
        const QRegularExpressionMatch match = matches.next();
        const QString text = plainText(match.captured(2)).toHtmlEscaped();
        if (match.captured(1) == QLatin1String("1"))
            title = text;
        else
            list += QStringLiteral("<div style='margin-top:3px'>•&nbsp;&nbsp;%1</div>").arg(text);
    }
    const qsizetype pictures = countOf(html, "<svg"), tables = countOf(html, "<table");
    outline_->setText(
        tr("<p style='font-size:15px;font-weight:600'>%1</p><p>%2</p>%3")
            .arg(title,
                 tr("One file without anything from the network: %1 pictures, %2 tables, and these parts:")
                     .arg(pictures)
                     .arg(tables),
                 list));
    stack_->setCurrentIndex(1);
}

void ExportPreview::showPicture(const QImage& picture) {
    static_cast<Sheet*>(picture_)->setImage(picture);
    stack_->setCurrentWidget(picture_);
}

void ExportPreview::showError(const Error& error) {
    message_->setText(tr("This file cannot be made. %1").arg(errorText(error)));
    stack_->setCurrentWidget(message_);
    caption_->setText(QStringLiteral(" "));
}

QString ExportPreview::text() const {
    const QWidget* page = stack_->currentWidget();
    return page == text_ ? text_->toPlainText() : page == message_ ? message_->text() : outline_->text();
}

QString ExportPreview::caption() const {
    return caption_->text();
}

bool ExportPreview::showsPicture() const {
    return stack_->currentWidget() == picture_;
}

} // namespace gs

#include "app/export/export_dialog.h"

#include "app/banner.h"
#include "app/export/export_preview.h"
#include "app/preferences.h"
#include "app/text.h"
#include "export/file_writer.h"
#include "views/theme.h"

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QLabel>
#include <QListWidget>
#include <QMimeData>
#include <QPushButton>
#include <QRegularExpression>

namespace gs {

namespace {

constexpr QSize kSize(1120, 680);
constexpr QSize kLeastSize(820, 560);
constexpr int kListWidth = 300;
constexpr int kIndexRole = Qt::UserRole + 1; ///< of the item; headings have none
/// More than this is no help on a clipboard.
constexpr size_t kMostCopiedBytes = 64 * 1024 * 1024;

const std::pair<PictureFormat, const char*> kFormats[] = {
    {PictureFormat::Svg, "svg"}, {PictureFormat::Png, "png"}, {PictureFormat::Pdf, "pdf"}};
constexpr QSize kSizes[] = {{}, {1280, 720}, {1920, 1080}, {2560, 1440}};

QComboBox* combo(const QString& name) {
    auto* box = new QComboBox;
    box->setAccessibleName(name);
    return box;
}

QLabel* muted(const QString& text, QWidget* buddy) {
    auto* label = new QLabel(text);
    label->setProperty("role", "subtitle");
    label->setBuddy(buddy);
    return label;
}

} // namespace

ExportDialog::ExportDialog(ExportSource source, std::vector<ExportItem> items, QWidget* parent)
    : QDialog(parent), items_(items.empty() ? exportItems(viewRegistry()) : std::move(items)),
      maker_(std::move(source)) {
    setObjectName(QStringLiteral("exportDialog"));
    setWindowTitle(tr("Export"));
    setMinimumSize(kLeastSize);
    resize(kSize);
    list_ = new QListWidget;
    list_->setFixedWidth(kListWidth);
    list_->setAccessibleName(tr("What to export"));
    list_->setProperty("role", "menu");
    auto* body = new QHBoxLayout;
    body->setSpacing(18);
    body->addWidget(list_);
    body->addWidget(buildRight(), 1);
    banner_ = new Banner;
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(16, 14, 20, 16);
    layout->setSpacing(10);
    layout->addLayout(body, 1);
    layout->addWidget(banner_);
    layout->addWidget(buildButtons());
    fillList();
    restore();
    connect(list_, &QListWidget::currentItemChanged, this, &ExportDialog::itemChanged);
    connect(list_, &QListWidget::itemActivated, this, &ExportDialog::chooseFile);
    connect(&maker_, &ExportMaker::made, this, &ExportDialog::take);
    connect(&maker_, &ExportMaker::written, this, &ExportDialog::written);
    for (QComboBox* box : {target_, format_, size_, scale_})
        connect(box, &QComboBox::currentIndexChanged, this, &ExportDialog::remake);
    if (!choose(Preferences::exportChoices().value(QStringLiteral("item")).toString()) && !items_.empty())
        choose(items_.front().id);
    list_->setFocus(Qt::OtherFocusReason);
}

QWidget* ExportDialog::buildRight() {
    auto* right = new QWidget;
    title_ = new QLabel;
    title_->setProperty("role", "windowTitle");
    meaning_ = new QLabel;
    meaning_->setProperty("role", "subtitle");
    meaning_->setWordWrap(true);
    warnings_ = new QLabel;
    warnings_->setWordWrap(true);
    warnings_->setTextFormat(Qt::RichText);
    warnings_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    warnings_->setProperty("role", "code");
    preview_ = new ExportPreview;
    auto* layout = new QVBoxLayout(right);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(8);
    layout->addWidget(title_);
    layout->addWidget(meaning_);
    layout->addWidget(buildOptions());
    layout->addWidget(warnings_);
    layout->addWidget(preview_, 1);
    return right;
}

QWidget* ExportDialog::buildOptions() {
    options_ = new QWidget;
    target_ = combo(tr("Version"));
    format_ = combo(tr("Format"));
    size_ = combo(tr("Size"));
    scale_ = combo(tr("Pixels per point"));
    for (const auto& [format, name] : kFormats)
        format_->addItem(QString::fromLatin1(name).toUpper());
    for (const QSize& size : kSizes)
        size_->addItem(size.isEmpty() ? tr("as on screen")
                                      : tr("%1 × %2").arg(size.width()).arg(size.height()));
    for (const int scale : {1, 2, 3, 4})
        scale_->addItem(tr("%1 pixels per point", nullptr, scale).arg(scale), scale);
    target_label_ = muted(tr("&Version"), target_);
    format_label_ = muted(tr("&Format"), format_);
    scale_label_ = muted({}, scale_);
    auto* row = new QHBoxLayout(options_);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(8);
    for (QWidget* widget : std::initializer_list<QWidget*>{target_label_, target_, format_label_, format_,
                                                           size_, scale_label_, scale_})
        row->addWidget(widget);
    row->addStretch(1);
    return options_;
}

QWidget* ExportDialog::buildButtons() {
    auto* bar = new QWidget;
    auto* row = new QHBoxLayout(bar);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(8);
    auto* close = new QPushButton(tr("Close"));
    copy_ = new QPushButton(tr("&Copy"));
    save_ = new QPushButton(tr("&Save…"));
    save_->setProperty("role", "primary");
    save_->setDefault(true);
    for (QPushButton* button : {close, copy_})
        button->setAutoDefault(false);
    row->addStretch(1);
    for (QPushButton* button : {close, copy_, save_})
        row->addWidget(button);
    connect(close, &QPushButton::clicked, this, &QDialog::reject);
    connect(copy_, &QPushButton::clicked, this, &ExportDialog::copy);
    connect(save_, &QPushButton::clicked, this, &ExportDialog::chooseFile);
    return bar;
}

void ExportDialog::fillList() {
    QString group;
    for (size_t i = 0; i < items_.size(); ++i) {
        if (items_[i].group != group) {
            group = items_[i].group;
            auto* heading = new QListWidgetItem(group, list_);
            heading->setFlags(Qt::NoItemFlags);
            heading->setFont(Theme::font(11, QFont::DemiBold));
            heading->setSizeHint({0, i == 0 ? 26 : 34});
            heading->setTextAlignment(Qt::AlignLeft | Qt::AlignBottom);
        }
        auto* row = new QListWidgetItem(items_[i].title, list_);
        row->setData(kIndexRole, static_cast<int>(i));
        row->setSizeHint({0, 26});
        row->setToolTip(items_[i].meaning);
    }
}

bool ExportDialog::choose(const QString& id) {
    for (int row = 0; row < list_->count(); ++row) {
        const QVariant index = list_->item(row)->data(kIndexRole);
        if (!index.isValid() || items_[static_cast<size_t>(index.toInt())].id != id)
            continue;
        if (list_->currentRow() == row)
            itemChanged();
        else
            list_->setCurrentRow(row);
        return true;
    }
    return false;
}

const ExportItem* ExportDialog::current() const {
    const QListWidgetItem* row = list_->currentItem();
    const QVariant index = row ? row->data(kIndexRole) : QVariant();
    return index.isValid() ? &items_[static_cast<size_t>(index.toInt())] : nullptr;
}

void ExportDialog::itemChanged() {
    const ExportItem* item = current();
    if (!item)
        return;
    title_->setText(item->title);
    meaning_->setText(item->meaning);
    meaning_->setVisible(!item->meaning.isEmpty());
    filling_ = true;
    target_->clear();
    const std::vector<std::string> targets =
        item->exporter && item->exporter->targets ? item->exporter->targets() : std::vector<std::string>();
    for (auto it = targets.rbegin(); it != targets.rend(); ++it) // the newest first
        target_->addItem(toQString(*it));
    const int last = target_->findText(targets_.value(item->id).toString());
    target_->setCurrentIndex(std::max(last, target_->count() > 0 ? 0 : -1));
    filling_ = false;
    for (QWidget* widget : std::initializer_list<QWidget*>{target_label_, target_})
        widget->setVisible(!targets.empty());
    for (QWidget* widget : std::initializer_list<QWidget*>{format_label_, format_, scale_label_, scale_})
        widget->setVisible(item->isPicture());
    size_->setVisible(item->isPicture() && item->view);
    options_->setVisible(!targets.empty() || item->isPicture());
    banner_->hide();
    remake();
}

void ExportDialog::remake() {
    const ExportItem* item = current();
    if (filling_ || !item)
        return;
    scale_->setVisible(item->isPicture() && choice().format == PictureFormat::Png);
    if (target_->count() > 0)
        targets_[item->id] = target_->currentText();
    product_ = {};
    warnings_->hide();
    copy_->setEnabled(false);
    save_->setEnabled(false);
    preview_->showWorking();
    maker_.make(*item, choice());
}

ExportChoice ExportDialog::choice() const {
    ExportChoice choice;
    choice.target = target_->currentText();
    choice.format = kFormats[std::max(format_->currentIndex(), 0)].first;
    const ExportItem* item = current();
    if (item && item->view)
        choice.size = kSizes[std::max(size_->currentIndex(), 0)];
    choice.scale = scale_->currentData().toDouble();
    return choice;
}

void ExportDialog::take(const ExportProduct& product) {
    product_ = product;
    preview_->showProduct(*current(), product);
    showWarnings(product.bytes ? product.warnings : QStringList()); // there is nothing to use
    const bool there = product.bytes != nullptr;
    save_->setEnabled(there && !writing_);
    copy_->setEnabled(there && product.bytes->size() <= kMostCopiedBytes &&
                      extension() != QLatin1String("pdf"));
}

void ExportDialog::showWarnings(const QStringList& warnings) {
    static const QRegularExpression kCommand(QStringLiteral("`([^`]+)`"));
    QString list;
    for (const QString& warning : warnings)
        list += QStringLiteral("<div style='margin-top:2px'>•&nbsp;&nbsp;%1</div>")
                    .arg(warning.toHtmlEscaped().replace(kCommand, QStringLiteral("<code>\\1</code>")));
    warnings_->setText(tr("<b>Before you use it</b>%1").arg(list));
    warnings_->setVisible(!warnings.isEmpty());
}

QString ExportDialog::warnings() const {
    return warnings_->isHidden() ? QString() : warnings_->text();
}

QString ExportDialog::message() const {
    return banner_->message();
}

QString ExportDialog::extension() const {
    const ExportItem* item = current();
    if (item && item->exporter)
        return toQString(item->exporter->extension);
    return QLatin1String(kFormats[std::max(format_->currentIndex(), 0)].second);
}

QString ExportDialog::suggestedName() const {
    QString graph = fileTitle(toQString(maker_.source().snapshot->request.graph_file));
    graph = graph.left(graph.indexOf(QLatin1Char('.'), 1));
    QString name = current()->id;
    name.remove(QLatin1String("picture-"));
    return toQString(safeFileName((graph + QLatin1Char('.') + name).toStdString())) + QLatin1Char('.') +
           extension();
}

void ExportDialog::chooseFile() {
    if (!save_->isEnabled())
        return;
    auto* dialog = new QFileDialog(this, tr("Save %1").arg(current()->title), Preferences::lastFolder(),
                                   tr("%1 files (*.%1)").arg(extension()));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(extension());
    dialog->selectFile(suggestedName());
    connect(dialog, &QFileDialog::fileSelected, this, &ExportDialog::saveTo);
    dialog->open();
}

void ExportDialog::saveTo(const QString& file) {
    if (!product_.bytes)
        return;
    Preferences::setLastFolder(QFileInfo(file).absolutePath());
    remember();
    writing_ = true;
    save_->setEnabled(false);
    maker_.write(product_.bytes, file);
}

void ExportDialog::written(const QString& file, const Status& status) {
    writing_ = false;
    save_->setEnabled(product_.bytes != nullptr);
    if (status.ok())
        banner_->showMessage(Banner::Look::Info, tr("%1 is written.").arg(QDir::toNativeSeparators(file)));
    else
        banner_->showMessage(Banner::Look::Warning, errorText(status.error()));
}

void ExportDialog::copy() {
    if (!product_.bytes)
        return;
    remember();
    const ExportItem& item = *current();
    auto* data = new QMimeData;
    const QByteArray bytes = QByteArray::fromStdString(*product_.bytes);
    if (item.isPicture() && choice().format == PictureFormat::Png)
        data->setImageData(QImage::fromData(bytes));
    else
        data->setText(QString::fromUtf8(bytes));
    if (extension() == QLatin1String("svg"))
        data->setData(QStringLiteral("image/svg+xml"), bytes);
    QApplication::clipboard()->setMimeData(data);
    banner_->showMessage(Banner::Look::Info, tr("%1 is on the clipboard.").arg(item.title));
}

void ExportDialog::restore() {
    const QVariantMap choices = Preferences::exportChoices();
    targets_ = choices.value(QStringLiteral("targets")).toMap();
    format_->setCurrentIndex(
        std::max(format_->findText(choices.value(QStringLiteral("format")).toString()), 0));
    size_->setCurrentIndex(std::clamp(choices.value(QStringLiteral("size")).toInt(), 0,
                                      static_cast<int>(std::size(kSizes)) - 1));
    scale_->setCurrentIndex(std::max(scale_->findData(choices.value(QStringLiteral("scale"), 2).toInt()), 0));
}

void ExportDialog::remember() const {
    Preferences::setExportChoices({{QStringLiteral("item"), current()->id},
                                   {QStringLiteral("targets"), targets_},
                                   {QStringLiteral("format"), format_->currentText()},
                                   {QStringLiteral("size"), size_->currentIndex()},
                                   {QStringLiteral("scale"), scale_->currentData()}});
}

} // namespace gs

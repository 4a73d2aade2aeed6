#include "app/export/export_maker.h"

#include "app/text.h"
#include "export/file_writer.h"
#include "views/theme.h"

#include <QFutureWatcher>
#include <QtConcurrent>

namespace gs {

namespace {

/// Where a view was never on screen.
constexpr QSize kUsualSize(1280, 720);
constexpr int kPollMs = 50;
/// Debounced work of a view begins a little after what asks for it.
constexpr int kQuietPolls = 5;
constexpr int kMostPolls = 300; ///< layouts give up by themselves before

ExportProduct makeProduct(const SnapshotPtr& snapshot, const Exporter& exporter, const std::string& target) {
    ExportProduct product;
    const ExportOptions options{target};
    // A fault of one exporter must not take the window down.
    try {
        Result<std::string> text = exporter.write(*snapshot, options);
        if (text)
            product.bytes = std::make_shared<const std::string>(std::move(text).value());
        else
            product.error = text.error();
        for (const std::string& warning : exporter.warnings(*snapshot, options))
            product.warnings << toSentence(warning);
    } catch (const std::exception& exception) {
        product.bytes.reset();
        product.error = Error{"internal",
                              std::string("the export broke off: ") + exception.what(),
                              {},
                              "this is a fault of the program; please report it with the file"};
    }
    return product;
}

} // namespace

ExportMaker::ExportMaker(ExportSource source, QObject* parent) : QObject(parent), source_(std::move(source)) {
    poll_.setInterval(kPollMs);
    connect(&poll_, &QTimer::timeout, this, &ExportMaker::pollView);
}

ExportMaker::~ExportMaker() = default;

void ExportMaker::make(const ExportItem& item, const ExportChoice& choice) {
    ++generation_;
    poll_.stop();
    view_.reset();
    busy_ = true;
    if (item.exporter)
        makeText(*item.exporter, choice.target.toStdString());
    else
        makePicture(item, choice);
}

void ExportMaker::makeText(const Exporter& exporter, const std::string& target) {
    auto* watcher = new QFutureWatcher<ExportProduct>(this);
    connect(watcher, &QFutureWatcherBase::finished, this, [this, watcher, generation = generation_] {
        watcher->deleteLater();
        if (generation == generation_)
            finish(watcher->result());
    });
    watcher->setFuture(QtConcurrent::run([snapshot = source_.snapshot, exporter = &exporter, target] {
        return makeProduct(snapshot, *exporter, target);
    }));
}

/// A view as it stands, with its zoom; in another size a new one that shows the same.
void ExportMaker::makePicture(const ExportItem& item, const ExportChoice& choice) {
    choice_ = choice;
    QWidget* live = !item.view     ? source_.window
                    : source_.live ? source_.live(QString::fromLatin1(item.view->id))
                                   : nullptr;
    polls_ = quiet_polls_ = 0;
    if (!item.view || (choice.size.isEmpty() && live && live->isVisible())) {
        QMetaObject::invokeMethod(
            this,
            [this, widget = QPointer<QWidget>(live), generation = generation_] {
                if (generation == generation_)
                    paint(widget);
            },
            Qt::QueuedConnection);
        return;
    }
    view_.reset(item.view->create(nullptr));
    view_->setAttribute(Qt::WA_DontShowOnScreen);
    view_->setAutoFillBackground(true);
    QPalette palette = view_->palette();
    palette.setColor(QPalette::Window, Theme::current().panel);
    view_->setPalette(palette);
    view_->setWindowTitle(item.title);
    view_->resize(choice.size.isEmpty() ? kUsualSize : choice.size);
    view_->setSnapshot(source_.snapshot);
    if (source_.compare)
        view_->setCompare(source_.compare);
    view_->setSelection(source_.selection);
    view_->show();
    poll_.start();
}

void ExportMaker::pollView() {
    quiet_polls_ = view_->busy() ? 0 : quiet_polls_ + 1;
    if (quiet_polls_ < kQuietPolls && ++polls_ < kMostPolls)
        return;
    poll_.stop();
    paint(view_.get());
    view_.reset();
}

void ExportMaker::paint(QWidget* widget) {
    ExportProduct product;
    const QByteArray bytes = widget ? pictureOf(widget, choice_.format, choice_.scale) : QByteArray();
    if (bytes.isEmpty()) {
        product.error = Error{"empty-picture", "the view has no size yet", {}, "choose a size"};
    } else {
        product.bytes = std::make_shared<const std::string>(bytes.toStdString());
        product.size = widget->size();
        product.picture = QImage::fromData(pictureOf(widget, PictureFormat::Png, 1));
    }
    finish(product);
}

void ExportMaker::finish(const ExportProduct& product) {
    busy_ = false;
    emit made(product);
}

void ExportMaker::write(const std::shared_ptr<const std::string>& bytes, const QString& file) {
    auto* watcher = new QFutureWatcher<Status>(this);
    connect(watcher, &QFutureWatcherBase::finished, this, [this, watcher, file] {
        watcher->deleteLater();
        emit written(file, watcher->result());
    });
    watcher->setFuture(
        QtConcurrent::run([bytes, path = file.toStdString()] { return writeFile(path, *bytes); }));
}

} // namespace gs

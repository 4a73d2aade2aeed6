// The Export menu: every exporter of the core and the picture of the window.
#include "app/banner.h"
#include "app/main_window.h"
#include "app/picture.h"
#include "app/text.h"
#include "export/exporter.h"
#include "export/file_writer.h"

#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QMenu>
#include <QtConcurrent>

namespace gs {

void MainWindow::buildExportMenu(QMenu* menu) {
    for (const Exporter& exporter : exporters())
        addCommand(menu, QStringLiteral("export-") + toQString(exporter.name),
                   tr("Export: %1…").arg(toQString(exporter.title)), {},
                   [this, &exporter] { chooseExportFile(exporter); });
    menu->addSeparator();
    for (const ViewInfo& info : viewRegistry())
        addCommand(menu, QStringLiteral("picture-") + QLatin1String(info.id),
                   tr("Picture: %1…").arg(viewTitle(info)), {}, [this, &info] {
                       if (QWidget* view = workspace_->view(QLatin1String(info.id)))
                           choosePictureFile(view, viewTitle(info));
                   });
    addCommand(menu, QStringLiteral("savePicture"), tr("&Picture of the window…"), {},
               [this] { choosePictureFile(this, tr("Window")); });
    menu->addAction(action(QStringLiteral("copySummary")));
}

void MainWindow::chooseExportFile(const Exporter& exporter) {
    const SnapshotPtr snapshot = document_.snapshot();
    if (!snapshot)
        return;
    const QString extension = toQString(exporter.extension);
    auto* dialog = new QFileDialog(this, toQString(exporter.title), Preferences::lastFolder(),
                                   tr("%1 files (*.%1)").arg(extension));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(extension);
    const QString graph = QFileInfo(toQString(snapshot->request.graph_file)).baseName();
    dialog->selectFile(
        toQString(safeFileName((graph + QLatin1Char('.') + toQString(exporter.name)).toStdString())) +
        QLatin1Char('.') + extension);
    connect(dialog, &QFileDialog::fileSelected, this, [this, &exporter](const QString& file) {
        Preferences::setLastFolder(QFileInfo(file).absolutePath());
        exportTo(exporter, file);
    });
    dialog->show();
}

/// Writes what is shown now, off the GUI thread.
void MainWindow::exportTo(const Exporter& exporter, const QString& file) {
    const SnapshotPtr snapshot = document_.snapshot();
    if (!snapshot)
        return;
    const auto write = [snapshot, &exporter, file]() -> Status {
        const Result<std::string> text = exporter.write(*snapshot);
        return text.ok() ? writeFile(file.toStdString(), text.value()) : Status(text.error());
    };
    QtConcurrent::run(write).then(this, [this, file](const Status& status) {
        if (status.ok())
            banner_->showMessage(Banner::Look::Info,
                                 tr("%1 is written.").arg(QDir::toNativeSeparators(file)));
        else
            banner_->showMessage(Banner::Look::Warning, errorText(status.error()));
    });
}

void MainWindow::choosePictureFile(QWidget* widget, const QString& title) {
    auto* dialog = new QFileDialog(this, tr("Save a picture: %1").arg(title), Preferences::lastFolder(),
                                   tr("SVG pictures (*.svg);;PNG pictures (*.png)"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(QStringLiteral("svg"));
    connect(dialog, &QFileDialog::filterSelected, dialog, [dialog](const QString& filter) {
        dialog->setDefaultSuffix(filter.contains(QLatin1String("png")) ? QStringLiteral("png")
                                                                       : QStringLiteral("svg"));
    });
    connect(dialog, &QFileDialog::fileSelected, this, [this, widget](const QString& file) {
        if (const Status status = savePicture(widget, file); !status)
            banner_->showMessage(Banner::Look::Warning, toQString(status.error().message));
    });
    dialog->show();
}

} // namespace gs

#include "app/picture.h"

#include "export/file_writer.h"

#include <QBuffer>
#include <QPainter>
#include <QPixmap>
#include <QSvgGenerator>
#include <QWidget>

namespace gs {

namespace {

QByteArray svgOf(QWidget* widget) {
    QBuffer buffer;
    buffer.open(QIODevice::WriteOnly);
    QSvgGenerator generator;
    generator.setOutputDevice(&buffer);
    generator.setSize(widget->size());
    generator.setViewBox(widget->rect());
    generator.setTitle(widget->windowTitle());
    QPainter painter(&generator);
    widget->render(&painter);
    painter.end();
    return buffer.data();
}

QByteArray pngOf(QWidget* widget) {
    QBuffer buffer;
    buffer.open(QIODevice::WriteOnly);
    widget->grab().save(&buffer, "PNG");
    return buffer.data();
}

} // namespace

Status savePicture(QWidget* widget, const QString& file) {
    const QByteArray bytes =
        file.endsWith(QLatin1String(".svg"), Qt::CaseInsensitive) ? svgOf(widget) : pngOf(widget);
    if (bytes.isEmpty())
        return Error{"write-failed", "the picture is empty: the view has no size yet", {}, ""};
    return writeFile(file.toStdString(), {bytes.constData(), static_cast<size_t>(bytes.size())});
}

} // namespace gs

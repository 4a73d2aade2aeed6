#include "app/picture.h"

#include <QBuffer>
#include <QImage>
#include <QPainter>
#include <QPdfWriter>
#include <QSvgGenerator>
#include <QWidget>

#include <cmath>

namespace gs {

namespace {

void writeSvg(QWidget* widget, QBuffer& buffer) {
    QSvgGenerator generator;
    generator.setOutputDevice(&buffer);
    generator.setSize(widget->size());
    generator.setViewBox(widget->rect());
    generator.setTitle(widget->windowTitle());
    QPainter painter(&generator);
    widget->render(&painter);
}

void writePdf(QWidget* widget, QBuffer& buffer) {
    constexpr int kDotsPerInch = 96;
    constexpr qreal kPointsPerPixel = 72.0 / kDotsPerInch;
    QPdfWriter writer(&buffer);
    writer.setResolution(kDotsPerInch);
    writer.setPageSize(
        QPageSize(QSizeF(widget->size()) * kPointsPerPixel, QPageSize::Point, {}, QPageSize::ExactMatch));
    writer.setPageMargins({});
    writer.setTitle(widget->windowTitle());
    QPainter painter(&writer);
    widget->render(&painter);
}

void writePng(QWidget* widget, QBuffer& buffer, double scale) {
    const QSizeF size = QSizeF(widget->size()) * scale;
    QImage image(static_cast<int>(std::ceil(size.width())), static_cast<int>(std::ceil(size.height())),
                 QImage::Format_ARGB32_Premultiplied);
    image.setDevicePixelRatio(scale);
    image.fill(Qt::transparent);
    widget->render(&image);
    image.save(&buffer, "PNG");
}

} // namespace

QByteArray pictureOf(QWidget* widget, PictureFormat format, double scale) {
    if (widget->size().isEmpty())
        return {};
    QBuffer buffer;
    buffer.open(QIODevice::WriteOnly);
    if (format == PictureFormat::Svg)
        writeSvg(widget, buffer);
    else if (format == PictureFormat::Pdf)
        writePdf(widget, buffer);
    else
        writePng(widget, buffer, scale);
    return buffer.data();
}

} // namespace gs

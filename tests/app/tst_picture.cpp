// Pictures of widgets as SVG, PNG and PDF.
#include "app/picture.h"

#include <QImage>
#include <QLabel>
#include <QTest>

using namespace gs;

class TestPicture : public QObject {
    Q_OBJECT

private slots:
    void everyFormatHoldsTheWidget() {
        QLabel label(QStringLiteral("gathers"));
        label.resize(200, 60);
        label.show();
        QVERIFY(pictureOf(&label, PictureFormat::Svg).contains("gathers"));
        QCOMPARE(QImage::fromData(pictureOf(&label, PictureFormat::Png, 1)).size(), QSize(200, 60));
        QCOMPARE(QImage::fromData(pictureOf(&label, PictureFormat::Png, 3)).size(), QSize(600, 180));
        const QByteArray pdf = pictureOf(&label, PictureFormat::Pdf);
        QVERIFY(pdf.startsWith("%PDF-"));
        QVERIFY(pdf.contains("/MediaBox [0 0 150.000000 45.000000]") ||
                pdf.contains("/MediaBox [0 0 150 45]"));
    }

    void withoutASizeThereIsNone() {
        QWidget widget;
        widget.resize(0, 0);
        QVERIFY(pictureOf(&widget, PictureFormat::Png).isEmpty());
    }
};

QTEST_MAIN(TestPicture)
#include "tst_picture.moc"

// Pictures of widgets as SVG and PNG files.
#include "app/picture.h"

#include <QFile>
#include <QImage>
#include <QLabel>
#include <QTemporaryDir>
#include <QTest>

using namespace gs;

class TestPicture : public QObject {
    Q_OBJECT

private slots:
    void svgHoldsTextAndPngHoldsPixels() {
        QTemporaryDir folder;
        QLabel label(QStringLiteral("gathers"));
        label.resize(200, 60);
        label.show();
        QVERIFY(savePicture(&label, folder.filePath("a.svg")).ok());
        QFile svg(folder.filePath("a.svg"));
        QVERIFY(svg.open(QIODevice::ReadOnly));
        QVERIFY(svg.readAll().contains("gathers"));
        QVERIFY(savePicture(&label, folder.filePath("a.png")).ok());
        QCOMPARE(QImage(folder.filePath("a.png")).size(), label.size() * label.devicePixelRatio());
    }

    void aFolderThatIsNotThereIsAnError() {
        QLabel label(QStringLiteral("x"));
        label.resize(20, 20);
        const Status status = savePicture(&label, QStringLiteral("/nonexistent-folder/a.svg"));
        QVERIFY(!status.ok());
        QCOMPARE(status.error().code, std::string("write-failed"));
    }
};

QTEST_MAIN(TestPicture)
#include "tst_picture.moc"

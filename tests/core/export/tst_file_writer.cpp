// Devices and pipes as the target of an output.
#include "export/file_writer.h"

#include <QTemporaryDir>
#include <QTest>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

using namespace gs;

class TestFileWriter : public QObject {
    Q_OBJECT

private slots:
    /// As the superuser, replacing a device would even work, and break the machine.
    void devicesAreWrittenInto() {
        QVERIFY(writeFile("/dev/null", "text").ok());
        QVERIFY(std::filesystem::is_character_file("/dev/null"));
        if (!std::filesystem::is_character_file("/dev/full"))
            return; // a system without it
        const Status full = writeFile("/dev/full", "text");
        QVERIFY(!full.ok());
        QCOMPARE(full.error().code, std::string("write-failed"));
    }

    void pipesAreWrittenInto() {
        const QTemporaryDir folder;
        const std::string pipe = folder.filePath("pipe").toStdString();
        QCOMPARE(mkfifo(pipe.c_str(), 0600), 0);
        const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
        QVERIFY(reader >= 0);
        QVERIFY(writeFile(pipe, "text").ok());
        char read_back[8] = {};
        QCOMPARE(read(reader, read_back, sizeof read_back), ssize_t{4});
        QCOMPARE(QByteArray(read_back), QByteArray("text"));
        close(reader);
        QVERIFY(std::filesystem::is_fifo(pipe));
    }
};

QTEST_GUILESS_MAIN(TestFileWriter)
#include "tst_file_writer.moc"

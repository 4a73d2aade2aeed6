#include "views/graph/dot_process.h"

#include <QElapsedTimer>
#include <QFile>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

using namespace gs;

namespace {

LayoutGraph chain(size_t count) {
    LayoutGraph picture;
    for (uint32_t i = 0; i < count; ++i) {
        LayoutBox box;
        box.id = box.title = "b" + std::to_string(i);
        box.position = i;
        box.nodes = {i};
        picture.boxes.push_back(box);
        if (i > 0)
            picture.links.push_back({i - 1, i, LinkKind::Data, true});
    }
    return picture;
}

const std::vector<LayoutSize> kSizes(3, {120, 34});

} // namespace

class TestDotProcess : public QObject {
    Q_OBJECT
private slots:
    void initTestCase();
    void placesWithGraphviz();
    void failures_data();
    void failures();
    void newerRequestWins();
    void cancelIsSilent();
    void saysWhenItIsSlow();

private:
    /// An executable script in place of dot.
    QString fakeDot(const char* name, const QByteArray& body);
    QTemporaryDir dir_;
};

void TestDotProcess::initTestCase() {
    QVERIFY(dir_.isValid());
    qRegisterMetaType<Placement>("gs::Placement");
    qRegisterMetaType<DotProcess::Failure>("gs::DotProcess::Failure");
}

QString TestDotProcess::fakeDot(const char* name, const QByteArray& body) {
    QFile file(dir_.filePath(QString::fromLatin1(name)));
    if (file.open(QIODevice::WriteOnly))
        file.write("#!/bin/sh\n" + body + "\n");
    file.close();
    file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    return file.fileName();
}

void TestDotProcess::placesWithGraphviz() {
    if (QStandardPaths::findExecutable("dot").isEmpty()) {
        qInfo("NOT RUN: Graphviz is not installed");
        return;
    }
    DotProcess dot;
    QSignalSpy done(&dot, &DotProcess::finished);
    const quint64 generation = dot.start(chain(3), kSizes);
    QVERIFY(done.wait(10000));
    QCOMPARE(done.front()[0].toULongLong(), generation);
    const Placement placement = done.front()[1].value<Placement>();
    QCOMPARE(placement.boxes.size(), size_t(3));
    QVERIFY(placement.boxes[0].y + placement.boxes[0].height < placement.boxes[1].y);
    QVERIFY(std::abs(placement.boxes[0].x - placement.boxes[2].x) < 0.5);
    QVERIFY(!dot.running());
}

void TestDotProcess::failures_data() {
    QTest::addColumn<QByteArray>("body");
    QTest::addColumn<int>("failure");
    const auto row = [](const char* name, const char* body, DotProcess::Failure failure) {
        QTest::newRow(name) << QByteArray(body) << static_cast<int>(failure);
    };
    row("missing", "", DotProcess::Failure::Missing);
    row("hang", "exec sleep 60", DotProcess::Failure::TimedOut);
    row("hang with output", "while true; do echo graph; sleep 0.01; done", DotProcess::Failure::TimedOut);
    row("segfault", "kill -SEGV $$", DotProcess::Failure::Crashed);
    row("error exit", "exit 3", DotProcess::Failure::Crashed);
    row("garbage", "head -c 20000 /dev/urandom", DotProcess::Failure::BadAnswer);
    row("silent", "cat > /dev/null", DotProcess::Failure::BadAnswer);
    row("endless", "exec yes 'node n0 1 1 1 1'", DotProcess::Failure::BadAnswer);
    row("input unread", "exec 0<&-; echo stop", DotProcess::Failure::BadAnswer);
}

void TestDotProcess::failures() {
    QFETCH(QByteArray, body);
    QFETCH(int, failure);
    DotProcess dot;
    dot.setTimeouts(50, 700);
    dot.setProgram(body.isEmpty() ? dir_.filePath("no_such_dot") : fakeDot("dot_fails", body));
    QSignalSpy done(&dot, &DotProcess::finished);
    QSignalSpy failed(&dot, &DotProcess::failed);
    const quint64 generation = dot.start(chain(3), kSizes);
    QCOMPARE(failed.count(), 0); // never from inside the call
    QVERIFY(failed.wait(10000));
    QCOMPARE(failed.front()[0].toULongLong(), generation);
    QCOMPARE(static_cast<int>(failed.front()[1].value<DotProcess::Failure>()), failure);
    QVERIFY(!failed.front()[2].toString().isEmpty());
    QTest::qWait(100);
    QCOMPARE(failed.count(), 1);
    QCOMPARE(done.count(), 0);
    QVERIFY(!dot.running());
}

void TestDotProcess::newerRequestWins() {
    if (QStandardPaths::findExecutable("dot").isEmpty())
        return;
    DotProcess dot;
    dot.setProgram(fakeDot("dot_slow", "exec sleep 60"));
    QSignalSpy done(&dot, &DotProcess::finished);
    QSignalSpy failed(&dot, &DotProcess::failed);
    dot.start(chain(3), kSizes);
    QTest::qWait(100);
    dot.setProgram("dot");
    const quint64 second = dot.start(chain(2), {{10, 10}, {10, 10}});
    QVERIFY(done.wait(10000));
    QCOMPARE(done.front()[0].toULongLong(), second);
    QTest::qWait(100);
    QCOMPARE(done.count(), 1);
    QCOMPARE(failed.count(), 0);
}

void TestDotProcess::cancelIsSilent() {
    DotProcess dot;
    dot.setProgram(fakeDot("dot_slow2", "exec sleep 60"));
    QSignalSpy failed(&dot, &DotProcess::failed);
    dot.start(chain(3), kSizes);
    QTest::qWait(50);
    QElapsedTimer timer;
    timer.start();
    dot.cancel();
    QVERIFY(timer.elapsed() < 2000); // the GUI does not wait for the child
    QTest::qWait(100);
    QCOMPARE(failed.count(), 0);
    dot.start(chain(3), kSizes);
    dot.cancel(); // before it even started
    QTest::qWait(50);
    QCOMPARE(failed.count(), 0);
}

void TestDotProcess::saysWhenItIsSlow() {
    DotProcess dot;
    dot.setTimeouts(100, 5000);
    dot.setProgram(fakeDot("dot_slow3", "exec sleep 60"));
    QSignalSpy slow(&dot, &DotProcess::slow);
    dot.start(chain(3), kSizes);
    QVERIFY(slow.wait(3000));
    QCOMPARE(slow.count(), 1);
}

QTEST_GUILESS_MAIN(TestDotProcess)
#include "tst_dot_process.moc"

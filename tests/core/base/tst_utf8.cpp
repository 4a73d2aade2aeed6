// UTF-8 of hostile texts: every byte is accounted for, and what comes out is valid.
#include "base/units.h"
#include "base/utf8.h"

#include <QTest>
#include <random>

using namespace gs;

class TestUtf8 : public QObject {
    Q_OBJECT

private slots:
    void everyCodePoint();
    void whatIsNone_data();
    void whatIsNone();
    void anyBytes();
    void columns();
    void heads();
    void counts();
};

/// There and back, as Qt does it.
void TestUtf8::everyCodePoint() {
    for (uint32_t code = 0; code <= 0x10FFFF; ++code) {
        if (code >= 0xD800 && code < 0xE000)
            continue;
        std::string text;
        appendUtf8(text, code);
        const char32_t one = code;
        const bool mark = code == 0xFEFF || code == 0xFFFE; // Qt takes it for a byte order mark
        QVERIFY(mark || QString::fromUcs4(&one, 1).toUtf8() == QByteArray::fromStdString(text));
        size_t at = 0;
        QVERIFY(decodeUtf8(text, at) == code && at == text.size());
    }
}

void TestUtf8::whatIsNone_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::newRow("continuation") << QByteArray("\x80");
    QTest::newRow("overlong, two bytes") << QByteArray("\xC0\xAF");
    QTest::newRow("overlong, three bytes") << QByteArray("\xE0\x80\xAF");
    QTest::newRow("overlong, four bytes") << QByteArray("\xF0\x80\x80\xAF");
    QTest::newRow("half of a surrogate") << QByteArray("\xED\xA0\x80");
    QTest::newRow("beyond U+10FFFF") << QByteArray("\xF4\x90\x80\x80");
    QTest::newRow("five bytes") << QByteArray("\xF8\x88\x80\x80\x80");
    QTest::newRow("cut") << QByteArray("\xE2\x86");
    QTest::newRow("broken off") << QByteArray("\xE2\x86x");
}

void TestUtf8::whatIsNone() {
    QFETCH(QByteArray, bytes);
    const std::string text = bytes.toStdString();
    size_t at = 0;
    QCOMPARE(decodeUtf8(text, at), kNotUtf8);
    QCOMPARE(at, size_t(1)); // the next byte may begin a character
}

void TestUtf8::anyBytes() {
    std::mt19937 random(7);
    for (int round = 0; round < 2000; ++round) {
        std::string text(random() % 40, '\0');
        for (char& c : text)
            c = static_cast<char>(random() % 4 ? 0x80 + random() % 0x80 : random() % 0x80);
        std::string clean;
        for (size_t at = 0; at < text.size();) {
            const size_t before = at;
            const uint32_t code = decodeUtf8(text, at);
            QVERIFY(at > before && at <= text.size());
            appendUtf8(clean, code == kNotUtf8 ? '?' : code);
        }
        QVERIFY(QString::fromStdString(clean).toStdString() == clean);
    }
}

void TestUtf8::columns() {
    QCOMPARE(columnsOf("−5.0 µs"), size_t(7));
    QVERIFY(rightAligned("µs", 4) == "  µs");
    QVERIFY(leftAligned("→", 3) == "→  ");
    QVERIFY(rightAligned("longer", 3) == "longer");
}

void TestUtf8::heads() {
    QVERIFY(headOf("abc", 5) == "abc");
    QVERIFY(headOf("aµb", 2) == "a");
    QVERIFY(headOf("aµb", 3) == "aµ");
    QVERIFY(headOf("\x80\x80\x80", 2).empty());
}

void TestUtf8::counts() {
    QVERIFY(counted(0, "gather") == "0 gathers");
    QVERIFY(counted(1, "gather") == "1 gather");
    QVERIFY(counted(1200, "gather") == "1,200 gathers");
}

QTEST_GUILESS_MAIN(TestUtf8)
#include "tst_utf8.moc"

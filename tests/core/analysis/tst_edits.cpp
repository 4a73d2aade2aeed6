// Edits as text, and how a newer edit replaces older ones.
#include "analysis/edits.h"

#include <QtTest>

using namespace gs;

class TestEdits : public QObject {
    Q_OBJECT
private slots:
    void textRoundTrip();
    void wrongTexts_data();
    void wrongTexts();
    void newestPlacementWins();
    void bucketsShareNoMember();
    void removal();
};

namespace {

Edit parsed(const char* text) {
    return parseEdit(text).value();
}

} // namespace

void TestEdits::textRoundTrip() {
    for (const char* text : {"move:g1:mm_3", "pin:g1:mm_3", "forbid:g1", "bucket:g1,g2,g3", "bucket:g1"}) {
        const Result<Edit> edit = parseEdit(text);
        QVERIFY(edit.ok());
        QCOMPARE(editText(edit.value()), std::string(text));
    }
}

void TestEdits::wrongTexts_data() {
    QTest::addColumn<QString>("text");
    for (const char* text : {"", "move", "move:a", "move:a:", "move::b", "move:a:b:c", "forbid", "forbid:a:b",
                             "bucket:", "bucket:a,,b", "jump:a:b"})
        QTest::newRow(text) << text;
}

void TestEdits::wrongTexts() {
    QFETCH(QString, text);
    const Result<Edit> edit = parseEdit(text.toStdString());
    QVERIFY(!edit.ok());
    QCOMPARE(edit.error().code, std::string("usage"));
    QVERIFY(edit.error().hint.find("move:NODE:ANCHOR") != std::string::npos);
}

void TestEdits::newestPlacementWins() {
    Edits edits = withEdit({}, parsed("move:g1:a"));
    edits = withEdit(edits, parsed("forbid:g2"));
    edits = withEdit(edits, parsed("pin:g1:b"));
    QCOMPARE(editTexts(edits), (std::vector<std::string>{"forbid:g2", "pin:g1:b"}));
    QCOMPARE(placementOf(edits, "g1")->anchor, std::string("b"));
    QVERIFY(!placementOf(edits, "g3"));
}

void TestEdits::bucketsShareNoMember() {
    Edits edits = withEdit({}, parsed("bucket:a,b,c"));
    edits = withEdit(edits, parsed("bucket:c,d"));
    QCOMPARE(editTexts(edits), (std::vector<std::string>{"bucket:a,b", "bucket:c,d"}));
    edits = withEdit(edits, parsed("bucket:b"));
    QCOMPARE(editTexts(edits), (std::vector<std::string>{"bucket:c,d", "bucket:b"}));
}

void TestEdits::removal() {
    Edits edits = withEdit(withEdit({}, parsed("bucket:a,b")), parsed("move:c:x"));
    edits = withEdit(edits, parsed("forbid:d"));
    QCOMPARE(editTexts(withoutEdits(edits, "b")), (std::vector<std::string>{"move:c:x", "forbid:d"}));
    QCOMPARE(withoutEdits(edits, "c").size(), size_t{2});
    QCOMPARE(withoutEdits(edits, "nobody").size(), size_t{3});
}

QTEST_GUILESS_MAIN(TestEdits)
#include "tst_edits.moc"

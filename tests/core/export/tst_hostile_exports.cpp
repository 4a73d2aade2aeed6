// Labels are data in every file that is written: HTML and SVG stay well-formed and inert, DOT within its
// scanner's limits, CSV without formulas, JSON valid.
#include "export/config_text.h"
#include "export/csv.h"
#include "export/exporter.h"
#include "export/html/markup.h"
#include "layout/dot_writer.h"
#include "support/hostile_analysis.h"

#include <QProcess>
#include <QStandardPaths>
#include <QTest>
#include <QXmlStreamReader>
#include <nlohmann/json.hpp>
#include <set>

using namespace gs;
using Json = nlohmann::json;

namespace {

std::string written(const Analysis& analysis, const char* format) {
    const Exporter* exporter = findExporter(format);
    const Result<std::string> text =
        exporter ? exporter->write(analysis) : Result<std::string>(std::string());
    return text ? text.value() : "error: " + text.error().message;
}

/// What is wrong with a page or picture; empty if it is well-formed, has known elements and attributes only,
/// and nothing that runs or is fetched.
QString fault(const std::string& text, bool page) {
    static const std::set<QString> kElements = {
        "html",  "head", "meta", "title",  "style", "body",    "main",    "header", "section",
        "div",   "h1",   "h2",   "h3",     "p",     "b",       "span",    "table",  "thead",
        "tbody", "tr",   "th",   "td",     "code",  "details", "summary", "dl",     "dt",
        "dd",    "ul",   "li",   "footer", "svg",   "rect",    "path",    "line",   "text"};
    static const std::set<QString> kAttributes = {
        "lang",    "charset", "name",       "content", "http-equiv", "class",       "title",  "style",
        "viewBox", "role",    "aria-label", "x",       "y",          "width",       "height", "rx",
        "d",       "x1",      "y1",         "x2",      "y2",         "text-anchor", "xmlns"};
    if (QString::fromUtf8(text.c_str(), qsizetype(text.size())).toUtf8().toStdString() != text)
        return "not UTF-8, or a zero byte";
    for (const char c : text) {
        if (static_cast<unsigned char>(c) < 0x20 && c != '\n')
            return "a control character";
    }
    QXmlStreamReader xml(QByteArray::fromStdString(text));
    size_t elements = 0;
    while (!xml.atEnd()) {
        if (xml.readNext() != QXmlStreamReader::StartElement)
            continue;
        ++elements;
        if (!kElements.count(xml.name().toString()))
            return "element " + xml.name().toString();
        for (const QXmlStreamAttribute& attribute : xml.attributes()) {
            if (!kAttributes.count(attribute.name().toString()))
                return "attribute " + attribute.name().toString();
            if (attribute.name() == QLatin1String("style") &&
                !attribute.value().startsWith(QLatin1String("--c:")) &&
                !attribute.value().startsWith(QLatin1String("margin-top:")))
                return "style " + attribute.value().toString();
        }
    }
    if (xml.hasError())
        return QStringLiteral("line %1: %2").arg(xml.lineNumber()).arg(xml.errorString());
    return elements > (page ? 100 : 10) ? QString() : QStringLiteral("nothing in it");
}

} // namespace

class TestHostileExports : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { analysis_ = test::hostileAnalysis(); }
    void cleanTexts();
    void lines();
    void pages();
    void dotTexts();
    void dotIsAccepted();
    void csv();
    void json();
    void comments();

private:
    AnalysisPtr analysis_;
};

void TestHostileExports::cleanTexts() {
    using html::cleanText;
    QCOMPARE(QString::fromStdString(cleanText("a\tb\nc")), QStringLiteral("a b c"));
    QCOMPARE(QString::fromStdString(cleanText(std::string("\x01\x7f", 2))), QStringLiteral("\uFFFD\uFFFD"));
    QCOMPARE(QString::fromStdString(cleanText("ééé", 2)), QStringLiteral("éé…"));
    QCOMPARE(cleanText("ab", 2), std::string("ab"));
    QCOMPARE(html::escape("<a href='x'>&\"", 100), std::string("&lt;a href=&#39;x&#39;&gt;&amp;&quot;"));
    for (const std::string& label : test::hostileLabels()) {
        const std::string clean = cleanText(label);
        QVERIFY(html::characters(clean) <= html::kLabelCharacters + 1);
        QCOMPARE(QString::fromStdString(clean).toStdString(), clean);
    }
}

void TestHostileExports::lines() {
    // YAML and Python end a line at U+0085, U+2028 or U+2029, too.
    for (const char* end : {"\n", "\r", "\u2028", "\u2029", "\u0085"}) {
        const QString line = QString::fromStdString(oneLine(std::string("a") + end + "b: c"));
        QCOMPARE(line.size(), 6);
        QVERIFY(!line.contains(QString::fromUtf8(end)));
    }
    QVERIFY(oneLine(std::string(100'000, 'a')).size() < 300);
    CsvTable table({"a"});
    table.text(std::string("\0x\x1b[31m\x7f", 8));
    for (const char c : table.str())
        QVERIFY((static_cast<unsigned char>(c) >= 0x20 && c != 0x7F) || c == '\r' || c == '\n');
}

void TestHostileExports::pages() {
    const std::string page = written(*analysis_, "report");
    QCOMPARE(fault(page, true), QString());
    QVERIFY(page.find("<script") == std::string::npos);
    QVERIFY(page.find("onerror=alert") == std::string::npos || page.find("<img") == std::string::npos);
    QVERIFY(page.find("http") == std::string::npos || page.find("http-equiv") != std::string::npos);
    QVERIFY(page.find("://") == std::string::npos); // nothing is fetched
    QVERIFY(page.find("url(") == std::string::npos);
    QVERIFY2(page.size() < 2'000'000, "the long label is cut");
    for (const char* picture : {"timeline-svg", "bytes-svg"})
        QCOMPARE(fault(written(*analysis_, picture), false), QString());
}

void TestHostileExports::dotTexts() {
    for (const std::string& label : test::hostileLabels()) {
        const std::string escaped = escapeDot(label);
        QVERIFY(escaped.size() <= kMaxDotText);
        QCOMPARE(QString::fromStdString(escaped).toStdString(),
                 escaped); // valid UTF-8, cut between characters
        size_t backslashes = 0;
        for (const char c : escaped) {
            QVERIFY(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
            QVERIFY(c != '"' || backslashes % 2 == 1);
            backslashes = c == '\\' ? backslashes + 1 : 0;
        }
        QCOMPARE(backslashes % 2, size_t(0)); // the closing quote is not escaped
    }
    QCOMPARE(escapeDot(std::string(9000, 'a') + "é", 9001).size(), size_t(9000));
}

void TestHostileExports::dotIsAccepted() {
    const std::string dot = written(*analysis_, "dot");
    QVERIFY(dot.find("digraph") != std::string::npos);
    const QString program = QStandardPaths::findExecutable("dot");
    if (program.isEmpty()) {
        qInfo("NOT RUN: dot is not installed");
        return;
    }
    QProcess process;
    process.start(program, {"-Tcanon"});
    process.write(QByteArray::fromStdString(dot));
    process.closeWriteChannel();
    QVERIFY(process.waitForFinished(20000));
    QCOMPARE(process.exitCode(), 0);
    QVERIFY2(!process.readAllStandardError().contains("syntax"), "dot's scanner objects");
}

void TestHostileExports::csv() {
    for (const Exporter& exporter : exporters()) {
        if (exporter.extension != "csv")
            continue;
        const std::string text = written(*analysis_, exporter.name.data());
        bool inside = false, cell_begins = true;
        for (size_t i = 0; i < text.size(); ++i) {
            const char c = text[i];
            if (cell_begins) {
                // A cell that a spreadsheet would run begins with an apostrophe, or is a number.
                const char first = c == '"' ? text[i + 1] : c;
                const bool number = first == '-' && c != '"' && text[i + 1] >= '0' && text[i + 1] <= '9';
                QVERIFY2(number || std::string_view("=+-@\t").find(first) == std::string_view::npos,
                         text.substr(i, 20).c_str());
            }
            cell_begins = false;
            if (c == '"')
                inside = !inside;
            else if (!inside && (c == ',' || c == '\n'))
                cell_begins = true;
        }
        QVERIFY(!inside);
    }
}

void TestHostileExports::json() {
    for (const Exporter& exporter : exporters()) {
        if (!exporter.extension.ends_with("json"))
            continue;
        const Json json = Json::parse(written(*analysis_, exporter.name.data()), nullptr, false);
        QVERIFY2(!json.is_discarded(), exporter.name.data());
    }
}

/// Files of configurations: what a graph is called stays in its comment.
void TestHostileExports::comments() {
    for (const char* format : {"magi-env", "magi-python", "magi-yaml", "inductor", "torchtitan"}) {
        const std::string text = written(*analysis_, format);
        for (const char c : text)
            QVERIFY(c == '\n' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f));
        size_t at = 0;
        while (at < text.size()) {
            const std::string line = text.substr(at, text.find('\n', at) - at);
            at += line.size() + 1;
            QVERIFY(line.starts_with("#") || line.find("alert") == std::string::npos);
        }
    }
}

QTEST_GUILESS_MAIN(TestHostileExports)
#include "tst_hostile_exports.moc"

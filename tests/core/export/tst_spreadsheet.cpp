// The tables in a real spreadsheet program: labels stay texts, none becomes a formula, numbers stay numbers.
#include "export/csv.h"
#include "export/exporter.h"
#include "support/hostile_analysis.h"

#include <QFile>
#include <QProcess>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>
#include <QXmlStreamReader>

using namespace gs;

namespace {

using Rows = QList<QStringList>;

/// Cells of a CSV after RFC 4180.
Rows parseCsv(const QString& text) {
    Rows rows;
    QStringList row;
    QString cell;
    bool quoted = false;
    for (qsizetype i = 0; i < text.size(); ++i) {
        const QChar c = text[i];
        if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"')
            cell += text[++i];
        else if (c == '"')
            quoted = !quoted;
        else if (quoted || (c != ',' && c != '\r' && c != '\n'))
            cell += c;
        else if (c == ',' || c == '\n') {
            row << std::exchange(cell, {});
            if (c == '\n')
                rows << std::exchange(row, {});
        }
    }
    return rows;
}

struct Sheet {
    Rows texts;  ///< as shown
    Rows values; ///< of cells that are numbers, as written to the file; else empty
    int formulas = 0;
};

/// One sheet of a flat OpenDocument file. Repeated empty cells are left out at the end of a row.
Sheet readSheet(const QString& path) {
    Sheet sheet;
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        return sheet;
    QXmlStreamReader xml(&file);
    QString text;
    while (!xml.atEnd()) {
        xml.readNext();
        if (xml.isStartElement() && xml.name() == QLatin1String("table-row")) {
            sheet.texts << QStringList();
            sheet.values << QStringList();
        } else if (xml.isStartElement() && xml.name() == QLatin1String("table-cell")) {
            const QXmlStreamAttributes with = xml.attributes();
            const QString repeated = with.value("table:number-columns-repeated").toString();
            sheet.formulas += with.hasAttribute("table:formula") ? 1 : 0;
            const QString value = with.value("office:value-type") == QLatin1String("float")
                                      ? with.value("office:value").toString()
                                      : QString();
            QStringList lines;
            int depth = 1;
            while (depth > 0 && !xml.atEnd()) {
                xml.readNext();
                depth += xml.isStartElement() ? 1 : xml.isEndElement() ? -1 : 0;
                if (xml.isStartElement() && xml.name() == QLatin1String("p"))
                    lines << QString();
                else if (xml.isStartElement() && xml.name() == QLatin1String("s"))
                    lines.last() += QString(qMax(1, xml.attributes().value("text:c").toInt()), ' ');
                else if (xml.isStartElement() && xml.name() == QLatin1String("tab"))
                    lines.last() += '\t';
                else if (xml.isCharacters() && !lines.isEmpty())
                    lines.last() += xml.text();
            }
            for (int i = 0; i < qMax(1, repeated.toInt()) && sheet.texts.last().size() < 1000; ++i) {
                sheet.texts.last() << lines.join('\n');
                sheet.values.last() << value;
            }
        }
    }
    return sheet;
}

} // namespace

class TestSpreadsheet : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void tables_data();
    void tables();
    void formulas();

private:
    Sheet open(const std::string& csv);

    QTemporaryDir folder_;
    QString program_;
    int files_ = 0;
};

void TestSpreadsheet::initTestCase() {
    program_ = QStandardPaths::findExecutable("soffice");
    if (program_.isEmpty())
        qInfo("NOT RUN: tables in a spreadsheet program (LibreOffice is not installed)");
}

Sheet TestSpreadsheet::open(const std::string& csv) {
    const QString name = folder_.filePath(QString("table%1").arg(files_++));
    QFile file(name + ".csv");
    if (!file.open(QIODevice::WriteOnly))
        return {};
    file.write(csv.data(), qint64(csv.size()));
    file.close();
    QProcess process;
    // Fields between commas and quotes, UTF-8, from the first line, as the import dialog offers them.
    process.start(program_, {"-env:UserInstallation=file://" + folder_.filePath("profile"), "--headless",
                             "--infilter=CSV:44,34,76,1", "--convert-to", "fods", "--outdir", folder_.path(),
                             name + ".csv"});
    if (!process.waitForFinished(120'000))
        qWarning("the spreadsheet program does not end");
    return readSheet(name + ".fods");
}

void TestSpreadsheet::tables_data() {
    QTest::addColumn<QString>("format");
    for (const char* format : {"gathers-csv", "costs-csv", "transfers-csv"})
        QTest::newRow(format) << format;
}

void TestSpreadsheet::tables() {
    if (program_.isEmpty())
        return;
    QFETCH(QString, format);
    const Result<std::string> csv = findExporter(format.toStdString())->write(*test::hostileAnalysis());
    QVERIFY(csv.ok());
    const Rows written = parseCsv(QString::fromStdString(csv.value()));
    const Sheet sheet = open(csv.value());
    QCOMPARE(sheet.formulas, 0);
    QVERIFY(written.size() > 5);
    QVERIFY2(sheet.texts.size() >= written.size(), qPrintable(QString::number(sheet.texts.size())));
    size_t numbers = 0;
    for (qsizetype row = 1; row < written.size(); ++row) {
        for (qsizetype column = 0; column < written[row].size(); ++column) {
            if (!written[0][column].endsWith("_ns") && !written[0][column].endsWith("_bytes"))
                continue;
            const QString cell = written[row][column];
            const QString value = sheet.values[row].value(column);
            QVERIFY2(cell.isEmpty() ? value.isEmpty() : value.toDouble() == cell.toDouble(),
                     qPrintable(
                         QString("%1, row %2: %3 is %4").arg(written[0][column]).arg(row).arg(cell, value)));
            numbers += cell.isEmpty() ? 0 : 1;
        }
    }
    QVERIFY(numbers > 10);
}

void TestSpreadsheet::formulas() {
    if (program_.isEmpty())
        return;
    const QStringList cells{
        "=1+1", "+1+1",       "-1+1",       "@SUM(1)", "\t=1+1", "\r=1+1", "=HYPERLINK(\"http://x\")",
        "a,b",  "say \"no\"", "two\nlines", "7"};
    CsvTable table({"text", "number"});
    for (const QString& cell : cells)
        table.text(cell.toStdString()).number(int64_t{9'007'199'254'740'991}).endRow();
    const Sheet sheet = open(table.str());
    QCOMPARE(sheet.formulas, 0);
    for (qsizetype i = 0; i < cells.size(); ++i) {
        QVERIFY(sheet.texts[i + 1].value(0).contains(cells[i].trimmed()));
        QCOMPARE(sheet.values[i + 1].value(1).toDouble(), 9007199254740991.0);
    }
}

QTEST_GUILESS_MAIN(TestSpreadsheet)
#include "tst_spreadsheet.moc"

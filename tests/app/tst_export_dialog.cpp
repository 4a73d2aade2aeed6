// The Export dialog: what it offers, shows, warns of, remembers and writes.
#include "app/banner.h"
#include "app/export/export_dialog.h"
#include "app/export/export_preview.h"
#include "app/preferences.h"
#include "fake_analysis.h"
#include "support/sample_analysis.h"
#include "views/theme.h"

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QFileDialog>
#include <QImage>
#include <QListWidget>
#include <QMimeData>
#include <QPushButton>
#include <QSet>
#include <QSettings>
#include <QTemporaryDir>
#include <QTest>

using namespace gs;

namespace {

Exporter fakeExporter(const char* name, const char* extension,
                      Result<std::string> (*make)(const Analysis&, const ExportOptions&)) {
    return {name, name, extension, make};
}

std::vector<std::string> someWarnings(const Analysis&, const ExportOptions& options) {
    return {"slack is <not> expressed for " + options.target, "every cost is modelled"};
}

std::vector<std::string> someTargets() {
    return {"torch-2.9", "torch-2.15"};
}

/// One that works, one that fails, one that throws, an empty one, a huge one, one with versions, pictures.
std::vector<ExportItem> oddItems() {
    using Options = const ExportOptions&;
    static const Exporter kExporters[] = {
        fakeExporter("plain", "txt",
                     [](const Analysis&, Options) { return Result<std::string>("one\ntwo\n"); }),
        fakeExporter(
            "fails", "txt",
            [](const Analysis&, Options) {
                return Result<std::string>(Error{"nothing", "there is nothing to say", {}, "ask again"});
            }),
        fakeExporter(
            "throws", "txt",
            [](const Analysis&, Options) -> Result<std::string> { throw std::runtime_error("no luck"); }),
        fakeExporter("empty", "csv", [](const Analysis&, Options) { return Result<std::string>(""); }),
        fakeExporter("huge", "log",
                     [](const Analysis&, Options) {
                         return Result<std::string>(std::string(3'000'000, 'x') + "\n" +
                                                    std::string(3'000'000, 'y'));
                     }),
        {"versions", "versions", "py",
         [](const Analysis&, Options options) { return Result<std::string>("for " + options.target + "\n"); },
         someWarnings, someTargets},
        fakeExporter("web", "html",
                     [](const Analysis&, Options) {
                         return Result<std::string>(
                             "<h1>Report of <i>x</i></h1><h2>Gathers</h2><svg/><h2>Costs &amp; sources</h2>");
                     }),
        fakeExporter("drawing", "svg",
                     [](const Analysis&, Options) {
                         return Result<std::string>(
                             "<svg xmlns='http://www.w3.org/2000/svg' width='40' height='20'>"
                             "<rect width='40' height='20' fill='red'/></svg>");
                     }),
    };
    std::vector<ExportItem> items;
    for (const Exporter& exporter : kExporters) {
        const QString name = QString::fromUtf8(exporter.name.data());
        items.push_back({name, name, QStringLiteral("Odd"), {}, &exporter, nullptr});
    }
    const ViewInfo* view = &viewRegistry().front();
    items.push_back({QStringLiteral("picture-view"),
                     QStringLiteral("View"),
                     QStringLiteral("Pictures"),
                     {},
                     nullptr,
                     view});
    items.push_back({QStringLiteral("picture-window"),
                     QStringLiteral("Window"),
                     QStringLiteral("Pictures"),
                     {},
                     nullptr,
                     nullptr});
    return items;
}

} // namespace

class TestExportDialog : public QObject {
    Q_OBJECT
private slots:
    void initTestCase();
    void init();
    void cleanup();
    void offersEverythingOnce();
    void showsTextAndSavesIt();
    void failureSaysWhy();
    void hugeTextIsCut();
    void headKeepsCharactersWhole();
    void versionsAndWarnings();
    void reportSaysWhatItHolds();
    void drawingsAreDrawn();
    void picturesOfViews();
    void choicesAreRemembered();
    void copies();
    void unwritableFileIsSaid();
    void fastChangesShowTheLast();

private:
    std::unique_ptr<ExportDialog> make(std::vector<ExportItem> items = oddItems());
    void show(ExportDialog& dialog, const char* id);

    std::unique_ptr<test::WarningGuard> warnings_;
    std::unique_ptr<QTemporaryDir> folder_;
    AnalysisPtr analysis_;
    QWidget window_;
};

void TestExportDialog::initTestCase() {
    QCoreApplication::setOrganizationName(QStringLiteral("GatherscopeTest"));
    QCoreApplication::setApplicationName(QStringLiteral("GatherscopeTest"));
    QSettings::setDefaultFormat(QSettings::IniFormat);
    Theme::apply(false);
    test::SampleOptions options;
    options.edit = [](Analysis& analysis) { analysis.request.graph_file = "/data/my run/=step.v2.json"; };
    analysis_ = test::sampleAnalysis(options);
    window_.resize(300, 200);
    window_.show();
}

void TestExportDialog::init() {
    warnings_ = std::make_unique<test::WarningGuard>();
    folder_ = std::make_unique<QTemporaryDir>();
    QSettings::setPath(QSettings::IniFormat, QSettings::UserScope,
                       folder_->filePath(QStringLiteral("settings")));
}

void TestExportDialog::cleanup() {
    QCOMPARE(warnings_->take(), QStringList());
    warnings_.reset();
}

std::unique_ptr<ExportDialog> TestExportDialog::make(std::vector<ExportItem> items) {
    ExportSource source;
    source.snapshot = analysis_;
    source.window = &window_;
    auto dialog = std::make_unique<ExportDialog>(source, std::move(items));
    dialog->show();
    [&] {
        QVERIFY(QTest::qWaitForWindowExposed(dialog.get()));
        QTRY_VERIFY_WITH_TIMEOUT(!dialog->busy(), 20'000);
    }();
    return dialog;
}

void TestExportDialog::show(ExportDialog& dialog, const char* id) {
    QVERIFY(dialog.choose(QString::fromLatin1(id)));
    QTRY_VERIFY_WITH_TIMEOUT(!dialog.busy(), 20'000);
}

void TestExportDialog::offersEverythingOnce() {
    const std::vector<ExportItem> items = exportItems(viewRegistry());
    QSet<QString> ids;
    QString group;
    QSet<QString> groups;
    for (const ExportItem& item : items) {
        QVERIFY2(!ids.contains(item.id), qPrintable(item.id));
        ids.insert(item.id);
        QVERIFY2(!item.title.isEmpty() && !item.meaning.isEmpty(), qPrintable(item.id));
        if (item.group != group)
            QVERIFY2(!groups.contains(item.group), qPrintable(item.group));
        group = item.group;
        groups.insert(group);
    }
    QCOMPARE(ids.size(), qsizetype(exporters().size() + viewRegistry().size() + 1));
    for (const Exporter& exporter : exporters())
        QVERIFY(ids.contains(QString::fromUtf8(exporter.name.data())));
    // Headings cannot be chosen: the keyboard steps over them.
    const auto dialog = make({});
    QVERIFY(dialog->current());
    for (int i = 0; i < dialog->list()->count(); ++i) {
        QVERIFY(dialog->current());
        QTest::keyClick(dialog->list(), Qt::Key_Down);
    }
    QCOMPARE(dialog->current()->id, QStringLiteral("picture-window"));
    QTRY_VERIFY_WITH_TIMEOUT(!dialog->busy(), 20'000);
}

void TestExportDialog::showsTextAndSavesIt() {
    const auto dialog = make();
    show(*dialog, "plain");
    QCOMPARE(dialog->preview()->text(), QStringLiteral("one\ntwo\n"));
    QVERIFY(dialog->preview()->caption().contains(QStringLiteral("8 B")));
    QVERIFY(dialog->preview()->caption().contains(QStringLiteral("2 lines")));
    QVERIFY(
        dialog->warnings().contains(QStringLiteral("missing"))); // the sample has a cost that nobody knows
    QCOMPARE(dialog->suggestedName(), QStringLiteral("_step.plain.txt"));
    QTest::mouseClick(dialog->saveButton(), Qt::LeftButton);
    auto* chooser = dialog->findChild<QFileDialog*>();
    QVERIFY(chooser);
    const QString path = folder_->filePath(QStringLiteral("out.txt"));
    emit chooser->fileSelected(path);
    chooser->close();
    QTRY_VERIFY(dialog->message().contains(path));
    QFile file(path);
    QVERIFY(file.open(QIODevice::ReadOnly));
    QCOMPARE(file.readAll(), QByteArray("one\ntwo\n"));
    QCOMPARE(Preferences::lastFolder(), folder_->path());
}

void TestExportDialog::failureSaysWhy() {
    const auto dialog = make();
    show(*dialog, "fails");
    QVERIFY2(dialog->preview()->text().contains(QStringLiteral("There is nothing to say. Ask again.")),
             qPrintable(dialog->preview()->text()));
    QVERIFY(!dialog->saveButton()->isEnabled());
    QVERIFY(!dialog->copyButton()->isEnabled());
    show(*dialog, "throws");
    QVERIFY(dialog->preview()->text().contains(QStringLiteral("no luck")));
    show(*dialog, "empty");
    QVERIFY(dialog->preview()->text().contains(QStringLiteral("empty")));
    QVERIFY(dialog->saveButton()->isEnabled());
    show(*dialog, "plain");
    QVERIFY(dialog->saveButton()->isEnabled());
}

void TestExportDialog::hugeTextIsCut() {
    const auto dialog = make();
    show(*dialog, "huge");
    QVERIFY(dialog->preview()->text().size() <= ExportPreview::kMostCharacters);
    QVERIFY(dialog->preview()->caption().contains(QStringLiteral("only the beginning")));
    const QString path = folder_->filePath(QStringLiteral("huge.log"));
    dialog->saveTo(path);
    QTRY_COMPARE(QFileInfo(path).size(), qint64(6'000'001));
    QTRY_VERIFY(!dialog->busy());
}

void TestExportDialog::headKeepsCharactersWhole() {
    QCOMPARE(headOf("äöü", 2, 100), QStringLiteral("äö"));
    QCOMPARE(headOf("ab\ncdef", 100, 2), QStringLiteral("ab\ncd…"));
    const QString face = QStringLiteral("\U0001F600");
    QCOMPARE(headOf((QStringLiteral("a") + face).toStdString(), 2, 100), QStringLiteral("a"));
    QCOMPARE(headOf("", 5, 5), QString());
}

void TestExportDialog::versionsAndWarnings() {
    const auto dialog = make();
    show(*dialog, "plain");
    QVERIFY(!dialog->targetBox()->isVisible());
    show(*dialog, "versions");
    QVERIFY(dialog->targetBox()->isVisible());
    QCOMPARE(dialog->targetBox()->currentText(), QStringLiteral("torch-2.15")); // the newest
    QCOMPARE(dialog->preview()->text(), QStringLiteral("for torch-2.15\n"));
    QVERIFY2(dialog->warnings().contains(QStringLiteral("Slack is &lt;not&gt; expressed for torch-2.15.")),
             qPrintable(dialog->warnings()));
    QTest::keyClick(dialog->targetBox(), Qt::Key_Down);
    QTRY_COMPARE(dialog->preview()->text(), QStringLiteral("for torch-2.9\n"));
    show(*dialog, "plain");
    show(*dialog, "versions");
    QCOMPARE(dialog->targetBox()->currentText(), QStringLiteral("torch-2.9")); // as chosen
}

void TestExportDialog::reportSaysWhatItHolds() {
    const auto dialog = make();
    show(*dialog, "web");
    const QString text = dialog->preview()->text();
    for (const char* part : {"Report of x", "Gathers", "Costs &amp; sources", "1 pictures"})
        QVERIFY2(text.contains(QLatin1String(part)), qPrintable(text));
}

void TestExportDialog::drawingsAreDrawn() {
    const auto dialog = make();
    show(*dialog, "drawing");
    QVERIFY(dialog->preview()->showsPicture());
    const QImage image = dialog->preview()->grab().toImage();
    QCOMPARE(image.pixelColor(image.width() / 2, image.height() / 2), QColor(Qt::red));
}

void TestExportDialog::picturesOfViews() {
    const auto dialog = make();
    for (const char* id : {"picture-view", "picture-window"}) {
        show(*dialog, id);
        QVERIFY(dialog->preview()->showsPicture());
        for (const auto& [format, magic] :
             {std::pair("SVG", "<?xml"), std::pair("PNG", "\x89PNG"), std::pair("PDF", "%PDF-")}) {
            dialog->formatBox()->setCurrentText(QLatin1String(format));
            QTRY_VERIFY_WITH_TIMEOUT(!dialog->busy(), 20'000);
            const QString path = folder_->filePath(QLatin1String(id) + QLatin1String(format));
            dialog->saveTo(path);
            QTRY_VERIFY(!dialog->busy());
            QFile file(path);
            QVERIFY(file.open(QIODevice::ReadOnly));
            QVERIFY2(file.readAll().startsWith(magic), format);
        }
    }
    QCOMPARE(QImage(folder_->filePath(QStringLiteral("picture-windowPNG"))).size(), QSize(600, 400));
    show(*dialog, "picture-view");
    dialog->formatBox()->setCurrentText(QStringLiteral("PNG"));
    dialog->sizeBox()->setCurrentIndex(2);
    QTRY_VERIFY_WITH_TIMEOUT(!dialog->busy(), 20'000);
    const QString path = folder_->filePath(QStringLiteral("big.png"));
    dialog->saveTo(path);
    QTRY_VERIFY(!dialog->busy());
    QCOMPARE(QImage(path).size(), QSize(3840, 2160));
    QVERIFY(dialog->preview()->caption().contains(QStringLiteral("1920 × 1080")));
}

void TestExportDialog::choicesAreRemembered() {
    {
        const auto dialog = make();
        show(*dialog, "versions");
        dialog->targetBox()->setCurrentText(QStringLiteral("torch-2.9"));
        dialog->formatBox()->setCurrentText(QStringLiteral("PDF"));
        QTRY_VERIFY(!dialog->busy());
        dialog->saveTo(folder_->filePath(QStringLiteral("x.py")));
        QTRY_VERIFY(!dialog->busy());
    }
    const auto dialog = make();
    QCOMPARE(dialog->current()->id, QStringLiteral("versions"));
    QCOMPARE(dialog->targetBox()->currentText(), QStringLiteral("torch-2.9"));
    QCOMPARE(dialog->formatBox()->currentText(), QStringLiteral("PDF"));
}

void TestExportDialog::copies() {
    const auto dialog = make();
    show(*dialog, "plain");
    QTest::mouseClick(dialog->copyButton(), Qt::LeftButton);
    QCOMPARE(QApplication::clipboard()->text(), QStringLiteral("one\ntwo\n"));
    show(*dialog, "picture-window");
    dialog->formatBox()->setCurrentText(QStringLiteral("PNG"));
    QTRY_VERIFY(!dialog->busy());
    QTest::mouseClick(dialog->copyButton(), Qt::LeftButton);
    QVERIFY(QApplication::clipboard()->mimeData()->hasImage());
}

void TestExportDialog::unwritableFileIsSaid() {
    const auto dialog = make();
    show(*dialog, "plain");
    dialog->saveTo(folder_->filePath(QStringLiteral("no/such/folder/x.txt")));
    QTRY_VERIFY(!dialog->busy());
    QVERIFY2(dialog->message().contains(QStringLiteral("x.txt")), qPrintable(dialog->message()));
    QVERIFY(!dialog->message().contains(QStringLiteral("is written")));
    QVERIFY(dialog->saveButton()->isEnabled());
}

void TestExportDialog::fastChangesShowTheLast() {
    const auto dialog = make();
    for (int round = 0; round < 5; ++round)
        for (const char* id : {"huge", "versions", "picture-view", "fails", "plain"})
            QVERIFY(dialog->choose(QString::fromLatin1(id)));
    QTRY_VERIFY(!dialog->busy());
    QCOMPARE(dialog->preview()->text(), QStringLiteral("one\ntwo\n"));
}

QTEST_MAIN(TestExportDialog)
#include "tst_export_dialog.moc"

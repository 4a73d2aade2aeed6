// Docks, sizes and themes of the window, and what of them comes back.
#include "app/header_bar.h"
#include "app/main_window.h"
#include "fake_analysis.h"
#include "views/theme.h"

#include <QAbstractButton>
#include <QApplication>
#include <QDockWidget>
#include <QPushButton>
#include <QSettings>
#include <QTemporaryDir>
#include <QTest>

using namespace gs;
using gs::test::FakeCore;

class TestWindowLayout : public QObject {
    Q_OBJECT
private slots:
    void initTestCase();
    void init();
    void cleanup();
    void layoutRoundTrip();
    void resetLayoutAfterChaos();
    void themes();
    void smallWindow();

private:
    std::unique_ptr<MainWindow> make();
    std::unique_ptr<MainWindow> opened();

    std::unique_ptr<test::WarningGuard> warnings_;
    std::unique_ptr<QTemporaryDir> folder_;
};

void TestWindowLayout::initTestCase() {
    QCoreApplication::setOrganizationName(QStringLiteral("GatherscopeTest"));
    QCoreApplication::setApplicationName(QStringLiteral("GatherscopeTest"));
    QSettings::setDefaultFormat(QSettings::IniFormat);
    Theme::apply(false);
}

void TestWindowLayout::init() {
    warnings_ = std::make_unique<test::WarningGuard>();
    folder_ = std::make_unique<QTemporaryDir>();
    QSettings::setPath(QSettings::IniFormat, QSettings::UserScope,
                       folder_->filePath(QStringLiteral("settings")));
}

void TestWindowLayout::cleanup() {
    QCOMPARE(warnings_->take(), QStringList());
    warnings_.reset();
}

std::unique_ptr<MainWindow> TestWindowLayout::make() {
    return std::make_unique<MainWindow>(test::fakeAnalyse(std::make_shared<FakeCore>()), test::fakeViews());
}

std::unique_ptr<MainWindow> TestWindowLayout::opened() {
    auto window = make();
    window->show();
    window->openFiles({QStringLiteral("graph.json")}, {});
    [&] { QTRY_COMPARE(window->page(), MainWindow::Page::Panels); }();
    return window;
}

void TestWindowLayout::layoutRoundTrip() {
    {
        const auto window = opened();
        window->resize(1300, 800);
        window->workspace().findChild<QDockWidget*>(QStringLiteral("graph"))->hide();
        window->workspace().findChild<QDockWidget*>(QStringLiteral("why"))->setFloating(true);
        QVERIFY(window->close());
    }
    const auto window = make();
    window->restoreLayout();
    window->show();
    window->openFiles({QStringLiteral("graph.json")}, {});
    QTRY_COMPARE(window->page(), MainWindow::Page::Panels);
    QCOMPARE(window->size(), QSize(1300, 800));
    QVERIFY(window->workspace().findChild<QDockWidget*>(QStringLiteral("graph"))->isHidden());
    QVERIFY(window->workspace().findChild<QDockWidget*>(QStringLiteral("why"))->isFloating());
}

void TestWindowLayout::resetLayoutAfterChaos() {
    const auto window = opened();
    for (auto* dock : window->workspace().findChildren<QDockWidget*>()) {
        dock->setFloating(true);
        dock->hide();
    }
    QTest::qWait(20);
    window->action(QStringLiteral("resetLayout"))->trigger();
    QTest::qWait(20);
    Workspace& workspace = window->workspace();
    const auto dock = [&](const char* id) { return workspace.findChild<QDockWidget*>(QLatin1String(id)); };
    for (const auto* each : workspace.findChildren<QDockWidget*>())
        QVERIFY2(!each->isFloating() && !each->isHidden(), qPrintable(each->objectName()));
    QCOMPARE(workspace.tabifiedDockWidgets(dock("gathers")).size(), 2);
    // Left, middle, right above the full-width timeline.
    QVERIFY(dock("gathers")->geometry().right() < dock("why")->geometry().left());
    QVERIFY(dock("why")->geometry().right() < dock("graph")->geometry().left());
    QVERIFY(dock("timeline")->geometry().top() > dock("graph")->geometry().bottom());
    QVERIFY(dock("timeline")->width() > workspace.width() - 4);
    QVERIFY(std::abs(dock("gathers")->width() - 0.43 * workspace.width()) < 0.05 * workspace.width());
}

void TestWindowLayout::themes() {
    const auto window = opened();
    window->action(QStringLiteral("theme-dark"))->trigger();
    QVERIFY(Theme::current().dark);
    QCOMPARE(Preferences::themeChoice(), ThemeChoice::Dark);
    QCOMPARE(QApplication::palette().color(QPalette::Window), Theme::darkTheme().window);
    const QImage picture = window->grab().toImage();
    QVERIFY(picture.pixelColor(3, picture.height() / 2).lightness() < 60);
    window->action(QStringLiteral("theme-light"))->trigger();
    QVERIFY(!Theme::current().dark);
}

void TestWindowLayout::smallWindow() {
    const auto window = opened();
    window->resize(1280, 720);
    QTest::qWait(20);
    QCOMPARE(window->size(), QSize(1280, 720));
    const QWidget& status = window->statusLine();
    const auto* last = window->statusLine().button(StatusLine::Part::Missing);
    QVERIFY(last->geometry().right() < status.width());
    for (const auto* chip : window->header().findChildren<QAbstractButton*>())
        if (chip->isVisible())
            QVERIFY(chip->geometry().right() <= window->header().width());
}

QTEST_MAIN(TestWindowLayout)
#include "tst_window_layout.moc"

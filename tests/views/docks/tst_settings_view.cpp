// Settings: an editor for each, asked live, shown without asking.
#include "dock_test.h"
#include "views/docks/setting_editor.h"
#include "views/docks/settings_view.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QLineEdit>
#include <QSlider>
#include <QToolButton>

using namespace gs;

namespace {

AnalysisPtr withSetting(Setting key, const char* value) {
    auto analysis = std::make_shared<Analysis>();
    if (!analysis->request.settings.set(key, value))
        return nullptr;
    return analysis;
}

template <typename T>
T* widget(SettingsView& view, Setting key) {
    return view.editor(key)->findChild<T*>();
}

} // namespace

class TestSettingsView : public QObject {
    Q_OBJECT
private slots:
    void init() { Theme::apply(false); }
    void everySettingHasAnEditor();
    void sliderAsksWhileDragging();
    void spinBox();
    void otherEditors();
    void snapshotNeverAsks();
    void resetAndMarker();
    void unusedSettings();
    void snapshotDuringDrag();
};

void TestSettingsView::everySettingHasAnEditor() {
    SettingsView view;
    test::showAt(view, 420, 640);
    for (const SettingSpec& spec : settingSpecs()) {
        SettingEditor* editor = view.editor(spec.key);
        QVERIFY2(editor, spec.name.data());
        QCOMPARE(editor->value().toStdString(), Settings().text(spec.key));
        QVERIFY(editor->toolTip().size() > 10);
        QVERIFY(!editor->findChildren<QWidget*>().isEmpty());
    }
}

void TestSettingsView::sliderAsksWhileDragging() {
    SettingsView view;
    test::showAt(view, 420, 640);
    test::Asked asked(view);
    auto* slider = widget<QSlider>(view, Setting::Contention);
    slider->setSliderDown(true);
    for (int position : {300, 400, 500})
        slider->setValue(position);
    QCOMPARE(asked.settings.size(), size_t{3});
    QCOMPARE(asked.settings[2].first, QStringLiteral("contention"));
    QCOMPARE(asked.settings[2].second, QStringLiteral("3.25")); // 1 + 9 × 0.5²
    QCOMPARE(widget<QDoubleSpinBox>(view, Setting::Contention)->value(), 3.25);
    slider->setSliderDown(false);
    // By keyboard as well.
    slider->setFocus();
    QTest::keyClick(slider, Qt::Key_PageUp);
    QCOMPARE(asked.settings.size(), size_t{4});
}

void TestSettingsView::spinBox() {
    SettingsView view;
    test::showAt(view, 420, 640);
    test::Asked asked(view);
    auto* spin = widget<QDoubleSpinBox>(view, Setting::SlackNs);
    spin->setFocus();
    spin->selectAll();
    QTest::keyClicks(spin, "7.5");
    QVERIFY(asked.settings.empty()); // half-typed numbers are nobody's wish
    view.setSnapshot(withSetting(Setting::Contention, "2"));
    QCOMPARE(spin->text(), QStringLiteral("7.5 µs")); // nor are they overwritten
    QTest::keyClick(spin, Qt::Key_Return);
    QCOMPARE(asked.settings.size(), size_t{1});
    QVERIFY((asked.settings[0] == std::pair<QString, QString>{"slack_ns", "7500"}));
}

void TestSettingsView::otherEditors() {
    SettingsView view;
    test::showAt(view, 420, 900);
    test::Asked asked(view);
    auto* check = widget<QCheckBox>(view, Setting::Carry);
    QTest::mouseClick(check, Qt::LeftButton, {}, QPoint(8, check->height() / 2));
    QVERIFY((asked.settings.back() == std::pair<QString, QString>{"carry", "false"}));
    auto* scheduler = widget<QComboBox>(view, Setting::Scheduler);
    QVERIFY(scheduler->count() >= 3);
    scheduler->setFocus();
    QTest::keyClick(scheduler, Qt::Key_Home);
    QVERIFY((asked.settings.back() == std::pair<QString, QString>{"scheduler", "program-order"}));
    auto* text = widget<QLineEdit>(view, Setting::BucketCapMib);
    text->setFocus();
    text->selectAll();
    QTest::keyClicks(text, "64");
    QTest::keyClick(text, Qt::Key_Return);
    QVERIFY((asked.settings.back() == std::pair<QString, QString>{"bucket_cap_mib", "64"}));
}

void TestSettingsView::snapshotNeverAsks() {
    SettingsView view;
    test::showAt(view, 420, 640);
    test::Asked asked(view);
    view.setSnapshot(withSetting(Setting::Contention, "2.37"));
    QCOMPARE(widget<QDoubleSpinBox>(view, Setting::Contention)->value(), 2.37);
    view.setSnapshot(withSetting(Setting::Scheduler, "just-in-time"));
    QCOMPARE(widget<QComboBox>(view, Setting::Scheduler)->currentText(), QStringLiteral("Just in time"));
    view.setSnapshot(withSetting(Setting::Carry, "false"));
    view.setSnapshot(withSetting(Setting::SlackNs, "123456789"));
    view.setSnapshot(withSetting(Setting::Scheduler, "one-from-a-project-file"));
    view.setSnapshot(nullptr);
    QVERIFY(asked.settings.empty());
    QCOMPARE(widget<QDoubleSpinBox>(view, Setting::Contention)->value(), 1.5);
}

void TestSettingsView::resetAndMarker() {
    SettingsView view;
    test::showAt(view, 420, 640);
    test::Asked asked(view);
    SettingEditor* editor = view.editor(Setting::Contention);
    auto* reset = editor->findChild<QToolButton*>();
    QVERIFY(!reset->isEnabled());
    view.setSnapshot(withSetting(Setting::Contention, "2"));
    QVERIFY(reset->isEnabled());
    QCOMPARE(editor->findChild<QLabel*>()->text(), QStringLiteral("• Contention"));
    QTest::mouseClick(reset, Qt::LeftButton);
    QCOMPARE(asked.settings.size(), size_t{1});
    QVERIFY((asked.settings[0] == std::pair<QString, QString>{"contention", "1.5"}));
    view.setSnapshot(withSetting(Setting::Contention, "1.5"));
    QVERIFY(!reset->isEnabled());
}

void TestSettingsView::unusedSettings() {
    SettingsView view;
    view.setSnapshot(withSetting(Setting::Scheduler, "latest-safe-launch"));
    auto* title = view.editor(Setting::GatherBudgetMib)->findChild<QLabel*>();
    QVERIFY(title->toolTip().contains("does not read it"));
    view.setSnapshot(withSetting(Setting::Scheduler, "just-in-time"));
    QVERIFY(!title->toolTip().contains("does not read it"));
}

void TestSettingsView::snapshotDuringDrag() {
    SettingsView view;
    test::showAt(view, 420, 640);
    auto* slider = widget<QSlider>(view, Setting::Contention);
    slider->setSliderDown(true);
    slider->setValue(700);
    view.setSnapshot(withSetting(Setting::Contention, "2")); // an older answer
    QCOMPARE(slider->value(), 700);
    slider->setSliderDown(false);
    view.setSnapshot(withSetting(Setting::Contention, "5.41"));
    QCOMPARE(slider->value(), 700); // the same value: the handle does not jump to a rounding of it
}

QTEST_MAIN(TestSettingsView)
#include "tst_settings_view.moc"

// Shared by the tests of the docks: settings that touch no one's, the theme, and what a view asked for.
#pragma once

#include "support/sample_analysis.h"
#include "views/theme.h"
#include "views/view.h"

#include <QCoreApplication>
#include <QSettings>
#include <QTemporaryDir>
#include <QTest>

namespace gs::test {

/// Keeps QSettings in a folder of the test's own, empty at first.
class IsolatedSettings {
public:
    IsolatedSettings() {
        QCoreApplication::setOrganizationName(QStringLiteral("gatherscope-test"));
        QCoreApplication::setApplicationName(QStringLiteral("docks"));
        QSettings::setDefaultFormat(QSettings::IniFormat);
        QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, folder_.path());
    }

private:
    QTemporaryDir folder_;
};

/// What a view asked for. It answers a selection as the document does: by setting it on the view.
class Asked {
public:
    explicit Asked(View& view) {
        QObject::connect(&view, &View::selectionRequested, &view, [this, &view](const Selection& selection) {
            selections.push_back(selection);
            view.setSelection(selection);
        });
        QObject::connect(&view, &View::settingRequested, &view,
                         [this](const QString& name, const QString& value) {
                             settings.push_back({name, value});
                         });
        QObject::connect(&view, &View::costEditRequested, &view, [this](const QString& key, qint64 ns) {
            costs.push_back({key, ns});
        });
    }
    std::vector<Selection> selections;
    std::vector<std::pair<QString, QString>> settings;
    std::vector<std::pair<QString, qint64>> costs;
};

inline void showAt(QWidget& widget, int width, int height) {
    widget.resize(width, height);
    widget.show();
    QVERIFY(QTest::qWaitForWindowExposed(&widget));
}

} // namespace gs::test

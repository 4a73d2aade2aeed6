// gatherscope: the window.
#include "app/command_line.h"
#include "app/grab.h"
#include "app/main_window.h"
#include "views/theme.h"

#include <QApplication>
#include <QIcon>

#include <cstdio>

namespace {

/// Whether there is a screen to open a window on, or someone has chosen a platform.
bool haveDisplay() {
    return !qEnvironmentVariableIsEmpty("DISPLAY") || !qEnvironmentVariableIsEmpty("WAYLAND_DISPLAY") ||
           qEnvironmentVariableIsSet("QT_QPA_PLATFORM");
}

int showText(const QString& text) {
    std::fputs(qPrintable(text), stdout);
    return gs::kExitDone;
}

} // namespace

int main(int argc, char** argv) {
    QStringList arguments;
    for (int i = 1; i < argc; ++i)
        arguments.append(QString::fromLocal8Bit(argv[i]));
    QCoreApplication::setApplicationName(QStringLiteral("Gatherscope"));
    QCoreApplication::setOrganizationName(QStringLiteral("Gatherscope"));
    QCoreApplication::setApplicationVersion(QStringLiteral(GATHERSCOPE_VERSION));
    const gs::Result<gs::CommandLine> parsed = gs::parseCommandLine(arguments);
    if (!parsed) {
        std::fprintf(stderr, "gatherscope: %s\n%s\n", parsed.error().message.c_str(),
                     parsed.error().hint.c_str());
        return gs::kExitUsage;
    }
    const gs::CommandLine& line = parsed.value();
    if (line.version)
        return showText(QStringLiteral("gatherscope %1\n").arg(QCoreApplication::applicationVersion()));
    if (line.help) {
        const QCoreApplication application(argc, argv);
        return showText(gs::commandLineHelp());
    }
    const bool grab = !line.grab_folder.isEmpty();
    if (!grab && !haveDisplay()) {
        std::fputs(
            "gatherscope: there is no display to open a window on (DISPLAY and WAYLAND_DISPLAY are empty).\n"
            "Use gatherscope-cli, or gatherscope --grab DIR FILE for pictures.\n",
            stderr);
        return gs::kExitPartMissing;
    }
    if (grab) {
        if (!haveDisplay())
            qputenv("QT_QPA_PLATFORM", "offscreen");
        qputenv("QT_SCALE_FACTOR", QByteArray::number(line.scale));
    }
    const QApplication application(argc, argv);
    QApplication::setWindowIcon(QIcon(QStringLiteral(":/icons/gatherscope.svg")));
    QGuiApplication::setDesktopFileName(QStringLiteral("io.github.gatherscope.Gatherscope"));
    gs::rememberDesktopPalette();
    if (grab)
        return gs::runGrab(line);

    gs::Theme::apply(gs::isDark(line.theme.value_or(gs::Preferences::themeChoice())));
    gs::MainWindow window(gs::makeAnalyseFunction());
    window.restoreLayout();
    window.show();
    window.document().setInitialSettings(line.settings);
    if (line.graphs.isEmpty())
        window.openFiles({}, line.costs);
    else
        window.open(gs::requestOf(line, line.graphs.front()));
    return QApplication::exec();
}

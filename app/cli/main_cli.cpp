#include "app/cli/commands.h"
#include "app/cli/exit_codes.h"

#include <QCoreApplication>
#include <cstdio>
#include <fmt/format.h>
#include <unistd.h>

namespace gs {

namespace {

struct Command {
    const char* name;
    const char* meaning;
    int (*run)(const QStringList&);
};

constexpr Command kCommands[] = {
    {"analyze", "analyse graphs and show what is hidden and what is exposed", runAnalyze},
    {"compare", "compare schedulers and settings, or search for the best", runCompare},
    {"export", "write a schedule, configuration, table or trace", runExport},
    {"lint", "look for faults and waste in graphs", runLint},
    {"list", "list the graphs in a file, or schedulers, settings, devices, …", runList},
    {"profile", "measure costs on ranks in lockstep", runProfile},
};

int usage(FILE* out) {
    fmt::print(out, "Usage: gatherscope-cli COMMAND [options] FILE…\n\nCommands:\n");
    for (const Command& command : kCommands)
        fmt::print(out, "  {:10} {}\n", command.name, command.meaning);
    fmt::print(out,
               "\n`gatherscope-cli COMMAND --help` names its options.\n"
               "Exit codes: 0 done, 1 findings, 2 usage, 3 input unreadable, 4 part missing in this build, "
               "5 profiling aborted.\n");
    return out == stdout ? kExitDone : kExitUsage;
}

} // namespace

int parseArguments(QCommandLineParser& parser, const QStringList& arguments, int minimum_files) {
    const QCommandLineOption help = parser.addHelpOption();
    const bool parsed = parser.parse(arguments);
    if (parser.isSet(help)) {
        fmt::print("{}", parser.helpText().toStdString());
        return kExitDone;
    }
    if (!parsed) {
        fmt::print(stderr, "gatherscope-cli: {}\n", parser.errorText().toStdString());
        return kExitUsage;
    }
    if (parser.positionalArguments().size() < minimum_files) {
        fmt::print(stderr, "gatherscope-cli {}: a file is missing; --help shows the usage\n",
                   arguments.value(0).toStdString());
        return kExitUsage;
    }
    return -1;
}

/// What was printed must have arrived.
int withOutput(int code) {
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0)
        return code;
    fmt::print(stderr, "gatherscope-cli: the standard output could not be written\n");
    return code == kExitDone || code == kExitFindings ? kExitUnreadable : code;
}

bool stderrIsTerminal() {
    return isatty(STDERR_FILENO) != 0;
}

} // namespace gs

int main(int argc, char** argv) {
    QCoreApplication application(argc, argv);
    QCoreApplication::setApplicationName("gatherscope-cli");
    QCoreApplication::setApplicationVersion(GATHERSCOPE_VERSION);
    QStringList arguments = QCoreApplication::arguments();
    arguments.removeFirst();
    if (arguments.isEmpty())
        return gs::usage(stderr);
    const QString name = arguments.first();
    if (name == "--help" || name == "-h" || name == "help")
        return gs::usage(stdout);
    if (name == "--version") {
        fmt::print("gatherscope-cli {}\n", GATHERSCOPE_VERSION);
        return gs::kExitDone;
    }
    for (const auto& command : gs::kCommands) {
        if (name == command.name)
            return gs::withOutput(command.run(arguments));
    }
    fmt::print(stderr, "gatherscope-cli: there is no command \"{}\"\n", name.toStdString());
    return gs::usage(stderr);
}

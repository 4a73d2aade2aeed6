#include "app/command_line.h"

#include "app/file_kind.h"

#include <QCommandLineParser>
#include <QCoreApplication>
#include <QFileInfo>
#include <QRegularExpression>

namespace gs {

namespace {

QString tr(const char* text) {
    return QCoreApplication::translate("CommandLine", text);
}

Error usage(const QString& message) {
    return {"usage", message.toStdString(), {}, "gatherscope --help lists the options"};
}

void addOptions(QCommandLineParser& parser) {
    parser.setApplicationDescription(
        tr("Shows how the weight all-gathers of a compiled training graph overlap with compute.\n"
           "Exit: 0 done, 2 usage, 3 input unreadable, 4 no display."));
    parser.addHelpOption();
    parser.addVersionOption();
    parser.addPositionalArgument(QStringLiteral("FILE"),
                                 tr("A graph and cost sources, told apart by content."),
                                 QStringLiteral("[FILE…]"));
    parser.addOptions({
        {QStringLiteral("costs"), tr("Add a cost source; repeatable, the first that knows an op wins."),
         QStringLiteral("FILE")},
        {QStringLiteral("trace"),
         tr("Lay a trace of a run over the simulation; repeatable for the ranks of one run."),
         QStringLiteral("FILE")},
        {QStringLiteral("set"), tr("Set a setting; gatherscope-cli list settings names them."),
         QStringLiteral("NAME=VALUE")},
        {QStringLiteral("scheduler"), tr("Short for --set scheduler=NAME."), QStringLiteral("NAME")},
        {QStringLiteral("device"), tr("Short for --set device=NAME."), QStringLiteral("NAME")},
        {QStringLiteral("graph"), tr("Which graph of the file, from 0."), QStringLiteral("N")},
        {QStringLiteral("rank"), tr("Which rank's graph."), QStringLiteral("R")},
        {QStringLiteral("stage"), tr("Which stage's graph, by its name or a part of it."),
         QStringLiteral("NAME")},
        {QStringLiteral("theme"), tr("light, dark or system."), QStringLiteral("THEME")},
        {QStringLiteral("grab"), tr("Write pictures of the window, every view and every state, and quit."),
         QStringLiteral("DIR")},
        {QStringLiteral("size"), tr("Size of the pictures' window."), QStringLiteral("WxH"),
         QStringLiteral("1440x900")},
        {QStringLiteral("scale"), tr("Pixels per point of the pictures."), QStringLiteral("N"),
         QStringLiteral("1")},
    });
}

Status readSettings(const QCommandLineParser& parser, Settings& settings) {
    for (const QString& text : parser.values(QStringLiteral("set"))) {
        const qsizetype at = text.indexOf(QLatin1Char('='));
        if (at <= 0)
            return usage(tr("--set takes NAME=VALUE, not \"%1\".").arg(text));
        if (Status status = settings.set(text.left(at).toStdString(), text.mid(at + 1).toStdString());
            !status)
            return status;
    }
    for (const char* name : {"scheduler", "device"}) {
        const QString option = QString::fromLatin1(name);
        if (!parser.isSet(option))
            continue;
        if (Status status = settings.set(name, parser.value(option).toStdString()); !status)
            return status;
    }
    return Unit{};
}

Status readIndex(const QCommandLineParser& parser, const QString& option, int& index) {
    if (!parser.isSet(option))
        return Unit{};
    bool ok = false;
    index = parser.value(option).toInt(&ok);
    if (!ok || index < 0)
        return usage(tr("--%1 takes a number from 0, not \"%2\".").arg(option, parser.value(option)));
    return Unit{};
}

Status readPictureOptions(const QCommandLineParser& parser, CommandLine& line) {
    static const QRegularExpression kSize(QStringLiteral("^(\\d{3,5})x(\\d{3,5})$"));
    const QString size = parser.value(QStringLiteral("size"));
    const QRegularExpressionMatch match = kSize.match(size);
    if (!match.hasMatch())
        return usage(tr("--size takes WIDTHxHEIGHT, as 1440x900, not \"%1\".").arg(size));
    line.size = {match.captured(1).toInt(), match.captured(2).toInt()};
    bool ok = false;
    line.scale = parser.value(QStringLiteral("scale")).toDouble(&ok);
    if (!ok || !(line.scale >= 0.5 && line.scale <= 4))
        return usage(tr("--scale takes a number from 0.5 to 4, not \"%1\".")
                         .arg(parser.value(QStringLiteral("scale"))));
    line.grab_folder = parser.value(QStringLiteral("grab"));
    if (!line.grab_folder.isEmpty() && line.graphs.isEmpty())
        return usage(tr("--grab needs a graph file."));
    return Unit{};
}

} // namespace

AnalysisRequest requestOf(const CommandLine& line, const QString& graph) {
    AnalysisRequest request;
    request.graph_file = graph.toStdString();
    request.graph_index = line.graph_index;
    request.rank = line.rank;
    request.stage = line.stage;
    for (const QString& file : line.costs)
        request.cost_files.push_back(file.toStdString());
    for (const QString& file : line.traces)
        request.trace_files.push_back(file.toStdString());
    request.settings = line.settings;
    return request;
}

Result<CommandLine> parseCommandLine(const QStringList& arguments) {
    QCommandLineParser parser;
    addOptions(parser);
    CommandLine line;
    if (!parser.parse(QStringList(QStringLiteral("gatherscope")) + arguments))
        return usage(parser.errorText());
    if (parser.isSet(QStringLiteral("help")) || parser.isSet(QStringLiteral("version"))) {
        line.help = parser.isSet(QStringLiteral("help"));
        line.version = !line.help;
        return line;
    }
    const SortedFiles sorted = sortFiles(parser.positionalArguments());
    line.graphs = sorted.graphs;
    line.costs = sorted.costs;
    for (const QString& file : parser.values(QStringLiteral("costs")))
        line.costs.append(QFileInfo(file).absoluteFilePath());
    for (const QString& file : parser.values(QStringLiteral("trace")))
        line.traces.append(QFileInfo(file).absoluteFilePath());
    if (Status status = readSettings(parser, line.settings); !status)
        return status.error();
    if (Status status = readIndex(parser, QStringLiteral("graph"), line.graph_index); !status)
        return status.error();
    if (Status status = readIndex(parser, QStringLiteral("rank"), line.rank); !status)
        return status.error();
    line.stage = parser.value(QStringLiteral("stage")).toStdString();
    if (parser.isSet(QStringLiteral("theme"))) {
        ThemeChoice choice = ThemeChoice::System;
        if (!parseThemeChoice(parser.value(QStringLiteral("theme")), choice))
            return usage(tr("--theme takes light, dark or system, not \"%1\".")
                             .arg(parser.value(QStringLiteral("theme"))));
        line.theme = choice;
    }
    if (Status status = readPictureOptions(parser, line); !status)
        return status.error();
    return line;
}

QString commandLineHelp() {
    QCommandLineParser parser;
    addOptions(parser);
    return parser.helpText();
}

} // namespace gs

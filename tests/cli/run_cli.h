// Runs the command line as users do, and a graph to run it on.
#pragma once

#include <QByteArray>
#include <QElapsedTimer>
#include <QFile>
#include <QProcess>
#include <QStringList>
#include <string_view>

namespace gs::test {

struct Run {
    int code = -1;
    QByteArray out;
    QByteArray error;
    qint64 ms = 0;
};

/// Starts the program and waits; a crash, or a hang for longer than that, is code -1.
inline Run runProcess(QProcess& process, const QString& program, const QStringList& arguments, int limit_ms) {
    QElapsedTimer timer;
    timer.start();
    process.start(program, arguments);
    Run run;
    if (!process.waitForFinished(limit_ms) || process.exitStatus() != QProcess::NormalExit)
        return run;
    run.code = process.exitCode();
    run.out = process.readAllStandardOutput();
    run.error = process.readAllStandardError();
    run.ms = timer.elapsed();
    return run;
}

inline Run runCli(const QStringList& arguments) {
    QProcess process;
    return runProcess(process, GATHERSCOPE_CLI, arguments, 60'000);
}

/// Returns the path.
inline QString writeFile(const QString& path, std::string_view text) {
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly) ||
        file.write(text.data(), qint64(text.size())) != qint64(text.size()))
        qFatal("cannot write %s", qPrintable(path));
    return path;
}

/// A graph of a parameter, a gather, its wait and a matrix multiply; `mutate` changes one piece of its text.
inline QByteArray smallGraph(const QByteArray& from = {}, const QByteArray& to = {}) {
    QByteArray text =
        R"({"format":"gatherscope.graph","version":1,"name":"small","source":{},"groups":{},"nodes":[
{"name":"x","op":"placeholder","target":"x","args":[],"kwargs":{},"val":{"dtype":"bfloat16","shape":[64,64],"stride":[64,1],"device":"cuda:0"}},
{"name":"p","op":"placeholder","target":"p","args":[],"kwargs":{},"val":{"dtype":"bfloat16","shape":[8,64],"stride":[64,1],"device":"cuda:0"}},
{"name":"ag","op":"call_function","target":"_c10d_functional.all_gather_into_tensor.default","args":[{"n":"p"},8,"0"],"kwargs":{},"val":{"dtype":"bfloat16","shape":[64,64],"stride":[64,1],"device":"cuda:0"}},
{"name":"w","op":"call_function","target":"_c10d_functional.wait_tensor.default","args":[{"n":"ag"}],"kwargs":{},"val":{"dtype":"bfloat16","shape":[64,64],"stride":[64,1],"device":"cuda:0"}},
{"name":"mm","op":"call_function","target":"aten.mm.default","args":[{"n":"x"},{"n":"w"}],"kwargs":{},"val":{"dtype":"bfloat16","shape":[64,64],"stride":[64,1],"device":"cuda:0"}},
{"name":"output","op":"output","target":"output","args":[[{"n":"mm"}]],"kwargs":{},"val":null}
]}
)";
    if (!from.isEmpty()) {
        const auto at = text.indexOf(from);
        if (at < 0)
            qFatal("the small graph has no such piece");
        text.replace(at, from.size(), to);
    }
    return text;
}

} // namespace gs::test

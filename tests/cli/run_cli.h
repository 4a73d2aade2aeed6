// Runs the command line as users do, and a graph to run it on.
#pragma once

#include <QByteArray>
#include <QProcess>
#include <QStringList>

namespace gs::test {

struct Run {
    int code = -1;
    QByteArray out;
    QByteArray error;
};

inline Run runCli(const QStringList& arguments) {
    QProcess process;
    process.start(GATHERSCOPE_CLI, arguments);
    Run run;
    if (!process.waitForFinished(60'000) || process.exitStatus() != QProcess::NormalExit)
        return run; // a crash or a hang is code -1
    run.code = process.exitCode();
    run.out = process.readAllStandardOutput();
    run.error = process.readAllStandardError();
    return run;
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

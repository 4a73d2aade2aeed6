// Graphviz as a child process: it may hang, crash, be missing or answer nonsense without anybody noticing.
#pragma once

#include "layout/layout_graph.h"
#include "layout/placement.h"

#include <QByteArray>
#include <QObject>
#include <QString>

class QProcess;
class QTimer;

namespace gs {

/// Runs one `dot -Tplain` at a time. A newer request kills the older, whose answer never arrives.
class DotProcess : public QObject {
    Q_OBJECT
public:
    enum class Failure : uint8_t { Missing, Crashed, TimedOut, BadAnswer };
    Q_ENUM(Failure)

    explicit DotProcess(QObject* parent = nullptr);
    ~DotProcess() override;

    /// Program to run: a path, or a name to look for. Default "dot".
    void setProgram(const QString& program) { program_ = program; }
    /// After `notice_ms` slow() is emitted, after `kill_ms` the child is killed. Defaults: 1 s and 10 s.
    void setTimeouts(int notice_ms, int kill_ms);

    /// Lays out `picture`, whose boxes have these sizes. Returns the generation that the answer will carry.
    /// Answers always come later, never from inside this call.
    quint64 start(LayoutGraph picture, const std::vector<LayoutSize>& sizes);
    /// Kills what runs; no answer comes.
    void cancel();
    bool running() const { return process_ != nullptr; }

signals:
    void slow(quint64 generation);
    void finished(quint64 generation, const gs::Placement& placement);
    void failed(quint64 generation, gs::DotProcess::Failure failure, const QString& message);

private:
    void readSome();
    void finish();
    void fail(Failure failure, const QString& message);
    void dropProcess();

    QString program_ = QStringLiteral("dot");
    QProcess* process_ = nullptr;
    QTimer* notice_timer_ = nullptr;
    QTimer* kill_timer_ = nullptr;
    LayoutGraph picture_;
    QByteArray output_;
    quint64 generation_ = 0;
};

} // namespace gs

#include "views/graph/dot_process.h"

#include "layout/dot_writer.h"
#include "layout/plain_reader.h"

#include <QFileInfo>
#include <QProcess>
#include <QStandardPaths>
#include <QTimer>

namespace gs {

namespace {

/// 400 boxes and their links take well under 1 MiB; more is no layout.
constexpr qsizetype kMaxAnswerBytes = 16 << 20;

} // namespace

DotProcess::DotProcess(QObject* parent)
    : QObject(parent), notice_timer_(new QTimer(this)), kill_timer_(new QTimer(this)) {
    notice_timer_->setSingleShot(true);
    kill_timer_->setSingleShot(true);
    setTimeouts(1000, 10000);
    connect(notice_timer_, &QTimer::timeout, this, [this] { emit slow(generation_); });
    connect(kill_timer_, &QTimer::timeout, this, [this] {
        fail(Failure::TimedOut,
             tr("Graphviz did not finish within %1 s").arg(kill_timer_->interval() / 1000.0, 0, 'g', 3));
    });
}

DotProcess::~DotProcess() {
    dropProcess();
}

void DotProcess::setTimeouts(int notice_ms, int kill_ms) {
    notice_timer_->setInterval(notice_ms);
    kill_timer_->setInterval(kill_ms);
}

quint64 DotProcess::start(LayoutGraph picture, const std::vector<LayoutSize>& sizes) {
    cancel();
    ++generation_;
    picture_ = std::move(picture);
    output_.clear();
    const QString path =
        QFileInfo(program_).isAbsolute() ? program_ : QStandardPaths::findExecutable(program_);
    const QByteArray dot = QByteArray::fromStdString(writeLayoutDot(picture_, sizes));

    process_ = new QProcess(this);
    process_->setStandardErrorFile(QProcess::nullDevice());
    connect(process_, &QProcess::readyReadStandardOutput, this, &DotProcess::readSome);
    connect(process_, &QProcess::finished, this, &DotProcess::finish);
    connect(process_, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart)
            fail(Failure::Missing, tr("Graphviz (%1) is not installed or cannot be run").arg(program_));
    });
    notice_timer_->start();
    kill_timer_->start();
    // Queued, so that even a program that cannot start answers after this call.
    QTimer::singleShot(0, process_, [this, process = process_, path, dot] {
        if (process != process_)
            return; // dropped since, and only deleted later
        if (path.isEmpty()) {
            fail(Failure::Missing, tr("Graphviz (%1) is not installed").arg(program_));
            return;
        }
        process_->start(path, {QStringLiteral("-Tplain")});
        if (process_) { // it may have failed at once
            process_->write(dot);
            process_->closeWriteChannel();
        }
    });
    return generation_;
}

void DotProcess::cancel() {
    notice_timer_->stop();
    kill_timer_->stop();
    dropProcess();
}

void DotProcess::dropProcess() {
    if (!process_)
        return;
    process_->disconnect(this);
    process_->kill();
    // The child dies in the background; waiting here would stop the GUI.
    QProcess* old = process_;
    process_ = nullptr;
    if (old->state() == QProcess::NotRunning) {
        old->deleteLater();
    } else {
        old->setParent(nullptr);
        connect(old, &QProcess::finished, old, &QObject::deleteLater);
        connect(old, &QProcess::errorOccurred, old, [old](QProcess::ProcessError error) {
            if (error == QProcess::FailedToStart)
                old->deleteLater();
        });
    }
}

void DotProcess::readSome() {
    output_ += process_->readAllStandardOutput();
    if (output_.size() > kMaxAnswerBytes)
        fail(Failure::BadAnswer, tr("Graphviz answered something that is no layout: it does not end"));
}

void DotProcess::finish() {
    output_ += process_->readAllStandardOutput();
    if (process_->exitStatus() == QProcess::CrashExit) {
        fail(Failure::Crashed, tr("Graphviz crashed"));
        return;
    }
    if (process_->exitCode() != 0) {
        fail(Failure::Crashed, tr("Graphviz gave up (exit code %1)").arg(process_->exitCode()));
        return;
    }
    const Result<Placement> placement =
        readPlain({output_.constData(), static_cast<size_t>(output_.size())}, picture_);
    if (!placement) {
        fail(Failure::BadAnswer, QString::fromStdString(placement.error().message));
        return;
    }
    cancel();
    emit finished(generation_, placement.value());
}

void DotProcess::fail(Failure failure, const QString& message) {
    cancel();
    emit failed(generation_, failure, message);
}

} // namespace gs

// One job at a time off the GUI thread, which reports in pieces.
#pragma once

#include "base/progress.h"
#include "base/result.h"

#include <QElapsedTimer>
#include <QObject>
#include <QThreadPool>

#include <functional>

namespace gs {

class CompareWorker : public QObject {
    Q_OBJECT
public:
    using Post = std::function<void(std::function<void()>)>;
    /// Runs on the worker thread. `post` runs a piece on the GUI thread, in order, unless the job was
    /// dropped.
    using Work = std::function<void(const JobContext&, const Post& post)>;

    explicit CompareWorker(QObject* parent = nullptr);
    /// Stops the job and waits for it.
    ~CompareWorker() override;

    /// Drops what runs. `ended` is called on the GUI thread when the work has returned.
    void start(Work work, std::function<void()> ended);
    /// Asks the job to end; what it still posts arrives.
    void stop();
    /// Stops it, and nothing of it arrives any more.
    void drop();
    bool busy() const { return busy_; }

signals:
    void progressed(const QString& stage, double fraction);
    /// The work threw: a fault of the program, or no memory.
    void failed(const gs::Error& error);

private:
    void post(uint64_t generation, std::function<void()> piece);

    QThreadPool pool_;
    std::stop_source stop_;
    uint64_t generation_ = 0; ///< of the newest job
    bool busy_ = false;
};

} // namespace gs

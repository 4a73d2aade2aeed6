// Runs analyses off the GUI thread, one at a time. A newer job stops the running one and its result is
// dropped.
#pragma once

#include "analysis/analysis.h"

#include <QFutureWatcher>
#include <QObject>
#include <QThreadPool>

#include <functional>

namespace gs {

/// An Analyser with its cache. Called from one worker thread, never twice at once.
AnalyseFunction makeAnalyseFunction();

class JobRunner : public QObject {
    Q_OBJECT
public:
    explicit JobRunner(AnalyseFunction analyse, QObject* parent = nullptr);
    /// Stops the job and waits for it.
    ~JobRunner() override;

    void start(const AnalysisRequest& request);
    /// Stops the running job; neither its result nor its error is reported.
    void cancel();
    bool busy() const { return busy_; }

signals:
    void progressed(const QString& stage, double fraction);
    void finished(const gs::AnalysisPtr& analysis);
    void failed(const gs::Error& error);

private:
    struct Outcome {
        AnalysisPtr analysis;
        Error error; ///< meaningful if analysis is null
    };
    using Watcher = QFutureWatcher<Outcome>;
    static void work(QPromise<Outcome>& promise, const AnalyseFunction& analyse,
                     const AnalysisRequest& request, const std::stop_token& stop);
    void jobEnded(Watcher* watcher, uint64_t generation);

    AnalyseFunction analyse_;
    QThreadPool pool_;
    std::stop_source stop_;
    uint64_t generation_ = 0; ///< of the newest job; what an older one brings is dropped
    bool busy_ = false;
};

} // namespace gs

#include "app/job_runner.h"

#include "app/text.h"

#include <QtConcurrent>

#include <cmath>
#include <exception>

namespace gs {

namespace {

constexpr int kProgressSteps = 1000;

/// Hands the core's reports to the promise, which thins them out for the GUI thread.
template <typename T>
class PromiseProgress : public ProgressSink {
public:
    explicit PromiseProgress(QPromise<T>& promise) : promise_(promise) {
        promise_.setProgressRange(0, kProgressSteps);
    }
    void report(std::string_view stage, double fraction) override {
        promise_.setProgressValueAndText(static_cast<int>(std::lround(fraction * kProgressSteps)),
                                         toQString(stage));
    }

private:
    QPromise<T>& promise_;
};

} // namespace

AnalyseFunction makeAnalyseFunction() {
    auto analyser = std::make_shared<Analyser>();
    return [analyser](const AnalysisRequest& request, const JobContext& job) {
        return analyser->analyse(request, job);
    };
}

JobRunner::JobRunner(AnalyseFunction analyse, QObject* parent)
    : QObject(parent), analyse_(std::move(analyse)) {
    pool_.setMaxThreadCount(1);
}

JobRunner::~JobRunner() {
    cancel();
    pool_.waitForDone();
}

void JobRunner::work(QPromise<Outcome>& promise, const AnalyseFunction& analyse,
                     const AnalysisRequest& request, const std::stop_token& stop) {
    PromiseProgress<Outcome> progress(promise);
    Outcome outcome;
    if (stop.stop_requested()) {
        promise.addResult(std::move(outcome));
        return;
    }
    // A bug or a lack of memory in the core must not take the window and the open picture down.
    try {
        Result<AnalysisPtr> result = analyse(request, {stop, &progress});
        if (result.ok())
            outcome.analysis = std::move(result).value();
        else
            outcome.error = result.error();
    } catch (const std::bad_alloc&) {
        outcome.error = {
            "out-of-memory", "There was not enough memory for this graph.", {}, "Close other programs."};
    } catch (const std::exception& exception) {
        outcome.error = {"internal",
                         std::string("The analysis broke off: ") + exception.what(),
                         {},
                         "This is a fault of the program; please report it with the file."};
    }
    promise.addResult(std::move(outcome));
}

void JobRunner::start(const AnalysisRequest& request) {
    cancel();
    stop_ = std::stop_source();
    busy_ = true;
    auto* watcher = new Watcher(this);
    const uint64_t generation = generation_;
    connect(watcher, &Watcher::finished, this, [=, this] { jobEnded(watcher, generation); });
    connect(watcher, &Watcher::progressTextChanged, this, [=, this](const QString& stage) {
        if (generation == generation_)
            emit progressed(stage, watcher->progressValue() / static_cast<double>(kProgressSteps));
    });
    watcher->setFuture(QtConcurrent::run(&pool_, &JobRunner::work, analyse_, request, stop_.get_token()));
}

void JobRunner::cancel() {
    ++generation_;
    stop_.request_stop();
    busy_ = false;
}

void JobRunner::jobEnded(Watcher* watcher, uint64_t generation) {
    watcher->deleteLater();
    if (generation != generation_)
        return;
    busy_ = false;
    const Outcome outcome = watcher->result();
    if (outcome.analysis)
        emit finished(outcome.analysis);
    else
        emit failed(outcome.error);
}

} // namespace gs

#include "app/compare_worker.h"

#include "app/text.h"

#include <exception>

namespace gs {

namespace {

/// Reports closer together than this are left out.
constexpr qint64 kProgressGapMs = 40;

class PostedProgress : public ProgressSink {
public:
    explicit PostedProgress(std::function<void(QString, double)> report) : report_(std::move(report)) {}
    void report(std::string_view stage, double fraction) override {
        if (since_.isValid() && since_.elapsed() < kProgressGapMs)
            return;
        since_.start();
        report_(toQString(stage), fraction);
    }

private:
    std::function<void(QString, double)> report_;
    QElapsedTimer since_;
};

/// A bug or a lack of memory in the core must not take the window down.
Error guarded(const std::function<void()>& work) {
    try {
        work();
        return {};
    } catch (const std::bad_alloc&) {
        return {"out-of-memory", "There was not enough memory for this.", {}, "Close other programs."};
    } catch (const std::exception& exception) {
        return {"internal",
                std::string("The comparison broke off: ") + exception.what(),
                {},
                "This is a fault of the program; please report it with the file."};
    }
}

} // namespace

CompareWorker::CompareWorker(QObject* parent) : QObject(parent) {
    pool_.setMaxThreadCount(1);
}

CompareWorker::~CompareWorker() {
    drop();
    pool_.waitForDone();
}

void CompareWorker::start(Work work, std::function<void()> ended) {
    drop();
    stop_ = std::stop_source();
    busy_ = true;
    const uint64_t generation = generation_;
    pool_.start(
        [this, generation, token = stop_.get_token(), work = std::move(work), ended = std::move(ended)] {
            const Post piece = [this, generation](std::function<void()> run) {
                post(generation, std::move(run));
            };
            PostedProgress progress([&](const QString& stage, double fraction) {
                piece([this, stage, fraction] { emit progressed(stage, fraction); });
            });
            const Error error = guarded([&] { work({token, &progress}, piece); });
            piece([this, error, ended] {
                busy_ = false;
                if (!error.code.empty())
                    emit failed(error);
                ended();
            });
        });
}

void CompareWorker::stop() {
    stop_.request_stop();
}

void CompareWorker::drop() {
    ++generation_;
    stop_.request_stop();
    busy_ = false;
}

void CompareWorker::post(uint64_t generation, std::function<void()> piece) {
    QMetaObject::invokeMethod(
        this,
        [this, generation, piece = std::move(piece)] {
            if (generation == generation_)
                piece();
        },
        Qt::QueuedConnection);
}

} // namespace gs

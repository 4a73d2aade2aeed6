// Progress and cancellation, as the core sees them: a stop token to poll and a sink to report to.
#pragma once

#include <stop_token>
#include <string_view>

namespace gs {

class ProgressSink {
public:
    virtual ~ProgressSink() = default;
    /// Called from the working thread. `fraction` in [0, 1] is of the whole job.
    virtual void report(std::string_view stage, double fraction) = 0;
};

/// Passed by value to long work.
struct JobContext {
    std::stop_token stop;
    ProgressSink* progress = nullptr;

    bool cancelled() const { return stop.stop_requested(); }
    void report(std::string_view stage, double fraction) const {
        if (progress)
            progress->report(stage, fraction);
    }
};

} // namespace gs

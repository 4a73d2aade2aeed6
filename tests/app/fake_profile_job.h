// A ProfileJob that says what a test tells it to, and remembers what it was asked.
#pragma once

#include "app/profile/profile_job.h"

namespace gs::test {

class FakeProfileJob : public ProfileJob {
public:
    int probes = 0;
    int starts = 0;
    int cancels = 0;
    MeasureRequest started;
    std::vector<bool> previews;      ///< with contention or without
    std::vector<std::string> stores; ///< files that it was to be stored in

    std::optional<Error> plan_error;
    std::optional<Error> store_busy;

    void probe() override { ++probes; }
    void plan(const MeasureRequest&) override {
        if (plan_error)
            return emit planFailed(*plan_error);
        if (store_busy)
            emit storeBusy(*store_busy);
        emit planned(226);
    }
    void start(const MeasureRequest& request) override {
        ++starts;
        started = request;
    }
    void cancel() override { ++cancels; }
    void preview(const Profile&, bool contention) override { previews.push_back(contention); }
    void store(const Profile&, const std::string& path) override { stores.push_back(path); }
};

/// One host backend that works, and one that does not.
inline ProbeReport fakeReport() {
    ProbeReport report;
    report.mpirun = QStringLiteral("/usr/bin/mpirun");
    DeviceFacts facts;
    facts.name = "Test Processor, 2 cores";
    report.backends = {{"cuda", "NVIDIA devices", {}, "no CUDA driver was found"},
                       {"host", "the processors of this machine", {facts}, ""}};
    return report;
}

} // namespace gs::test

// An analysis that needs no files and takes as long as a test wants.
#pragma once

#include "app/job_runner.h"
#include "views/registry.h"

#include <atomic>
#include <functional>
#include <memory>

namespace gs::test {

/// Six layers, each "ag_N" (gather), "wait_N", "mm_N"; with bucket_mode=coalesced "ag_0" and "ag_1" become
/// "bucket_0". The step takes contention milliseconds. A file whose name has "bad" in it cannot be opened.
AnalysisPtr fakeAnalysis(const AnalysisRequest& request);

struct FakeCore {
    std::atomic<int> started{0};
    std::atomic<int> stopped{0}; ///< ended early by their stop token
    std::atomic<int> running{0};
    std::atomic<int> most_running{0};
    std::atomic<int> delay_ms{0};
    std::atomic<bool> ignore_stop{false}; ///< a stage that does not poll
    std::atomic<bool> fail{false};

    Result<AnalysisPtr> analyse(const AnalysisRequest& request, const JobContext& job);
};

/// The function for a document; shares the core with the test.
AnalyseFunction fakeAnalyse(const std::shared_ptr<FakeCore>& core);

/// A view that does nothing but hold what it is given and count.
class FakeView : public View {
    Q_OBJECT
public:
    explicit FakeView(QWidget* parent = nullptr);
    int snapshots = 0;
    int selections = 0;

protected:
    void snapshotChanged() override { ++snapshots; }
    void selectionChanged() override { ++selections; }
    void paintEvent(QPaintEvent* event) override;
};

/// Seven views in the places of the real window.
std::span<const ViewInfo> fakeViews();

/// Collects Qt's warnings while it lives; a test that leaves some behind has failed. Made in init(): QtTest
/// installs a handler of its own before.
class WarningGuard {
public:
    WarningGuard();
    ~WarningGuard();
    QStringList take();

private:
    QtMessageHandler previous_;
};

} // namespace gs::test

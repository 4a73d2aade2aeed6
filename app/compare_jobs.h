// Everything that was tried on the open graph, and the jobs that try more. Each job has an analyser of its
// own, so that a long search neither waits for the window's analyses nor keeps memory when it is over.
#pragma once

#include "app/compare_worker.h"
#include "views/compare_state.h"

#include <QTimer>

namespace gs {

class CompareJobs : public QObject {
    Q_OBJECT
public:
    /// Makes an analyser for one job.
    using AnalyseFactory = std::function<AnalyseFunction()>;
    /// Rows of one setting that follow each other closer than this are steps of one drag: only the last
    /// stays.
    static constexpr qint64 kDragGapMs = 700;

    explicit CompareJobs(AnalyseFactory factory, QObject* parent = nullptr);

    CompareStatePtr state() const { return state_; }
    bool busy() const { return jobs_.busy() || diffs_.busy(); }
    void setAnalyseFactory(AnalyseFactory factory) { factory_ = std::move(factory); }

    /// The window shows this analysis now: a row of its own, or the one of an equal request. Another graph,
    /// or none, ends all jobs and begins anew.
    void show(const AnalysisPtr& analysis);
    void command(const gs::CompareCommand& command);

signals:
    void stateChanged(const gs::CompareStatePtr& state);

private:
    using Job = CompareState::Job;
    CompareEntryPtr entryOf(uint64_t id) const;
    CompareEntryPtr entryWith(const std::string& key) const;
    uint64_t put(CompareRow row, CompareEntry::Origin origin);
    void replace(const CompareEntryPtr& old, CompareEntry entry);
    std::vector<uint64_t> changedOnDisk() const;
    void markStale(const std::vector<uint64_t>& changed);
    void remove(uint64_t id);
    void removeAll();
    void addShown();
    void addProgramOrder();
    void begin(Job job);
    void runAll();
    void search(const SearchLimits& limits);
    void searchEnded(const SearchResult& result, const SearchLimits& limits);
    void pin(uint64_t& slot, uint64_t& other, uint64_t id);
    void compareBoth();
    AnalysisPtr analysisOf(uint64_t id) const;
    void change();
    void publish();

    AnalyseFactory factory_;
    CompareWorker jobs_;
    CompareWorker diffs_;
    CompareState next_; ///< published as a copy
    CompareStatePtr state_;
    std::map<std::string, uint64_t> id_of_; ///< by variantKey()
    std::map<uint64_t, QByteArray> files_;  ///< of each row: what its cost files were when it was made
    uint64_t last_id_ = 0;
    uint64_t order_id_ = 0; ///< row of program order beside the snapshot
    bool baseline_chosen_ = false;
    AnalysisPtr shown_;
    AnalysisPtr pinned_[2];            ///< analyses of the pins, as far as they were made
    uint64_t pinned_id_[2] = {};       ///< which pins they belong to
    uint64_t dragged_row_ = 0;         ///< row that the newest change made
    Setting dragged_ = Setting::Count; ///< what that change was of, if of one setting
    QElapsedTimer since_shown_;
    QTimer publish_; ///< rows of a job arrive faster than they can be seen
};

} // namespace gs

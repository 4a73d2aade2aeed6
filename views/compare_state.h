// What the window knows of all variants tried on the open graph, and what a view can ask of it.
#pragma once

#include "analysis/compare_gathers.h"
#include "analysis/search.h"

#include <QString>

namespace gs {

/// One variant. The id never changes and never comes back.
struct CompareEntry {
    enum class Origin : uint8_t {
        ProgramOrder, ///< there beside every snapshot
        Shown,        ///< the user looked at it
        Tried,        ///< one of all schedulers
        Searched
    };
    uint64_t id = 0;
    Origin origin = Origin::Shown;
    CompareRow row;
    bool stale = false; ///< a file of its costs has changed on disk since
};
using CompareEntryPtr = std::shared_ptr<const CompareEntry>;

/// How the last search ended.
struct SearchOutcome {
    SearchEnd end = SearchEnd::Finished;
    uint64_t best = 0; ///< 0 = none
    bool within_limit = false;
    size_t tried = 0;
    SearchLimits limits;
};

/// An immutable picture of the comparison; ids of 0 mean none.
struct CompareState {
    enum class Job : uint8_t { None, RunAll, Search };

    std::vector<CompareEntryPtr> entries; ///< in the order tried
    uint64_t current = 0;                 ///< what the window shows
    uint64_t baseline = 0;                ///< what differences are stated against
    uint64_t pin_a = 0, pin_b = 0;
    Job job = Job::None;
    QString stage; ///< of the job
    double fraction = 0;
    bool stopping = false; ///< cancelled, not ended yet
    std::optional<SearchOutcome> search;
    std::shared_ptr<const GatherDiff> diff; ///< of both pins
    bool comparing = false;                 ///< the difference of both pins is being made
    std::optional<Error> error;             ///< of the last job or difference

    /// Null if there is none.
    const CompareEntry* find(uint64_t id) const {
        for (const CompareEntryPtr& entry : entries) {
            if (entry->id == id)
                return entry.get();
        }
        return nullptr;
    }
};
using CompareStatePtr = std::shared_ptr<const CompareState>;

struct CompareCommand {
    enum class Kind : uint8_t {
        RunAll,
        Search,       ///< within `limits`
        Cancel,       ///< the job; what it found stays
        MakeBaseline, ///< `entry`
        PinA,         ///< `entry`; again on the pinned one: takes the pin away
        PinB,
        Remove,
        RemoveAll ///< all but the current one, program order, baseline and pins
    };
    Kind kind = Kind::RunAll;
    uint64_t entry = 0;
    SearchLimits limits;
};

} // namespace gs

// One run of `profile`: what is known, what the ranks measure, what is stored, what comes of it.
#pragma once

#include "app/worker/worker_client.h"

namespace gs {

struct ProfileRequest {
    WorkerRequest worker;
    std::string store;  ///< file; made if it is not there. Empty: nothing is kept
    bool again = false; ///< measure what the store knows, too
    bool show_progress = false;
    bool quiet = false;
};

struct ProfileOutcome {
    Profile profile;   ///< whole: measured and reused
    AnalysisPtr after; ///< with the measured costs; null if they could not be stored
    std::optional<Error> not_stored;
};

/// The graph as it is before, with the costs of the request. With a graph for each rank it is made to fit the
/// other ranks. Errors: those of the analysis.
Result<AnalysisPtr> analyseToProfile(Analyser& analyser, const ProfileRequest& request);

/// Measures for `before`. Says on stderr what is reused and how far it is. The store is changed by one
/// transaction at the end, or not at all; checkStorePath() comes before. Errors: those of the store, of
/// WorkerClient, "no-backend", "rank-abort".
Result<ProfileOutcome> profileGraph(Analyser& analyser, const ProfileRequest& request,
                                    const AnalysisPtr& before);

} // namespace gs

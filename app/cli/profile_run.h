// One run of `profile`: what is known, what the ranks measure, what is stored, what comes of it.
#pragma once

#include "app/worker/worker_client.h"

namespace gs {

struct ProfileRequest {
    WorkerRequest worker;
    std::string store;  ///< file; made if it is not there
    bool keep = true;   ///< the store is the user's
    bool again = false; ///< measure what the store knows, too
    bool show_progress = false;
    bool quiet = false;
};

struct ProfileOutcome {
    Profile profile;    ///< whole: measured and reused
    AnalysisPtr before; ///< with the costs of the request
    AnalysisPtr after;  ///< with the measured ones
};

/// Says on stderr what is reused and how far it is. The store is changed by one transaction at the end, or
/// not at all. With a graph for each rank, both analyses are made to fit the other ranks. Errors: those of
/// the analysis, of the store, of WorkerClient, "no-backend", "rank-abort".
Result<ProfileOutcome> profileGraph(const ProfileRequest& request);

} // namespace gs

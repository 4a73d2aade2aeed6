// Requests on samples of the project, and an analyser that counts.
#pragma once

#include "analysis/search.h"

#include <QString>

namespace gs::test {

/// A sample of the project by its graph's name and its costs' file.
inline AnalysisRequest sampleRequest(const std::string& graph, const std::string& costs = {}) {
    const std::string folder = std::string(GATHERSCOPE_SOURCE_DIR) + "/samples/";
    AnalysisRequest request;
    request.graph_file = folder + graph + ".json.gz";
    if (!costs.empty())
        request.cost_files = {folder + graph + "." + costs + ".json"};
    return request;
}

/// An analyser as a function; shared by the calls, so that stages are reused.
inline AnalyseFunction analyseFunction(int* calls = nullptr) {
    auto analyser = std::make_shared<Analyser>();
    return [analyser, calls](const AnalysisRequest& request, const JobContext& job) {
        if (calls)
            ++*calls;
        return analyser->analyse(request, job);
    };
}

} // namespace gs::test

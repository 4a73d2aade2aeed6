// Shared by the tests of the step-through.
#pragma once

#include "../docks/dock_test.h"
#include "support/test_data.h"
#include "views/step/step_view.h"

namespace gs::test {

/// A corpus graph with one of its cost files; null if they are not at hand.
inline AnalysisPtr analyse(const std::string& name, const std::string& costs) {
    const auto graph = corpusPath("graphs/" + name + ".json");
    const auto table = corpusPath("costs/" + name + "." + costs + ".json");
    if (!graph || !table)
        return nullptr;
    AnalysisRequest request;
    request.graph_file = *graph;
    request.cost_files = {*table};
    Analyser analyser;
    Result<AnalysisPtr> result = analyser.analyse(request, {});
    return result ? result.value() : nullptr;
}

/// A shown view of the sample that is answered as the document does.
struct Shown {
    AnalysisPtr analysis = sampleAnalysis();
    StepView view;
    Asked asked{view};
    Shown() {
        view.setSnapshot(analysis);
        showAt(view, 1000, 420);
    }
};

} // namespace gs::test

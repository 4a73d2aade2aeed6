// Loads cost files in tests and asks what they say.
#pragma once

#include "cost/cost_file.h"
#include "graph/collectives.h"

#include <algorithm>
#include <optional>
#include <string>

namespace gs::test {

/// A file of costs with everything that was said about it.
struct LoadedCosts {
    Diagnostics diagnostics;
    Result<CostModelPtr> model;

    explicit LoadedCosts(const std::string& path, const JobContext& job = {})
        : model(loadCostFile(path, diagnostics, job)) {}

    bool ok() const { return model.ok(); }
    std::string errorCode() const { return model.ok() ? "" : model.error().code; }
    /// Message of an error, or of the first diagnostic with this code; empty if there is none.
    std::string message(const std::string& code) const {
        if (!model.ok())
            return model.error().code == code ? model.error().message : "";
        for (const Diagnostic& item : diagnostics.all()) {
            if (item.code == code)
                return item.message;
        }
        return {};
    }
    bool has(const std::string& code) const { return !message(code).empty(); }
    std::optional<CostEstimate> of(const Graph& graph, std::string_view node) const {
        return model.value()->estimate(graph, CollectiveTable(graph), graph.find(node).value());
    }
};

inline bool contains(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

} // namespace gs::test

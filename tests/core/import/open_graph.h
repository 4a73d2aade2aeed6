// Opening graphs in tests, with the diagnostics at hand.
#pragma once

#include "import/importer.h"

#include <algorithm>
#include <string>

namespace gs::test {

struct Opened {
    Result<ImportedGraph> result;
    Diagnostics diagnostics;

    const Graph& graph() const { return *result.value().graph; }
    size_t count(const std::string& code) const {
        const auto& all = diagnostics.all();
        return static_cast<size_t>(
            std::count_if(all.begin(), all.end(), [&](const Diagnostic& item) { return item.code == code; }));
    }
    const Diagnostic* find(const std::string& code) const {
        for (const Diagnostic& item : diagnostics.all()) {
            if (item.code == code)
                return &item;
        }
        return nullptr;
    }
};

inline Opened open(const std::string& path, int index = -1, int rank = -1) {
    Diagnostics diagnostics;
    Result<ImportedGraph> result = importGraph(path, index, rank, diagnostics, {});
    return {std::move(result), std::move(diagnostics)};
}

inline Opened openText(std::string text) {
    Diagnostics diagnostics;
    Result<ImportedGraph> result = importText({"text", std::move(text)}, -1, -1, diagnostics, {});
    return {std::move(result), std::move(diagnostics)};
}

} // namespace gs::test

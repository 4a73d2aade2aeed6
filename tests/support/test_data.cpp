#include "support/test_data.h"

#include "import/importer.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>
#include <stdexcept>

namespace fs = std::filesystem;

namespace gs::test {

namespace {

std::vector<fs::path> corpusRoots() {
    return {fs::path(GATHERSCOPE_SHARED_DIR) / "corpus", fs::path(GATHERSCOPE_TEST_DATA) / "corpus"};
}

void noteNotRun(const std::string& what) {
    static std::set<std::string> noted;
    if (noted.insert(what).second)
        std::printf("NOT RUN: %s is not in this checkout\n", what.c_str());
}

} // namespace

std::optional<std::string> corpusPath(const std::string& relative) {
    for (const fs::path& root : corpusRoots()) {
        for (const char* suffix : {"", ".gz"}) {
            const fs::path path = root / (relative + suffix);
            if (fs::exists(path))
                return path.string();
        }
    }
    noteNotRun("corpus/" + relative);
    return std::nullopt;
}

std::vector<std::string> corpusGraphs() {
    std::set<std::string> names;
    for (const fs::path& root : corpusRoots()) {
        std::error_code error;
        for (const auto& entry : fs::directory_iterator(root / "graphs", error)) {
            const std::string file = entry.path().filename().string();
            const size_t end = file.find(".json");
            if (end != std::string::npos)
                names.insert(file.substr(0, end));
        }
    }
    return {names.begin(), names.end()};
}

std::optional<std::string> casePath(const std::string& relative) {
    const fs::path path = fs::path(GATHERSCOPE_SHARED_DIR) / "cases" / relative;
    if (fs::exists(path))
        return path.string();
    noteNotRun("cases/" + relative);
    return std::nullopt;
}

std::string testDataPath(const std::string& relative) {
    return (fs::path(GATHERSCOPE_TEST_DATA) / relative).string();
}

std::string readAll(const std::string& path) {
    Diagnostics diagnostics;
    Result<InputText> input = readInput(path, diagnostics);
    if (!input)
        throw std::runtime_error(path + ": " + input.error().message);
    return std::move(input.value().text);
}

std::vector<std::string> readLines(const std::string& path) {
    const std::string text = readAll(path);
    std::vector<std::string> lines;
    for (size_t at = 0; at < text.size();) {
        size_t end = text.find('\n', at);
        end = end == std::string::npos ? text.size() : end;
        if (end > at)
            lines.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return lines;
}

} // namespace gs::test

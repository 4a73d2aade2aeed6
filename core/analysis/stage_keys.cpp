#include "analysis/stage_keys.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

namespace gs {

std::string fileKey(const std::string& path) {
    namespace fs = std::filesystem;
    std::error_code error;
    const auto size = fs::file_size(path, error);
    const auto time = fs::last_write_time(path, error);
    std::string key = fmt::format("{}\n{}\n{}\n", path, size, time.time_since_epoch().count());
    if (fs::is_directory(path, error)) {
        std::vector<std::string> files;
        for (fs::recursive_directory_iterator at(path, error), end; !error && at != end;
             at.increment(error)) {
            if (at->is_regular_file(error))
                files.push_back(fileKey(at->path().string()));
        }
        std::sort(files.begin(), files.end());
        for (const std::string& file : files)
            key += file;
    }
    return key;
}

std::string importKey(const AnalysisRequest& request) {
    return fmt::format("{}{}\n{}\n{}\n{}", fileKey(request.graph_file), request.graph_index, request.rank,
                       request.stage, request.shapes_file.empty() ? "" : fileKey(request.shapes_file));
}

std::string passesKey(const AnalysisRequest& request) {
    std::string key = settingsKey(request.settings, Stage::Passes) + editsKey(request.edits, true);
    if (request.settings.text(Setting::BucketMode) == "fsdp") // the cap follows from the device's links
        key += request.settings.text(Setting::Device);
    return key;
}

std::string costsKey(const AnalysisRequest& request) {
    std::string key = settingsKey(request.settings, Stage::Costs);
    for (const std::string& file : request.cost_files)
        key += fileKey(file);
    if (const std::string& store = request.settings.text(Setting::ProfileStore); store != "none")
        key += fileKey(store) + fileKey(store + "-wal"); // what was written last may stand only there
    for (const auto& [name, ns] : request.cost_overrides)
        key += fmt::format("{}={}\n", name, ns);
    for (const auto& [name, source] : request.cost_pins)
        key += fmt::format("{}={}\n", name, source);
    return key;
}

std::string editsKey(const Edits& edits, bool buckets) {
    std::string key;
    for (const Edit& edit : edits) {
        if ((edit.kind == Edit::Kind::Bucket) == buckets)
            key += editText(edit) + "\n";
    }
    return key;
}

std::string settingsKey(const Settings& settings, Stage stage) {
    std::string key;
    for (const SettingSpec& spec : settingSpecs()) {
        if (spec.stage == stage)
            key += settings.text(spec.key) + "\n";
    }
    return key;
}

} // namespace gs

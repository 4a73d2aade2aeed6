#include "analysis/bundle_request.h"

#include "cost/cost_file.h"
#include "import/bundle_json.h"
#include "import/json_nodes.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace gs {

namespace dom = simdjson::dom;

namespace {

/// Costs edited by hand, and pins.
void readCosts(const dom::object& stated, AnalysisRequest& request) {
    dom::object overrides;
    if (stated["cost_overrides"].get(overrides) == simdjson::SUCCESS) {
        for (const auto field : overrides) {
            int64_t ns = 0;
            if (field.value.get(ns) == simdjson::SUCCESS)
                request.cost_overrides[std::string(field.key)] = ns;
        }
    }
    if (stated["cost_pins"].get(overrides) == simdjson::SUCCESS) {
        for (const auto field : overrides) {
            std::string_view source;
            if (field.value.get(source) == simdjson::SUCCESS)
                request.cost_pins[std::string(field.key)] = source;
        }
    }
}

/// "measured" becomes "file", so that the bundle is asked where the store was.
std::string sourcesOfBundle(const std::string& names) {
    if (names == "auto")
        return "file,interpolated,analytical";
    std::string out;
    bool file = false;
    for (size_t at = 0; at <= names.size();) {
        const size_t end = std::min(names.find(',', at), names.size());
        std::string name = names.substr(at, end - at);
        at = end + 1;
        if (name == "measured")
            name = "file";
        if (name == "file" && std::exchange(file, true))
            continue;
        out += (out.empty() ? "" : ",") + name;
    }
    return out;
}

} // namespace

Settings withoutStore(Settings settings) {
    const std::string store = settings.text(Setting::ProfileStore);
    if (store.empty() || store == "none")
        return settings;
    // Names that were settings are settings; contention was set to what the profile measured.
    static_cast<void>(
        settings.set(Setting::CostSources, sourcesOfBundle(settings.text(Setting::CostSources))));
    static_cast<void>(settings.set(Setting::ProfileStore, "none"));
    return settings;
}

bool isBundle(const std::string& path) {
    const Result<std::string> head = fileHead(path);
    return head.ok() && looksLikeBundle(head.value());
}

Result<AnalysisRequest> bundleRequest(const std::string& path) {
    AnalysisRequest request;
    Diagnostics of_file; // reading the graph says it again
    Result<InputText> input = readInput(path, of_file);
    if (!input)
        return input.error();
    dom::parser parser;
    dom::object root, stated, settings;
    dom::array items;
    if (parser.parse(input->text).get(root) != simdjson::SUCCESS ||
        root["request"].get(stated) != simdjson::SUCCESS)
        return Error{"bad-bundle",
                     fmt::format("{}: the bundle has no readable request", path),
                     {path, 1, 0},
                     "export it again"};
    if (const Status status = checkBundleVersion(root, path); !status)
        return status.error();
    const auto report = [&](std::string message) {
        request.notes.add({Severity::Warning,
                           "bundle-setting",
                           {path, 0, 0},
                           {},
                           std::move(message),
                           "the bundle is of another version of this program"});
    };
    request.graph_file = path;
    if (stated["settings"].get(settings) == simdjson::SUCCESS) {
        for (const auto field : settings) {
            std::string_view value;
            if (field.value.get(value) != simdjson::SUCCESS)
                continue;
            if (const Status status = request.settings.set(field.key, value); !status)
                report(fmt::format("a setting of the bundle is left out: {}", status.error().message));
        }
    }
    request.settings = withoutStore(std::move(request.settings));
    if (stated["edits"].get(items) == simdjson::SUCCESS) {
        for (const dom::element item : items) {
            std::string_view text;
            const Result<Edit> edit =
                parseEdit(item.get(text) == simdjson::SUCCESS ? text : std::string_view());
            if (edit)
                request.edits.push_back(edit.value());
            else
                report(fmt::format("a change by hand is left out: {}", edit.error().message));
        }
    }
    readCosts(stated, request);
    dom::object ranks;
    if (root["ranks"].get(ranks) == simdjson::SUCCESS)
        request.rank_files.push_back(path);
    bool measured = false;
    const bool files = stated["cost_files"].get(items) == simdjson::SUCCESS && items.size() > 0;
    if (files || (stated["measured"].get(measured) == simdjson::SUCCESS && measured))
        request.cost_files.push_back(path);
    return request;
}

} // namespace gs

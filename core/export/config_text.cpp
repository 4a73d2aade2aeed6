#include "export/config_text.h"

#include "analysis/compare.h"
#include "base/units.h"
#include "export/html/markup.h"

#include <algorithm>
#include <fmt/format.h>

namespace gs {

namespace {

/// Stages up to the costs and the simulation tell what the step costs; the other settings what it does.
bool ofPrediction(const SettingSpec& spec) {
    return spec.key == Setting::Lowering || spec.key == Setting::Mesh || spec.stage <= Stage::Ranks ||
           spec.stage == Stage::Lint || spec.stage == Stage::Costs || spec.stage == Stage::Simulate ||
           spec.key == Setting::SearchSteps;
}

std::string described(const Settings& settings, const SettingSpec& spec) {
    return fmt::format("{} = {}{} ({})", spec.name, settings.text(spec.key),
                       settings.isDefault(spec.key) ? "" : ", changed", spec.title);
}

std::vector<std::string> listed(const Analysis& analysis, bool prediction,
                                std::initializer_list<Setting> expressed) {
    const Settings& settings = analysis.request.settings;
    std::vector<std::string> changed, same;
    for (const SettingSpec& spec : settingSpecs()) {
        if (ofPrediction(spec) != prediction || !settingMatters(spec.key, settings) ||
            std::find(expressed.begin(), expressed.end(), spec.key) != expressed.end())
            continue;
        (settings.isDefault(spec.key) ? same : changed).push_back(described(settings, spec));
    }
    changed.insert(changed.end(), same.begin(), same.end());
    return changed;
}

} // namespace

std::string oneLine(std::string text) {
    constexpr size_t kMost = 200;
    return html::cleanText(text, kMost);
}

std::vector<std::string> notExpressed(const Analysis& analysis, std::initializer_list<Setting> expressed) {
    std::vector<std::string> out = listed(analysis, false, expressed);
    if (const size_t edits = analysis.request.edits.size(); edits > 0)
        out.insert(out.begin(), counted(edits, "change") + " made by hand");
    return out;
}

std::vector<std::string> analysisOnly(const Analysis& analysis) {
    std::vector<std::string> out = listed(analysis, true, {});
    if (const size_t costs = analysis.request.cost_overrides.size(); costs > 0)
        out.insert(out.begin(), counted(costs, "cost") + " edited by hand");
    return out;
}

std::string notExpressedSection(const std::vector<std::string>& not_expressed,
                                const std::vector<std::string>& analysis_only) {
    std::string out = "\n# Not expressed: this target has no option for\n";
    for (const std::string& line : not_expressed)
        out += "#   " + oneLine(line) + "\n";
    if (not_expressed.empty())
        out += "#   (nothing: everything that the analysis did is said above)\n";
    out += "# The prediction rests on these, which are no options of a run:\n";
    for (const std::string& line : analysis_only)
        out += "#   " + oneLine(line) + "\n";
    return out;
}

} // namespace gs

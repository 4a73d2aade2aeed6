#include "profile/backends/kernels/op_programs.h"

#include "base/resources.h"

#include <map>
#include <nlohmann/json.hpp>

namespace gs {

namespace {

std::string trimmed(std::string_view text) {
    const size_t first = text.find_first_not_of(' ');
    if (first == std::string_view::npos)
        return {};
    return std::string(text.substr(first, text.find_last_not_of(' ') - first + 1));
}

OpParam readParam(std::string_view text) {
    OpParam param;
    const size_t equals = text.find('=');
    std::string_view name = text.substr(0, equals);
    param.required = equals == std::string_view::npos;
    if (!param.required) {
        param.fallback = trimmed(text.substr(equals + 1));
        std::erase(param.fallback, '\'');
    }
    if (const size_t colon = name.find(':'); colon != std::string_view::npos) {
        param.own_type = true;
        name = name.substr(0, colon);
    }
    param.name = trimmed(name);
    return param;
}

std::vector<OpParam> readParams(std::string_view text) {
    std::vector<OpParam> params;
    while (!text.empty()) {
        const size_t comma = text.find(',');
        params.push_back(readParam(text.substr(0, comma)));
        text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    }
    return params;
}

OpStep readStep(std::string_view text) {
    static const std::map<std::string, StepKind, std::less<>> kKinds = {
        {"sum", StepKind::Sum},      {"prod", StepKind::Prod},     {"max", StepKind::Max},
        {"min", StepKind::Min},      {"gather", StepKind::Gather}, {"take", StepKind::Take},
        {"column", StepKind::Column}};
    OpStep step;
    step.name = "out";
    if (text.starts_with('@')) {
        const size_t equals = text.find('='), space = text.find(' ');
        step.guard_param = text.substr(1, equals - 1);
        step.guard_value = text.substr(equals + 1, space - equals - 1);
        text = text.substr(space + 1);
    }
    // A name is one word in front of " = "; comparisons have no spaces of that kind around a single "=".
    if (const size_t equals = text.find(" = "); equals != std::string_view::npos) {
        step.name = trimmed(text.substr(0, equals));
        text = text.substr(equals + 3);
    }
    const size_t bracket = text.find('['), end = text.find(']');
    if (bracket != std::string_view::npos) {
        if (auto kind = kKinds.find(text.substr(0, bracket)); kind != kKinds.end()) {
            step.kind = kind->second;
            step.dims = text.substr(bracket + 1, end - bracket - 1);
            text = text.substr(end + 1);
        }
    }
    step.expression = trimmed(text);
    return step;
}

const std::map<std::string, OpProgram, std::less<>>& programs() {
    static const auto kPrograms = [] {
        std::map<std::string, OpProgram, std::less<>> rows;
        const auto data = nlohmann::json::parse(resourceText("fused_ops.json"));
        for (const auto& [target, row] : data.at("ops").items()) {
            OpProgram program;
            program.params = readParams(row.at(0).get<std::string>());
            for (size_t i = 1; i < row.size(); ++i)
                program.steps.push_back(readStep(row[i].get<std::string>()));
            rows.emplace(target, std::move(program));
        }
        return rows;
    }();
    return kPrograms;
}

const OpProgram* byName(const std::string& packet, std::string_view overload) {
    auto found = programs().find(packet + std::string(overload));
    if (found == programs().end())
        found = programs().find(packet);
    return found == programs().end() ? nullptr : &found->second;
}

} // namespace

const OpParam* OpProgram::param(std::string_view name) const {
    for (const OpParam& item : params) {
        if (item.name == name)
            return &item;
    }
    return nullptr;
}

const OpProgram* findProgram(std::string_view target) {
    const size_t last = target.rfind('.');
    const bool has_overload = last != std::string_view::npos && target.find('.') != last;
    std::string packet(has_overload ? target.substr(0, last) : target);
    const std::string_view overload = has_overload ? target.substr(last) : std::string_view();
    if (overload.find("out") != std::string_view::npos)
        return nullptr;
    if (const OpProgram* found = byName(packet, overload))
        return found;
    if (!packet.ends_with('_') || packet.ends_with("__"))
        return nullptr;
    packet.pop_back();
    return byName(packet, overload);
}

} // namespace gs

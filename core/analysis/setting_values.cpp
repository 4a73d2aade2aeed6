// Values of settings: what fits each one, and its canonical spelling.
#include "analysis/settings.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>

namespace gs {

namespace {

bool takesNumber(const SettingSpec& spec) {
    return spec.type == SettingType::Text && spec.maximum > spec.minimum;
}

std::string describeRange(const SettingSpec& spec) {
    switch (spec.type) {
    case SettingType::Number:
        return fmt::format("a number from {} to {}", spec.minimum, spec.maximum);
    case SettingType::Integer:
        return fmt::format("a whole number from {} to {}", spec.minimum, spec.maximum);
    case SettingType::Flag:
        return "true or false";
    case SettingType::Choice:
        return fmt::format("one of {}", fmt::join(spec.choices, ", "));
    case SettingType::Text:
        if (takesNumber(spec))
            return fmt::format("{}none, or a number from {} to {}", spec.fallback == "auto" ? "auto, " : "",
                               spec.minimum, spec.maximum);
        return "a text";
    }
    return {};
}

bool parseNumber(const SettingSpec& spec, std::string_view value, std::string& out) {
    double number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || end != value.data() + value.size() || !std::isfinite(number) ||
        number < spec.minimum || number > spec.maximum)
        return false;
    if (spec.type == SettingType::Integer && number != std::floor(number))
        return false;
    out = fmt::format("{}", number);
    return true;
}

/// The value in its one canonical spelling, or nothing if it does not fit.
bool normalise(const SettingSpec& spec, std::string_view value, std::string& out) {
    switch (spec.type) {
    case SettingType::Number:
    case SettingType::Integer:
        return parseNumber(spec, value, out);
    case SettingType::Flag:
        if (value == "true" || value == "on" || value == "yes" || value == "1")
            out = "true";
        else if (value == "false" || value == "off" || value == "no" || value == "0")
            out = "false";
        else
            return false;
        return true;
    case SettingType::Choice:
        if (std::find(spec.choices.begin(), spec.choices.end(), value) == spec.choices.end())
            return false;
        out = value;
        return true;
    case SettingType::Text:
        if (takesNumber(spec) && value != "none" && value != spec.fallback)
            return parseNumber(spec, value, out);
        out = value;
        return true;
    }
    return false;
}

} // namespace

Settings::Settings() {
    for (const SettingSpec& spec : settingSpecs())
        normalise(spec, spec.fallback, values_[static_cast<size_t>(spec.key)]);
}

Status Settings::set(Setting key, std::string_view value) {
    const SettingSpec& spec = settingSpec(key);
    std::string text;
    if (!normalise(spec, value, text))
        return Error{"bad-setting",
                     fmt::format("{} takes {}, not \"{}\"", spec.name, describeRange(spec), value),
                     {},
                     std::string(spec.meaning)};
    values_[static_cast<size_t>(key)] = std::move(text);
    return Unit{};
}

Status Settings::set(std::string_view name, std::string_view value) {
    const SettingSpec* spec = findSetting(name);
    if (!spec)
        return Error{"unknown-setting",
                     fmt::format("there is no setting \"{}\"", name),
                     {},
                     "`gatherscope-cli list settings` names them all"};
    return set(spec->key, value);
}

double Settings::number(Setting key) const {
    const std::string& value = text(key);
    double number = 0;
    std::from_chars(value.data(), value.data() + value.size(), number);
    return number;
}

int64_t Settings::integer(Setting key) const {
    return static_cast<int64_t>(number(key));
}

std::optional<double> Settings::limit(Setting key) const {
    const std::string& value = text(key);
    double number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    return error == std::errc() && end == value.data() + value.size() ? std::optional(number) : std::nullopt;
}

bool Settings::flag(Setting key) const {
    return text(key) == "true";
}

bool Settings::isDefault(Setting key) const {
    std::string fallback;
    normalise(settingSpec(key), settingSpec(key).fallback, fallback);
    return text(key) == fallback;
}

} // namespace gs

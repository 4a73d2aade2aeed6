// Rows of the benchmark-input registry from JSON text.
#include "profile/benchmark_inputs.h"

#include "import/importer.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gs {

namespace {

using Json = nlohmann::json;

const std::map<std::string, InputFill>& fillNames() {
    static const std::map<std::string, InputFill> kNames = {{"zeros", InputFill::Zeros},
                                                            {"ones", InputFill::Ones},
                                                            {"random", InputFill::Random},
                                                            {"positive", InputFill::Positive},
                                                            {"indices", InputFill::Indices},
                                                            {"offsets", InputFill::Offsets},
                                                            {"counts", InputFill::Counts},
                                                            {"mask", InputFill::Mask},
                                                            {"permutation", InputFill::Permutation}};
    return kNames;
}

/// Line and column of a byte, from 1.
SourcePos placeOf(std::string_view text, size_t byte, const std::string& file) {
    const std::string_view before = text.substr(0, byte);
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const size_t start = before.rfind('\n');
    const size_t column = start == std::string_view::npos ? before.size() + 1 : before.size() - start;
    return {file, static_cast<uint32_t>(line), static_cast<uint32_t>(column)};
}

Error notInputs(const SourcePos& where, const std::string& what) {
    return {"not-benchmark-inputs",
            fmt::format("the benchmark inputs {} cannot be used: {}", where.file, what), where,
            "resources/benchmark_inputs.json is an example"};
}

} // namespace

bool needsBound(InputFill fill) {
    return fill == InputFill::Indices || fill == InputFill::Offsets || fill == InputFill::Counts;
}

/// Entries of one JSON text. The first fault stays in `problem`.
struct BenchmarkInputRegistry::Reader {
    const std::map<std::string, Hook>& hooks;
    std::map<std::string, Entry, std::less<>> entries = {};
    std::string problem = {};
    std::string target = {}; ///< that has the problem

    void fault(const std::string& place, const std::string& what) {
        if (!problem.empty())
            return;
        problem = fmt::format("\"{}\": {}", place, what);
        target = place;
    }

    int64_t integer(const Json& object, const char* key, int64_t otherwise, const std::string& place) {
        const auto found = object.find(key);
        if (found == object.end())
            return otherwise;
        if (!found->is_number_integer() || std::abs(found->get<double>()) > 1e15) {
            fault(place, fmt::format("\"{}\" is {}, a whole number was expected", key, found->dump()));
            return otherwise;
        }
        return found->get<int64_t>();
    }

    Bound bound(const Json& value, const std::string& place) {
        Bound out;
        if (value.is_number_integer()) {
            out.number = value.get<int64_t>();
            if (out.number < 0)
                fault(place, "\"bound\" is negative");
        } else if (value.is_object() && value.contains("of")) {
            out.kind = Bound::Kind::Size;
            out.of = static_cast<int32_t>(integer(value, "of", 0, place));
            out.dim = integer(value, "dim", 0, place);
            out.dim_arg = static_cast<int32_t>(integer(value, "dim_arg", -1, place));
        } else if (value.is_object() && value.contains("value_of")) {
            out.kind = Bound::Kind::Value;
            out.of = static_cast<int32_t>(integer(value, "value_of", 0, place));
        } else if (value.is_object() && value.contains("output_dim")) {
            out.kind = Bound::Kind::Output;
            out.dim = integer(value, "output_dim", 0, place);
        } else {
            fault(place, "\"bound\" is a number or an object with \"of\", \"value_of\" or \"output_dim\"");
        }
        return out;
    }

    Rule rule(const std::string& argument, const Json& value, const std::string& place) {
        Rule out;
        out.argument = argument;
        const std::string name = value.is_object() && value.contains("fill") && value["fill"].is_string()
                                     ? value["fill"].get<std::string>()
                                     : "";
        const auto known = fillNames().find(name);
        if (known == fillNames().end()) {
            fault(place, fmt::format("argument {} needs a \"fill\": zeros, ones, random, positive, indices, "
                                     "offsets, counts, mask or permutation",
                                     argument));
            return out;
        }
        out.fill = known->second;
        if (needsBound(out.fill) && !value.contains("bound"))
            fault(place, fmt::format("argument {}: \"{}\" needs a \"bound\"", argument, name));
        else if (value.contains("bound"))
            out.bound = bound(value["bound"], place);
        return out;
    }

    void entry(const std::string& target, const Json& value) {
        if (!value.is_object())
            return fault(target, "an object was expected");
        Entry out;
        for (const auto& [key, item] : value.items()) {
            if (key == "args" && item.is_object()) {
                for (const auto& [argument, how] : item.items())
                    out.rules.push_back(rule(argument, how, target));
            } else if (key == "hook" && item.is_string()) {
                const auto hook = hooks.find(item.get<std::string>());
                if (hook == hooks.end())
                    return fault(target, fmt::format("there is no hook {}", item.dump()));
                out.hook = hook->second;
            } else if (key == "internal_collective" && item.is_boolean()) {
                out.internal_collective = item.get<bool>();
            } else {
                return fault(target,
                             fmt::format("\"{}\" is not one of args, hook, internal_collective", key));
            }
        }
        entries[target] = std::move(out);
    }
};

Status BenchmarkInputRegistry::addText(std::string_view json, const std::string& file_name) {
    Json data;
    try {
        data = Json::parse(json);
    } catch (const Json::parse_error& error) { // "[…] parse error at line 1, column 2: what"
        const std::string what = error.what();
        const size_t colon = what.find(": ");
        return notInputs(placeOf(json, error.byte > 0 ? error.byte - 1 : 0, file_name),
                         colon == std::string::npos ? what : what.substr(colon + 2));
    }
    if (!data.is_object() || data.value("format", Json()) != "gatherscope.benchmark_inputs" ||
        data.value("version", Json()) != 1 || !data.contains("ops") || !data["ops"].is_object())
        return notInputs({file_name, 0, 0}, "it is no JSON object with \"format\": "
                                            "\"gatherscope.benchmark_inputs\", \"version\": 1 and \"ops\"");
    Reader reader{hooks_};
    for (const auto& [target, value] : data["ops"].items())
        reader.entry(target, value);
    if (!reader.problem.empty()) {
        const size_t at = json.find(Json(reader.target).dump());
        return notInputs(at == std::string_view::npos ? SourcePos{file_name, 0, 0}
                                                      : placeOf(json, at, file_name),
                         reader.problem);
    }
    for (auto& [target, entry] : reader.entries)
        entries_[target] = std::move(entry);
    return Unit{};
}

Status BenchmarkInputRegistry::addFile(const std::string& path) {
    Diagnostics said; // of compressed texts; what is wrong with the rows is an error
    const Result<InputText> input = readInput(path, said);
    if (!input)
        return input.error();
    return addText(input->text, path);
}

} // namespace gs

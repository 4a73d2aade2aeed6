#include "passes/fsdp_bucketing/fx_names.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace gs {

namespace {

/// "view_12" → 12 and "view"; nothing where the name has no such end.
std::optional<int64_t> splitNumber(std::string_view& name) {
    const size_t digits = name.find_last_not_of("0123456789") + 1;
    int64_t number = 0;
    if (digits == 0 || digits == name.size() || name[digits - 1] != '_' ||
        std::from_chars(name.data() + digits, name.data() + name.size(), number).ec != std::errc())
        return std::nullopt;
    name = name.substr(0, digits - 1);
    return number;
}

} // namespace

std::string FxNames::create(std::string_view wanted) {
    std::string name(wanted);
    std::string_view base = wanted;
    const std::optional<int64_t> stated = splitNumber(base);
    int64_t& last = last_number_[std::string(base)];
    int64_t number = stated.value_or(0);
    if (!stated || used_.count(name) != 0) {
        number = last;
        if (name == "slice") // fx never calls a node like a Python builtin
            name = "slice_" + std::to_string(++number);
    }
    while (!used_.insert(name).second)
        name = std::string(base) + "_" + std::to_string(++number);
    last = number;
    return name;
}

} // namespace gs

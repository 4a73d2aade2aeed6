// Data files of resources/ that are compiled into the core (list: core/CMakeLists.txt).
#pragma once

#include <cstddef>
#include <string_view>

namespace gs {

namespace detail {
struct EmbeddedResource {
    std::string_view name;
    std::string_view text;
};
extern const EmbeddedResource kResources[];
extern const size_t kResourceCount;
} // namespace detail

/// Text of the file `name` of resources/. Empty if no such file was compiled in, which is a bug.
inline std::string_view resourceText(std::string_view name) {
    for (size_t i = 0; i < detail::kResourceCount; ++i) {
        if (detail::kResources[i].name == name)
            return detail::kResources[i].text;
    }
    return {};
}

} // namespace gs

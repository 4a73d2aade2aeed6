// Version of the program, as in CMakeLists.txt.
#pragma once

#include <string_view>

namespace gs {

inline constexpr std::string_view kProgramName = "gatherscope";
/// "0.1.0"
std::string_view programVersion();

} // namespace gs

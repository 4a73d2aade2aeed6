// Keys by which Inductor's estimate artifacts name operators and collectives.
#pragma once

#include "cost/readers/measured_costs.h"

#include <optional>

namespace gs {

/// "_c10d_functional.all_gather_into_tensor_out.default group_size:8 group_name:0 input_bytes:196608"; the
/// time is left empty.
std::optional<MeasuredCollective> collectiveOfKey(std::string_view key);

/// "mm f32(512, 256) f32(256, 256)" → key of MeasuredCosts::typed.
std::optional<std::string> typedKeyOf(std::string_view text);

} // namespace gs

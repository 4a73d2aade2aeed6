// What operators compute, step by step: the rows of resources/fused_ops.json, which says how to read them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gs {

struct OpParam {
    std::string name;
    std::string fallback; ///< value where a call leaves it out: a number, or a word such as "lowest"
    bool required = false;
    bool own_type = false; ///< an operand that takes no part in type promotion
};

enum class StepKind : uint8_t { Map, Sum, Prod, Max, Min, Gather, Take, Column };

struct OpStep {
    std::string name; ///< "out", "out1", "out2": a result
    StepKind kind = StepKind::Map;
    std::string dims; ///< what stands in brackets
    std::string expression;
    std::string guard_param; ///< empty: always
    std::string guard_value;
};

struct OpProgram {
    std::vector<OpParam> params; ///< in order of the schema
    std::vector<OpStep> steps;
    const OpParam* param(std::string_view name) const;
};

/// By overload, then by packet; in-place names ("aten.add_.Tensor") find the plain one. Null if no row says
/// what the operator computes.
const OpProgram* findProgram(std::string_view target);

} // namespace gs

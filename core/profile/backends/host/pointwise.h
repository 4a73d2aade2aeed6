// Pointwise operators as steps of a TileProgram: for one operator, and for the members of a fused region.
#pragma once

#include "host_op.h"
#include "tile_program.h"

namespace gs::host {

/// Register that holds a tensor argument; -1 if it does not fit the program's shape.
using RegisterOf = std::function<int32_t(uint32_t tensor)>;

bool isPointwise(const std::string& name);
/// Appends an operator; its result's register, or -1 if this form of it is not known. `result` is the type of
/// what it yields.
int32_t emitPointwise(TileProgram& program, const std::string& name, const BenchmarkInputs& inputs,
                      DType result, const RegisterOf& registerOf);

} // namespace gs::host

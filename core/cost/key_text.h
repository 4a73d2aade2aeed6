// The text of a compute node's StructuralKey, for keys that are made of several.
#pragma once

#include "graph/graph.h"

#include <functional>
#include <string>

namespace gs {

/// Appends how an operand is called. Returns false, without a change, where its value shall stand instead.
using OperandName = std::function<bool(NodeId operand, std::string& out)>;

/// structuralKey() of a compute node, with operands as `operand` calls them.
std::string computeKey(const Graph& graph, NodeId id, const OperandName& operand);

/// Appends "bf16[8192,4096;4096,1]".
void appendTensorText(std::string& out, const TensorMeta& tensor);

} // namespace gs

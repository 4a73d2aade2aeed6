// The call that an operator's loop sees.
#pragma once

#include "support/node_reference.h"

namespace gs::test {

struct RefCall {
    NodeReference& reference;
    const Graph& graph;
    NodeId node;

    const RefTensor* tensor(size_t index, const char* name = "") const;
    double number(size_t index, const char* name, double fallback) const;
    std::string word(size_t index, const char* name) const;
    std::vector<int64_t> list(size_t index) const;
    /// Shape and dtype of a result, from the metadata.
    RefTensor result(size_t item = 0) const;
    void give(size_t item, RefTensor tensor) const;
};

/// Loops by packet ("aten.mul"); they read arguments and give results. False: arguments that the loop lacks.
using RefLoop = bool (*)(const RefCall& call);
RefLoop pointwiseLoop(std::string_view packet);
RefLoop reductionLoop(std::string_view packet);
RefLoop movementLoop(std::string_view packet);

/// Offset in `of` of the element that is broadcast to place `flat` of `shape`.
int64_t broadcastOffset(const std::vector<int64_t>& of, const std::vector<int64_t>& shape, int64_t flat);

} // namespace gs::test

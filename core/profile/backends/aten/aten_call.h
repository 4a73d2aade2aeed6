// One call of an ATen operator: its schema says what each argument must be, the graph and the registry of
// benchmark inputs what it is.
#pragma once

#include "profile/backend.h"
#include "profile/benchmark_inputs.h"

namespace gs::aten {

/// A prepared call; every run makes it again with the same arguments.
class AtenOp : public PreparedOp {
public:
    /// Bytes of what the last run yielded and what it was given; for tests.
    virtual int64_t outputElements() const = 0;
};

/// `device` -1 = the processors. Errors: "not-supported" (torch has no such operator, or an argument has no
/// value here), "would-not-fit", what the registry says.
Result<std::unique_ptr<AtenOp>> prepareCall(const Graph& graph, NodeId node, int device);

} // namespace gs::aten

// A call of the graph with its tensors, and what turns it into something that runs.
#pragma once

#include "host_tensor.h"
#include "profile/backend.h"

#include <functional>
#include <optional>
#include <string>

namespace gs::host {

using Body = std::function<void()>;

/// What HostBackend prepares for operators and regions.
class HostOp : public PreparedOp {
public:
    std::vector<Tensor> inputs;  ///< one per distinct argument
    std::vector<Tensor> outputs; ///< of an operator that writes its argument: that argument
    Body body; ///< empty: a name for memory, there is nothing to do

    Status run() override {
        if (body)
            body();
        return Unit{};
    }
};

/// What makers of bodies see of a call.
class OpCall {
public:
    OpCall(const Graph& graph, NodeId node, BenchmarkInputs inputs);

    std::string name; ///< without namespace, overload and the underscore of in-place forms: "add"
    bool in_place = false;
    BenchmarkInputs inputs;
    std::vector<Tensor> tensors; ///< of inputs.tensors
    std::vector<Tensor> outputs;
    std::string note; ///< what of it is a stand-in

    /// Allocates. In-place operators get their argument as output.
    void materialise();

    /// Argument by position or name, if it is of that kind.
    const InputValue* value(size_t position, std::string_view arg_name = {}) const {
        return inputs.find(position, arg_name);
    }
    const Tensor* tensor(size_t position, std::string_view arg_name = {}) const;
    std::optional<double> number(size_t position, std::string_view arg_name = {}) const;
    int64_t integer(size_t position, std::string_view arg_name, int64_t otherwise) const;
    /// Numbers of a list, or one number.
    std::vector<int64_t> integers(size_t position, std::string_view arg_name = {}) const;
    std::vector<const Tensor*> tensorList(size_t position) const;
    const Tensor& out() const { return outputs.front(); }
};

/// The operator's name as OpCall has it; empty for what is no operator of the ATen level.
std::string plainName(const Graph& graph, NodeId node);

/// Why an operator cannot be measured here.
Error notSupported(const std::string& what);

using Maker = Result<Body> (*)(OpCall& call);

/// Makers of each group; a null pointer where the group does not know the name.
Maker matmulMaker(const std::string& name);
Maker pointwiseMaker(const std::string& name);
Maker reductionMaker(const std::string& name);
Maker copyMaker(const std::string& name);
Maker indexMaker(const std::string& name);

/// The first group that knows it.
Maker makerOf(const std::string& name);

} // namespace gs::host

#include "import/inductor_units.h"

#include "import/fx_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <unordered_map>

namespace gs {

namespace {

constexpr std::string_view kWait = "_c10d_functional.wait_tensor.default";

class UnitGraph {
public:
    UnitGraph(const InductorUnits& units, const InputText& input, const GraphEntry& entry)
        : units_(units), input_(input), entry_(entry), annotations_(builder_, input.path) {}

    Result<GraphPtr> build(Diagnostics& diagnostics) {
        for (const InductorUnit& unit : units_.units) {
            for (const InductorBuffer& buffer : unit.buffers)
                defined_.emplace(buffer.name, &buffer);
        }
        for (const auto& [name, tensor] : units_.tensors)
            tensors_.emplace(name, tensor);
        addInputs();
        for (const InductorUnit& unit : units_.units)
            addUnit(unit);
        addOutput();
        if (builder_.size() == 0)
            return Error{"empty-graph",
                         fmt::format("{}: the text has no scheduler nodes", input_.path),
                         {input_.path, entry_.line, 0},
                         "copy the whole file"};
        report();
        describeSource(builder_, input_.path, entry_, "Inductor scheduler");
        builder_.info().level = GraphLevel::Scheduler;
        builder_.info().has_shapes = annotations_.sawTensor();
        return builder_.finish(&diagnostics);
    }

private:
    /// Names that no unit defines, in the order of their first use.
    void addInputs() {
        for (const InductorUnit& unit : units_.units) {
            for (const std::string& name : unit.reads) {
                if (defined_.count(name) || node_of_.count(name))
                    continue;
                const NodeId id =
                    builder_.addNode(name, NodeOp::Placeholder, name, {input_.path, unit.line, 0});
                builder_.setArgs(id, {});
                builder_.setKwargs(id, {});
                node_of_.emplace(name, id);
                if (const auto tensor = tensors_.find(name); tensor != tensors_.end())
                    annotations_.apply(id, tensor->second);
            }
        }
    }

    void addUnit(const InductorUnit& unit) {
        const NodeId id = builder_.addNode(unit.name, NodeOp::CallFunction, targetOfUnit(unit),
                                           {input_.path, unit.line, 0});
        std::vector<NodeId> inputs;
        for (const std::string& name : unit.reads) {
            const bool own = std::any_of(unit.buffers.begin(), unit.buffers.end(),
                                         [&](const InductorBuffer& buffer) { return buffer.name == name; });
            if (own)
                continue; // one part of a fused unit reads what another writes
            if (const auto from = node_of_.find(name); from != node_of_.end()) {
                if (from->second != id &&
                    std::find(inputs.begin(), inputs.end(), from->second) == inputs.end())
                    inputs.push_back(from->second);
            } else {
                builder_.nodeArg(name, id, {input_.path, unit.line, 0}); // finish() reports it
            }
        }
        setValue(id, unit);
        setArguments(id, inputs);
        builder_.setInputs(id, inputs);
        for (const std::string& name : unit.weak) {
            if (const auto from = node_of_.find(name); from != node_of_.end() && from->second != id)
                builder_.addWeakInput(id, from->second);
        }
        for (const std::string& member : unit.members)
            builder_.addOrigin(id, builder_.intern(member));
        const bool hides =
            std::any_of(unit.buffers.begin(), unit.buffers.end(), [](const InductorBuffer& buffer) {
                return buffer.kind == "_CollectiveKernel" || buffer.kind == "_WaitKernel";
            });
        grouped_ += hides && unit.kernel.empty() && builder_.graph().targetText(id) == "fused" ? 1 : 0;
        for (const InductorBuffer& buffer : unit.buffers) {
            for (const std::string& name : buffer.mutates) {
                if (const auto of = node_of_.find(name); of != node_of_.end() && of->second != id)
                    builder_.addMutation(id, of->second);
            }
            node_of_.emplace(buffer.name, id);
            if (buffer.returned)
                returned_.push_back(id);
        }
    }

    /// The unit's own tensors; one that only writes others yields the last that it writes.
    void setValue(NodeId id, const InductorUnit& unit) {
        std::vector<std::string> tensors;
        std::string written;
        for (const InductorBuffer& buffer : unit.buffers) {
            if (!buffer.tensor.empty())
                tensors.push_back(buffer.tensor);
            for (const std::string& name : buffer.mutates)
                written = tensorOf(name);
        }
        if (tensors.empty() && !written.empty())
            tensors.push_back(written);
        if (tensors.size() == 1) {
            annotations_.apply(id, tensors.front());
        } else if (!tensors.empty()) {
            Value list;
            list.kind = Value::Kind::List;
            for (const std::string& tensor : tensors)
                list.items.push_back(annotations_.valueOf(tensor));
            builder_.setValue(id, list);
        }
    }

    std::string tensorOf(const std::string& name) const {
        const auto found = defined_.find(name);
        if (found != defined_.end() && !found->second->tensor.empty())
            return found->second->tensor;
        if (found != defined_.end() && !found->second->mutates.empty() &&
            found->second->mutates.back() != name)
            return tensors_.count(found->second->mutates.back()) ? tensors_.at(found->second->mutates.back())
                                                                 : std::string();
        const auto input = tensors_.find(name);
        return input == tensors_.end() ? std::string() : input->second;
    }

    /// The text prints no constants: a collective's group is not in it, its size follows from the shapes.
    void setArguments(NodeId id, const std::vector<NodeId>& inputs) {
        const OpTraits& traits = builder_.graph().target(id).traits;
        std::vector<Arg> args, kwargs;
        for (const NodeId input : inputs)
            args.push_back(builder_.nodeArg(input));
        if ((traits.bits & kTraitCollective) && !inputs.empty()) {
            const bool out =
                args.size() > 1 && builder_.graph().targetText(id).find("_out.") != std::string_view::npos;
            if (out)
                kwargs = {builder_.textArg(Arg::Kind::String, "out"), args[1]};
            if (traits.group_size_arg >= 0) {
                args.resize(1);
                args.resize(static_cast<size_t>(traits.group_size_arg) + 1, builder_.noneArg());
                const int64_t sent = builder_.value(inputs.front()).bytes(), got = builder_.value(id).bytes();
                const int64_t small = std::min(sent, got), large = std::max(sent, got);
                if (small > 0 && large % small == 0)
                    args.back() = builder_.intArg(large / small);
            }
        }
        builder_.setArgs(id, args);
        builder_.setKwargs(id, kwargs);
    }

    void addOutput() {
        if (returned_.empty())
            return;
        const NodeId id = builder_.addNode("output", NodeOp::Output, "output", {});
        std::vector<Arg> items;
        for (const NodeId node : returned_)
            items.push_back(builder_.nodeArg(node));
        builder_.setArgs(id, {builder_.listArg(items)});
        builder_.setKwargs(id, {});
    }

    void report() {
        if (units_.cut)
            builder_.diagnostics().add({Severity::Warning,
                                        "cut-graph",
                                        {input_.path, units_.last_line, 0},
                                        {},
                                        "the text ends inside a scheduler node",
                                        "the end of the graph is missing: copy the whole text"});
        if (grouped_ > 0)
            builder_.diagnostics().add(
                {Severity::Warning,
                 "grouped-collectives",
                 {input_.path, entry_.line, 0},
                 {},
                 fmt::format(
                     "{} grouped scheduler nodes hold collectives or waits that this text does not name",
                     grouped_),
                 "open ir_post_fusion of the same compilation: it shows them one by one"});
        builder_.diagnostics().add(
            {Severity::Info,
             "no-groups",
             {input_.path, entry_.line, 0},
             {},
             "scheduler nodes print no constants: the process groups of the collectives are not in this text",
             "the output code or the FX graph of the same compilation names them"});
    }

    const InductorUnits& units_;
    const InputText& input_;
    const GraphEntry& entry_;
    GraphBuilder builder_;
    AnnotationTable annotations_;
    std::unordered_map<std::string, const InductorBuffer*> defined_;
    std::unordered_map<std::string, std::string> tensors_; ///< of inputs
    std::unordered_map<std::string, NodeId> node_of_;      ///< by buffer or input
    std::vector<NodeId> returned_;
    size_t grouped_ = 0; ///< units that hide collectives
};

} // namespace

std::string targetOfUnit(const InductorUnit& unit) {
    constexpr std::string_view kOps = "torch.ops.";
    constexpr std::string_view kExtern = "extern_kernels.";
    if (unit.kernel.rfind(kOps, 0) == 0)
        return unit.kernel.substr(kOps.size());
    if (unit.kernel.rfind(kExtern, 0) == 0)
        return "aten." + unit.kernel.substr(kExtern.size()) + ".out";
    if (!unit.kernel.empty())
        return unit.kernel;
    if (unit.node == "_WaitKernel")
        return std::string(kWait);
    if (unit.kind.rfind("Nop", 0) == 0)
        return "aten.empty.memory_format"; // an allocation
    const bool group = unit.kind != "SchedulerNode" && unit.kind != "ExternKernelSchedulerNode";
    return group ? "fused" : unit.node;
}

Result<GraphPtr> buildUnitGraph(const InductorUnits& units, const InputText& input, const GraphEntry& entry,
                                Diagnostics& diagnostics) {
    return UnitGraph(units, input, entry).build(diagnostics);
}

} // namespace gs

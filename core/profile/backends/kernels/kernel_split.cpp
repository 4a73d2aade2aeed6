// Which results and reductions of a region share a kernel: as many as have one iteration space and need
// nothing of another row.
#include "profile/backends/kernels/kernel_writer.h"

#include <algorithm>
#include <fmt/format.h>

namespace gs {

int64_t KernelTensor::elements() const {
    int64_t last = 0;
    for (size_t d = 0; d < shape.size(); ++d)
        last += (shape[d] - 1) * strides[d];
    return last + 1;
}

int64_t KernelTensor::bytes() const {
    return elements() * dtypeBytes(dtype);
}

TensorSpec kernelInput(const KernelTensor& tensor, const std::map<NodeId, TensorSpec>& outside) {
    TensorSpec spec{tensor.dtype, tensor.shape, tensor.strides,
                    dtypeIsFloat(tensor.dtype) ? InputFill::Random : InputFill::Zeros, 0};
    if (const auto found = outside.find(tensor.node); found != outside.end()) {
        spec.fill = found->second.fill;
        spec.bound = found->second.bound;
    }
    if (!tensor.holds_indices)
        return spec;
    const int64_t limit = tensor.index_limit;
    const bool within =
        (spec.fill == InputFill::Indices && spec.bound > 0 && spec.bound <= limit) ||
        (spec.fill == InputFill::Ones && limit > 1) ||
        (spec.fill == InputFill::Permutation && !spec.shape.empty() && spec.shape.back() <= limit);
    if (!within) {
        spec.fill = InputFill::Indices;
        spec.bound = std::max<int64_t>(limit, 1);
    }
    return spec;
}

int64_t FusedProgram::bytes() const {
    int64_t total = 0;
    for (const KernelTensor& tensor : tensors)
        total += tensor.bytes();
    return total;
}

namespace kernels {

namespace {

Shape contiguous(const Shape& shape) {
    Shape strides(shape.size(), 1);
    for (size_t d = shape.size(); d-- > 1;)
        strides[d - 1] = strides[d] * shape[d];
    return strides;
}

class KernelSplit {
public:
    KernelSplit(const Graph& graph, RegionPlan plan, std::string name)
        : graph_(graph), plan_(std::move(plan)), name_(std::move(name)) {}

    Result<FusedProgram> run() {
        for (const PlanTensor& input : plan_.inputs)
            addTensor(KernelTensor::Role::Input, input);
        for (const PlanTensor& output : plan_.outputs) {
            // An input that is handed on unchanged is no work.
            if (!storage_.contains(output.prim))
                addTensor(KernelTensor::Role::Output, output);
            results_.insert(output.prim);
        }
        markIndices();
        last_group_.assign(plan_.prims.size(), 0);
        for (PrimId id = 0; id < plan_.prims.size(); ++id) {
            for (PrimId arg : plan_.prims[id].args)
                last_group_[id] = std::max(last_group_[id], last_group_[arg]);
            const bool anchor = needed(id) && plan_.prims[id].kind != PrimKind::Input;
            if (anchor && !place(id))
                return Error{"not-supported", "the region has no loop that computes it", {}, {}};
        }
        return write();
    }

private:
    struct Group {
        KernelRequest request;
        std::vector<PrimId> anchors;
    };

    bool needed(PrimId id) const { return plan_.prims[id].kind == PrimKind::Reduce || results_.contains(id); }

    void addTensor(KernelTensor::Role role, const PlanTensor& of) {
        const Prim& prim = plan_.prims[of.prim];
        KernelTensor tensor;
        tensor.role = role;
        tensor.node = of.node;
        tensor.item = of.item;
        tensor.dtype = prim.dtype;
        tensor.shape = prim.shape;
        tensor.strides = prim.kind == PrimKind::Input ? prim.strides : outputStrides(of, prim.shape);
        storage_[of.prim] = static_cast<uint32_t>(tensors_.size());
        tensors_.push_back(std::move(tensor));
    }

    /// As the metadata states them, unless elements would share a place.
    Shape outputStrides(const PlanTensor& of, const Shape& shape) const {
        const TensorMeta* meta = of.node == kNoNode ? nullptr : tensorOf(graph_.value(of.node), of.item);
        Shape strides = contiguous(shape);
        if (!meta || !meta->has_stride || meta->stride.size() != shape.size())
            return strides;
        int64_t span = 1;
        for (size_t d = 0; d < shape.size(); ++d) {
            const int64_t stride = meta->stride[d].value;
            if (stride < 1 && shape[d] > 1)
                return strides;
            span += (shape[d] - 1) * stride;
        }
        if (span != elements(shape))
            return strides;
        for (size_t d = 0; d < shape.size(); ++d)
            strides[d] = meta->stride[d].value;
        return strides;
    }

    /// Inputs whose values say which elements of another tensor are read.
    void markIndices() {
        for (const Prim& prim : plan_.prims) {
            if (prim.kind != PrimKind::Gather && prim.kind != PrimKind::Take)
                continue;
            PrimId id = prim.args[1];
            while (plan_.prims[id].kind != PrimKind::Input && !plan_.prims[id].args.empty())
                id = plan_.prims[id].args[0];
            if (auto found = storage_.find(id); found != storage_.end()) {
                KernelTensor& tensor = tensors_[found->second];
                const int64_t limit = plan_.prims[prim.args[0]].shape[prim.dim];
                tensor.index_limit = tensor.holds_indices ? std::min(tensor.index_limit, limit) : limit;
                tensor.holds_indices = true;
            }
        }
    }

    /// The iteration space that all anchors share, if there is one.
    std::optional<Domain> domainOf(const std::vector<PrimId>& anchors) const {
        Domain domain;
        bool reduces = false;
        for (PrimId id : anchors) {
            const Prim& prim = plan_.prims[id];
            if (prim.kind != PrimKind::Reduce)
                continue;
            const int64_t rows = elements(prim.shape);
            const Shape& shape = plan_.prims[prim.args[0]].shape;
            const int64_t row_size = elements(shape) / rows;
            if (reduces && (rows != domain.rows || row_size != domain.row_size))
                return std::nullopt;
            if (reduces)
                continue;
            reduces = true;
            domain.rows = rows;
            domain.row_size = row_size;
            domain.shape = shape;
            domain.mask = prim.mask;
            for (size_t d = 0; d < shape.size(); ++d)
                domain.columns = shape[d] == 1 ? domain.columns : !prim.mask[d];
        }
        if (!reduces)
            domain.rows = elements(plan_.prims[anchors.front()].shape);
        for (PrimId id : anchors) {
            const int64_t count = elements(plan_.prims[id].shape);
            if (count != domain.rows && count != domain.rows * domain.row_size)
                return std::nullopt;
        }
        return domain;
    }

    bool fits(Group& group) {
        const auto domain = domainOf(group.anchors);
        if (!domain)
            return false;
        group.request.domain = *domain;
        group.request.own.clear();
        group.request.stores.clear();
        for (PrimId id : group.anchors) {
            if (plan_.prims[id].kind == PrimKind::Reduce)
                group.request.own.push_back(id);
            if (storage_.contains(id))
                group.request.stores.push_back(id);
        }
        return KernelWriter(plan_, tensors_, storage_, group.request).write().has_value();
    }

    bool place(PrimId id) {
        size_t first = 0;
        for (PrimId arg : plan_.prims[id].args)
            first = std::max(first, last_group_[arg]);
        for (size_t i = first; i < groups_.size(); ++i) {
            Group extended = groups_[i];
            extended.anchors.push_back(id);
            if (fits(extended)) {
                groups_[i] = std::move(extended);
                last_group_[id] = i;
                return true;
            }
        }
        Group group;
        group.anchors = {id};
        if (!fits(group))
            return false;
        last_group_[id] = groups_.size();
        groups_.push_back(std::move(group));
        return true;
    }

    /// Reductions that later kernels read become temporaries of those that compute them.
    void keepShared() {
        std::set<PrimId> shared;
        for (const Group& group : groups_) {
            KernelWriter writer(plan_, tensors_, storage_, group.request);
            writer.write();
            shared.insert(writer.loads().begin(), writer.loads().end());
        }
        for (Group& group : groups_) {
            for (PrimId id : group.request.own) {
                if (!shared.contains(id))
                    continue;
                addTensor(KernelTensor::Role::Temporary, {kNoNode, 0, id});
                group.request.stores.push_back(id);
            }
        }
    }

    Result<FusedProgram> write() {
        keepShared();
        FusedProgram program;
        for (size_t i = 0; i < groups_.size(); ++i) {
            Group& group = groups_[i];
            if (group.request.stores.empty())
                continue; // a reduction that nobody reads
            group.request.name = fmt::format("{}_{}", name_, i);
            auto kernel = KernelWriter(plan_, tensors_, storage_, group.request).write();
            if (!kernel)
                return Error{"not-supported", "the region has no loop that computes it", {}, {}};
            program.kernels.push_back(std::move(*kernel));
        }
        program.tensors = std::move(tensors_);
        return program;
    }

    const Graph& graph_;
    RegionPlan plan_;
    std::string name_;
    std::vector<KernelTensor> tensors_;
    Storage storage_;
    std::set<PrimId> results_;
    std::vector<Group> groups_;
    std::vector<size_t> last_group_; ///< by primitive: the last group that it needs
};

} // namespace

} // namespace kernels

Result<FusedProgram> generateKernels(const Graph& graph, const FusedRegion& region, const std::string& name) {
    Result<kernels::RegionPlan> plan = kernels::planRegion(graph, region);
    if (!plan)
        return plan.error();
    return kernels::KernelSplit(graph, std::move(plan.value()), name).run();
}

} // namespace gs

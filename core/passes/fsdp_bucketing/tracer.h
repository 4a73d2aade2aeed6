// Adds to a draft the ATen nodes that PyTorch traces for a merged collective, with shapes and strides.
#pragma once

#include "passes/fsdp_bucketing/draft.h"

#include <map>
#include <optional>

namespace gs {

using Sizes = std::vector<int64_t>;

/// A tensor whose sizes and strides are plain numbers.
struct PlainTensor {
    DType dtype = DType::Unknown;
    StringId device = kEmptyString;
    Sizes shape, stride;

    int64_t numel() const;
    bool contiguous() const;
};

/// Nothing for values that are no tensor or have symbolic or unknown sizes. Strides that the file does not
/// state are row-major.
std::optional<PlainTensor> plainTensor(const Value& value);
Value plainValue(const PlainTensor& tensor);
Sizes rowMajor(const Sizes& shape);
/// Strides of a tensor seen as `shape` without a copy; nothing if that needs one. Source: computeStride of
/// ATen/TensorUtils.cpp.
std::optional<Sizes> viewStrides(const Sizes& old_shape, const Sizes& old_stride, const Sizes& shape);

class Tracer {
public:
    /// Nodes go in front of `place` and stand for `origins`.
    Tracer(Draft& draft, DraftId place, std::vector<NodeId> origins)
        : draft_(draft), place_(place), origins_(std::move(origins)) {}

    DraftId add(std::string_view name, std::string_view target, std::vector<DraftArg> args, Value value,
                DraftComm comm = {});
    DraftId empty(int64_t numel, DType dtype, StringId device);
    DraftId narrow(DraftId of, int64_t start, int64_t length);
    DraftId reshape(DraftId of, const Sizes& shape);
    DraftId cat(const std::vector<DraftId>& parts, int64_t dim);
    DraftId wait(DraftId launch);
    /// split_with_sizes and one getitem a part.
    std::vector<DraftId> split(DraftId of, const Sizes& sizes, int64_t dim);
    PlainTensor tensor(DraftId id) const { return plainTensor(draft_.value(id)).value(); }
    /// All nodes added, in order.
    const std::vector<DraftId>& nodes() const { return nodes_; }

private:
    Draft& draft_;
    DraftId place_;
    std::vector<NodeId> origins_;
    std::vector<DraftId> nodes_;
    FxNames names_; ///< of the traced graph, whose names are what the draft is asked for
};

/// Gives the users of a replaced value the strides that follow from the new one's, and theirs in turn.
void repairStrides(Draft& draft, std::vector<DraftId> users);

} // namespace gs

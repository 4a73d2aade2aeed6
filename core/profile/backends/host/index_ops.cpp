// Operators that read or write by index. Plain loops: their time is that of the memory.
#include "host_op.h"
#include "rows.h"
#include "shapes.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>

namespace gs::host {

namespace {

Result<Body> unknownForm() {
    return notSupported("this form of an indexing operator is not known");
}

/// Offset of row-major element `index` of `shape` under `stride`.
int64_t offsetOf(int64_t index, const std::vector<int64_t>& shape, const std::vector<int64_t>& stride) {
    int64_t offset = 0;
    for (size_t d = shape.size(); d-- > 0;) {
        offset += index % shape[d] * stride[d];
        index /= shape[d];
    }
    return offset;
}

/// Strides that make `tensor` as large as `shape`; nothing if it does not broadcast.
std::optional<std::vector<int64_t>> broadcastStrides(const Tensor& tensor,
                                                     const std::vector<int64_t>& shape) {
    if (!broadcastsTo(tensor, shape))
        return std::nullopt;
    std::vector<int64_t> out(shape.size(), 0);
    const size_t shift = shape.size() - tensor.rank();
    for (size_t d = 0; d < tensor.rank(); ++d) {
        out[d + shift] = tensor.spec.shape[d] == 1 ? 0 : tensor.spec.stride[d];
    }
    return out;
}

void copyElements(const Tensor& from, int64_t from_at, const std::vector<int64_t>& from_stride,
                  const Tensor& to, int64_t to_at, const std::vector<int64_t>& to_stride,
                  const std::vector<int64_t>& shape, bool contiguous, int64_t count) {
    const size_t size = static_cast<size_t>(dtypeBytes(from.spec.dtype));
    if (contiguous) {
        std::memcpy(to.at(to_at), from.at(from_at), size * static_cast<size_t>(count));
        return;
    }
    for (int64_t i = 0; i < count; ++i)
        std::memcpy(to.at(to_at + offsetOf(i, shape, to_stride)),
                    from.at(from_at + offsetOf(i, shape, from_stride)), size);
}

/// The values of a tensor of indices.
int64_t indexAt(const Tensor& tensor, int64_t offset) {
    return static_cast<int64_t>(readElement(tensor.spec.dtype, tensor.at(offset)));
}

bool isIndex(const Tensor* tensor) {
    return tensor && (tensor->spec.dtype == DType::Int64 || tensor->spec.dtype == DType::Int32);
}

/// Slices of `table` (its first `indices.size()` dimensions are indexed) against rows of `rows`.
struct IndexedSlices {
    Tensor table, rows;
    std::vector<Tensor> indices;
    std::vector<std::vector<int64_t>> index_strides;
    std::vector<int64_t> index_shape;
    std::vector<int64_t> slice, table_stride, rows_stride, rows_lead;
    int64_t count = 1, width = 1;
    bool contiguous = false;

    int64_t tableOffset(int64_t row) const {
        int64_t offset = 0;
        for (size_t i = 0; i < indices.size(); ++i) {
            int64_t at = indexAt(indices[i], offsetOf(row, index_shape, index_strides[i]));
            at += at < 0 ? table.spec.shape[i] : 0;
            offset += at * table.spec.stride[i];
        }
        return offset;
    }
    int64_t rowOffset(int64_t row) const { return offsetOf(row, index_shape, rows_lead); }
};

/// Nothing if shapes do not fit or an index is not in the table. Rows may be broadcast if they are only read.
std::optional<IndexedSlices> indexedSlices(const Tensor& table, const std::vector<const Tensor*>& indices,
                                           const Tensor& rows, bool broadcast) {
    IndexedSlices out{table, rows, {}, {}, {}, {}, {}, {}, {}, 1, 1, false};
    size_t widest = 0;
    for (const Tensor* index : indices) {
        if (!isIndex(index))
            return std::nullopt;
        widest = std::max(widest, index->rank());
    }
    const size_t sliced = table.rank() - std::min(table.rank(), indices.size());
    if (indices.empty() || indices.size() > table.rank())
        return std::nullopt;
    for (size_t d = 0; d < widest; ++d) {
        int64_t size = 1;
        for (const Tensor* index : indices) {
            const size_t shift = widest - index->rank();
            size = d >= shift && index->spec.shape[d - shift] != 1 ? index->spec.shape[d - shift] : size;
        }
        out.index_shape.push_back(size);
        out.count *= size;
    }
    out.slice.assign(table.spec.shape.end() - static_cast<std::ptrdiff_t>(sliced), table.spec.shape.end());
    out.table_stride.assign(table.spec.stride.end() - static_cast<std::ptrdiff_t>(sliced),
                            table.spec.stride.end());
    std::vector<int64_t> full = out.index_shape;
    full.insert(full.end(), out.slice.begin(), out.slice.end());
    const auto strides = broadcastStrides(rows, full);
    if (!strides || (!broadcast && rows.spec.shape != full))
        return std::nullopt;
    out.rows_lead.assign(strides->begin(), strides->begin() + static_cast<std::ptrdiff_t>(widest));
    out.rows_stride.assign(strides->begin() + static_cast<std::ptrdiff_t>(widest), strides->end());
    for (const int64_t size : out.slice)
        out.width *= size;
    out.contiguous = out.table_stride == out.rows_stride && out.table_stride == denseStrides(out.slice);
    for (const Tensor* index : indices) {
        const auto lead = broadcastStrides(*index, out.index_shape);
        const int64_t size = table.spec.shape[out.indices.size()];
        if (!lead || !valuesWithin(*index, -size, size))
            return std::nullopt;
        out.indices.push_back(*index);
        out.index_strides.push_back(*lead);
    }
    return out;
}

/// What the indices name, as `out`: of the table's type and exactly as large.
Result<Body> readSlices(const Tensor& table, const std::vector<const Tensor*>& indices, const Tensor& out) {
    std::optional<IndexedSlices> slices = indexedSlices(table, indices, out, false);
    if (!slices || table.spec.dtype != out.spec.dtype)
        return notSupported("table, indices and result do not fit each other");
    return Body([s = *std::move(slices)] {
#pragma omp parallel for schedule(static) if (s.count * s.width > 32 * kTile)
        for (int64_t row = 0; row < s.count; ++row)
            copyElements(s.table, s.tableOffset(row), s.table_stride, s.rows, s.rowOffset(row), s.rows_stride,
                         s.slice, s.contiguous, s.width);
    });
}

/// One after another: several rows may have one target. `padding` is an index that is left out.
Body writeSlices(IndexedSlices s, bool add, int64_t padding = -1) {
    return [s = std::move(s), add, padding] {
        const DType dtype = s.table.spec.dtype;
        for (int64_t row = 0; row < s.count; ++row) {
            const int64_t to = s.tableOffset(row), from = s.rowOffset(row);
            if (padding >= 0 && to == padding * s.table.spec.stride[0])
                continue;
            if (!add) {
                copyElements(s.rows, from, s.rows_stride, s.table, to, s.table_stride, s.slice, s.contiguous,
                             s.width);
                continue;
            }
            float a[kTile], b[kTile];
            for (int64_t i = 0; s.contiguous && i < s.width; i += kTile) {
                const int64_t n = std::min(kTile, s.width - i);
                loadRow(dtype, s.table.at(to + i), 1, a, n);
                loadRow(s.rows.spec.dtype, s.rows.at(from + i), 1, b, n);
                combineTile(Combine::Sum, b, a, n);
                storeRow(dtype, a, s.table.at(to + i), 1, n);
            }
            for (int64_t i = 0; !s.contiguous && i < s.width; ++i) {
                std::byte* at = s.table.at(to + offsetOf(i, s.slice, s.table_stride));
                const std::byte* term = s.rows.at(from + offsetOf(i, s.slice, s.rows_stride));
                writeElement(dtype, at, readElement(dtype, at) + readElement(s.rows.spec.dtype, term));
            }
        }
    };
}

Body clearBefore(const Tensor& out, Body then) {
    return [out, then = std::move(then)] {
        std::memset(out.data.get(), 0, static_cast<size_t>(out.spec.storageBytes()));
        then();
    };
}

/// Indices that the operator overwrites would not stay within the table.
bool anyWritten(const std::vector<const Tensor*>& indices, const Tensor& out) {
    return std::any_of(indices.begin(), indices.end(),
                       [&](const Tensor* index) { return index && index->data == out.data; });
}

/// The operator's result starts as a copy of what it changes.
std::optional<Body> copyBefore(const OpCall& call, const Tensor& self, Body then) {
    if (call.in_place)
        return then;
    if (self.spec.shape != call.out().spec.shape || self.spec.stride != call.out().spec.stride ||
        self.spec.dtype != call.out().spec.dtype)
        return std::nullopt;
    return Body([self, out = call.out(), then = std::move(then)] {
        std::memcpy(out.data.get(), self.data.get(), static_cast<size_t>(self.spec.storageBytes()));
        then();
    });
}

Result<Body> makeEmbedding(OpCall& call) {
    const Tensor *weight = call.tensor(0), *index = call.tensor(1, "weight");
    if (weight && isIndex(weight)) // torch.nn.functional has them the other way round
        std::swap(weight, index);
    if (!weight || weight->rank() != 2 || call.outputs.size() != 1)
        return unknownForm();
    return readSlices(*weight, {index}, call.out());
}

/// (gradient, indices, number of rows, padding, …)
Result<Body> makeEmbeddingBackward(OpCall& call) {
    const Tensor *gradient = call.tensor(0), *index = call.tensor(1);
    if (!gradient || !index || call.outputs.size() != 1 || call.out().rank() != 2 ||
        call.out().spec.numel() == 0)
        return unknownForm();
    auto slices = indexedSlices(call.out(), {index}, *gradient, false);
    if (!slices)
        return unknownForm();
    return clearBefore(call.out(), writeSlices(*std::move(slices), true, call.integer(3, "padding_idx", -1)));
}

Result<Body> makeIndex(OpCall& call) {
    const Tensor* self = call.tensor(0);
    if (!self || call.outputs.size() != 1)
        return unknownForm();
    return readSlices(*self, call.tensorList(1), call.out());
}

/// (self, indices, values, accumulate)
Result<Body> makeIndexPut(OpCall& call) {
    const Tensor *self = call.tensor(0), *values = call.tensor(2);
    if (!self || !values || call.outputs.size() != 1 || call.out().spec.numel() == 0)
        return unknownForm();
    const std::vector<const Tensor*> indices = call.tensorList(1);
    auto slices = indexedSlices(call.out(), indices, *values, true);
    if (!slices || anyWritten(indices, call.out()) || values->spec.dtype != self->spec.dtype)
        return unknownForm();
    auto body =
        copyBefore(call, *self, writeSlices(*std::move(slices), call.integer(3, "accumulate", 0) != 0));
    return body ? Result<Body>(*std::move(body)) : unknownForm();
}

/// One dimension of `table` is indexed, element by element.
struct AlongDim {
    Tensor table, index;
    std::vector<int64_t> table_stride; ///< with 0 at the dimension
    int64_t step = 0, size = 0;        ///< stride and size of the dimension

    int64_t tableOffset(int64_t i) const {
        int64_t at = indexAt(index, offsetOf(i, index.spec.shape, index.spec.stride));
        at += at < 0 ? size : 0;
        return offsetOf(i, index.spec.shape, table_stride) + at * step;
    }
};

/// No dimension of `index` but `dim` is larger than that of `table`.
bool within(const Tensor& index, const Tensor& table, std::optional<size_t> dim) {
    if (index.rank() != table.rank())
        return false;
    for (size_t d = 0; d < index.rank(); ++d) {
        if (d != dim && index.spec.shape[d] > table.spec.shape[d])
            return false;
    }
    return true;
}

/// Nothing if the shapes do not fit or an index is not in the table.
std::optional<AlongDim> alongDim(const OpCall& call, const Tensor& table) {
    const Tensor* index = call.tensor(2, "index");
    const std::optional<size_t> dim = dimensionOf(call.integer(1, "dim", 0), table.rank());
    if (!dim || !isIndex(index) || !within(*index, table, dim))
        return std::nullopt;
    const int64_t size = table.spec.shape[*dim];
    if (!valuesWithin(*index, -size, size))
        return std::nullopt;
    AlongDim out{table, *index, table.spec.stride, table.spec.stride[*dim], size};
    out.table_stride[*dim] = 0;
    return out;
}

Result<Body> makeGather(OpCall& call) {
    const Tensor* self = call.tensor(0);
    auto along = self && call.outputs.size() == 1 ? alongDim(call, *self) : std::nullopt;
    if (!along || !sameShape(call.out(), along->index) || call.out().spec.dtype != self->spec.dtype)
        return unknownForm();
    return Body([a = *std::move(along), out = call.out()] {
        const size_t size = static_cast<size_t>(dtypeBytes(out.spec.dtype));
        const int64_t count = out.spec.numel();
#pragma omp parallel for schedule(static) if (count > 32 * kTile)
        for (int64_t i = 0; i < count; ++i)
            std::memcpy(out.at(offsetOf(i, out.spec.shape, out.spec.stride)), a.table.at(a.tableOffset(i)),
                        size);
    });
}

/// scatter: (self, dim, index, number or tensor); scatter_add: (self, dim, index, tensor).
Result<Body> makeScatter(OpCall& call) {
    const Tensor *self = call.tensor(0), *source = call.tensor(3, "src");
    const std::optional<double> number = call.number(3, "value");
    auto along = self && call.outputs.size() == 1 ? alongDim(call, call.out()) : std::nullopt;
    if (!along || (!source && !number) || (source && !within(along->index, *source, std::nullopt)) ||
        anyWritten({&along->index}, call.out()))
        return unknownForm();
    const bool add = call.name == "scatter_add";
    auto body = copyBefore(
        call, *self,
        [a = *std::move(along), src = source ? std::optional(*source) : std::nullopt, number, add] {
            const DType dtype = a.table.spec.dtype;
            const int64_t count = a.index.spec.numel();
            for (int64_t i = 0; i < count; ++i) {
                std::byte* at = a.table.at(a.tableOffset(i));
                double value = number.value_or(0);
                if (src)
                    value = readElement(src->spec.dtype,
                                        src->at(offsetOf(i, a.index.spec.shape, src->spec.stride)));
                writeElement(dtype, at, add ? readElement(dtype, at) + value : value);
            }
        });
    return body ? Result<Body>(*std::move(body)) : unknownForm();
}

Result<Body> makeIndexSelect(OpCall& call) {
    const Tensor *self = call.tensor(0), *index = call.tensor(2, "index");
    if (!self || call.outputs.size() != 1 || call.integer(1, "dim", 0) != 0)
        return unknownForm();
    return readSlices(*self, {index}, call.out());
}

/// (x [n, classes], target [n], weight, reduction, ignored) → loss, total weight
Result<Body> makeNllLoss(OpCall& call) {
    const Tensor *x = call.tensor(0), *target = call.tensor(1);
    if (!x || !isIndex(target) || call.tensor(2) || x->rank() != 2 || call.outputs.size() != 2 ||
        call.out().spec.numel() != 1 || call.outputs[1].spec.numel() != 1)
        return unknownForm();
    const bool mean = call.integer(3, "reduction", 1) == 1;
    const int64_t ignored = call.integer(4, "ignore_index", -100);
    if (target->spec.shape != std::vector<int64_t>{x->spec.shape[0]} ||
        !valuesWithin(*target, 0, x->spec.shape[1], ignored))
        return notSupported("the targets of the loss do not fit its scores");
    return Body([x = *x, target = *target, outs = call.outputs, mean, ignored] {
        double sum = 0, total = 0;
        for (int64_t i = 0; i < x.spec.shape[0]; ++i) {
            const int64_t at = indexAt(target, i * target.spec.stride[0]);
            if (at == ignored)
                continue;
            sum -= readElement(x.spec.dtype, x.at(i * x.spec.stride[0] + at * x.spec.stride[1]));
            total += 1;
        }
        writeElement(outs[0].spec.dtype, outs[0].at(0), mean ? sum / total : sum);
        writeElement(outs[1].spec.dtype, outs[1].at(0), total);
    });
}

/// (gradient, x, target, weight, reduction, ignored, total weight)
Result<Body> makeNllLossBackward(OpCall& call) {
    const Tensor *gradient = call.tensor(0), *target = call.tensor(2), *total = call.tensor(6);
    if (!gradient || !isIndex(target) || call.tensor(3) || !total || total->spec.numel() != 1 ||
        call.outputs.size() != 1 || call.out().rank() != 2 || gradient->spec.numel() != 1 ||
        call.out().spec.numel() == 0)
        return unknownForm();
    const bool mean = call.integer(4, "reduction", 1) == 1;
    const int64_t ignored = call.integer(5, "ignore_index", -100);
    if (target->spec.shape != std::vector<int64_t>{call.out().spec.shape[0]} ||
        !valuesWithin(*target, 0, call.out().spec.shape[1], ignored))
        return notSupported("the targets of the loss do not fit its gradient");
    return clearBefore(call.out(), [=, g = *gradient, t = *target, w = *total, out = call.out()] {
        const double slope =
            -readElement(g.spec.dtype, g.at(0)) / (mean ? readElement(w.spec.dtype, w.at(0)) : 1);
        for (int64_t i = 0; i < out.spec.shape[0]; ++i) {
            const int64_t at = indexAt(t, i * t.spec.stride[0]);
            if (at != ignored)
                writeElement(out.spec.dtype, out.at(i * out.spec.stride[0] + at * out.spec.stride[1]), slope);
        }
    });
}

/// topk: (x, k, dim, largest, sorted); sort: (x, stable=, dim=, descending=) → values, indices
Result<Body> makeSort(OpCall& call) {
    const bool top = call.name == "topk";
    const Tensor* x = call.tensor(0);
    if (!x || x->rank() == 0 || call.outputs.size() != 2 || call.outputs[1].spec.dtype != DType::Int64)
        return unknownForm();
    const int64_t stated = top ? call.integer(2, "dim", -1) : call.integer(99, "dim", -1);
    const std::optional<size_t> axis = dimensionOf(stated, x->rank());
    if (!axis || !sameBut(*x, call.out(), *axis) || !sameShape(call.out(), call.outputs[1]))
        return notSupported("the shapes of values, indices and results disagree");
    const int64_t all = x->spec.shape[*axis], kept = call.out().spec.shape[*axis];
    if (top ? kept > all || kept != call.integer(1, "k", kept) : kept != all)
        return notSupported("it yields another number of values than it takes");
    const bool descending = top ? call.integer(3, "largest", 1) != 0 : call.integer(99, "descending", 0) != 0;
    return rowLoop({*x}, {call.outputs[0], call.outputs[1]}, *axis,
                   [descending, k = kept](const Rows& row, int64_t n) {
                       std::vector<int64_t> order(static_cast<size_t>(n));
                       std::iota(order.begin(), order.end(), int64_t{0});
                       const double* v = row.in[0];
                       const auto before = [&](int64_t a, int64_t b) {
                           return v[a] == v[b] ? a < b : descending ? v[a] > v[b] : v[a] < v[b];
                       };
                       std::partial_sort(order.begin(), order.begin() + k, order.end(), before);
                       for (int64_t i = 0; i < k; ++i) {
                           row.out[0][i] = v[order[static_cast<size_t>(i)]];
                           row.out[1][i] = static_cast<double>(order[static_cast<size_t>(i)]);
                       }
                   });
}

} // namespace

Maker indexMaker(const std::string& name) {
    static const std::map<std::string, Maker> kMakers = {{"embedding", makeEmbedding},
                                                         {"embedding_dense_backward", makeEmbeddingBackward},
                                                         {"index", makeIndex},
                                                         {"_unsafe_index", makeIndex},
                                                         {"index_put", makeIndexPut},
                                                         {"_unsafe_index_put", makeIndexPut},
                                                         {"gather", makeGather},
                                                         {"scatter", makeScatter},
                                                         {"scatter_add", makeScatter},
                                                         {"index_select", makeIndexSelect},
                                                         {"nll_loss_forward", makeNllLoss},
                                                         {"nll_loss_backward", makeNllLossBackward},
                                                         {"topk", makeSort},
                                                         {"sort", makeSort}};
    const auto found = kMakers.find(name);
    return found == kMakers.end() ? nullptr : found->second;
}

} // namespace gs::host

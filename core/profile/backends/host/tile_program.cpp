#include "tile_program.h"

#include <algorithm>
#include <numeric>

namespace gs::host {

namespace {

/// Calls visit(offset in elements, first of the tile, length) for each run along the last dimension.
template <typename F>
void forEachRow(const std::vector<int64_t>& shape, const std::vector<int64_t>& stride, int64_t begin,
                int64_t n, F visit) {
    const size_t rank = shape.size();
    if (rank == 0) {
        visit(int64_t{0}, int64_t{0}, n, int64_t{0});
        return;
    }
    int64_t index[kMostDimensions];
    int64_t rest = begin, offset = 0;
    for (size_t d = rank; d-- > 0;) {
        index[d] = rest % shape[d];
        rest /= shape[d];
        offset += index[d] * stride[d];
    }
    const int64_t last = shape[rank - 1], step = stride[rank - 1];
    for (int64_t done = 0; done < n;) {
        const int64_t length = std::min(n - done, last - index[rank - 1]);
        visit(offset, done, length, step);
        done += length;
        offset -= index[rank - 1] * step;
        index[rank - 1] = 0;
        for (size_t d = rank - 1; d-- > 0;) {
            offset += stride[d];
            if (++index[d] < shape[d])
                break;
            offset -= stride[d] * shape[d];
            index[d] = 0;
        }
    }
}

} // namespace

bool isWide(DType dtype) {
    return dtype == DType::Float64 || dtype == DType::Int64 || dtype == DType::Int32;
}

template <typename T>
void loadTile(const TileSource& from, const std::vector<int64_t>& shape, int64_t begin, int64_t n, T* out) {
    const int64_t size = dtypeBytes(from.dtype);
    forEachRow(shape, from.stride, begin, n, [&](int64_t offset, int64_t at, int64_t length, int64_t stride) {
        loadRow(from.dtype, from.base + offset * size, stride, out + at, length);
    });
}

template <typename T>
void storeTile(const TileSource& to, const std::vector<int64_t>& shape, int64_t begin, int64_t n,
               const T* values) {
    const int64_t size = dtypeBytes(to.dtype);
    forEachRow(shape, to.stride, begin, n, [&](int64_t offset, int64_t at, int64_t length, int64_t stride) {
        storeRow(to.dtype, values + at, to.base + offset * size, stride, length);
    });
}

template void loadTile(const TileSource&, const std::vector<int64_t>&, int64_t, int64_t, float*);
template void loadTile(const TileSource&, const std::vector<int64_t>&, int64_t, int64_t, double*);
template void storeTile(const TileSource&, const std::vector<int64_t>&, int64_t, int64_t, const float*);
template void storeTile(const TileSource&, const std::vector<int64_t>&, int64_t, int64_t, const double*);

void TileProgram::note(DType dtype) {
    wide_ = wide_ || isWide(dtype);
}

int32_t TileProgram::load(const Tensor& tensor) {
    const TensorSpec& spec = tensor.spec;
    if (tensor.rank() > shape_.size() || shape_.size() > kMostDimensions || !isComputable(spec.dtype))
        return -1;
    Operand operand{tensor, {spec.dtype, tensor.data.get(), std::vector<int64_t>(shape_.size(), 0)}, 0};
    const size_t shift = shape_.size() - tensor.rank();
    for (size_t d = 0; d < tensor.rank(); ++d) {
        if (spec.shape[d] != shape_[d + shift] && spec.shape[d] != 1)
            return -1;
        operand.source.stride[d + shift] = spec.shape[d] == 1 ? 0 : spec.stride[d];
    }
    note(spec.dtype);
    operand.reg = code_.registers++;
    code_.loads.push_back(std::move(operand));
    return code_.registers - 1;
}

int32_t TileProgram::constant(double value) {
    code_.constants.push_back({value, code_.registers++});
    return code_.registers - 1;
}

int32_t TileProgram::step(TileOp op, int32_t a, int32_t b, int32_t c, double p) {
    code_.steps.push_back({op, a, b, c, code_.registers++, p});
    return code_.registers - 1;
}

int32_t TileProgram::cast(int32_t value, DType dtype) {
    if (dtype == DType::Bool)
        return step(TileOp::NotZero, value);
    return dtypeIsFloat(dtype) ? value : step(TileOp::Truncate, value);
}

bool TileProgram::store(int32_t value, const Tensor& tensor) {
    if (value < 0 || tensor.spec.shape != shape_ || shape_.size() > kMostDimensions ||
        !isComputable(tensor.spec.dtype))
        return false;
    note(tensor.spec.dtype);
    code_.stores.push_back({tensor, {tensor.spec.dtype, tensor.data.get(), tensor.spec.stride}, value});
    return true;
}

/// Walks memory in the order of the first result and joins dimensions that are one run for every operand.
void TileProgram::mergeDimensions(Code& code) {
    const auto each = [&](auto use) {
        for (Operand& item : code.loads)
            use(item.source.stride);
        for (Operand& item : code.stores)
            use(item.source.stride);
    };
    std::vector<size_t> order(code.shape.size());
    std::iota(order.begin(), order.end(), size_t{0});
    if (!code.stores.empty()) {
        const std::vector<int64_t> by = code.stores.front().source.stride;
        std::stable_sort(order.begin(), order.end(), [&](size_t x, size_t y) { return by[x] > by[y]; });
    }
    std::erase_if(order, [&](size_t d) { return code.shape[d] == 1; });
    std::vector<std::vector<size_t>> groups;
    for (const size_t d : order) {
        bool joins = !groups.empty();
        if (joins) {
            const size_t before = groups.back().back();
            each([&](const std::vector<int64_t>& stride) {
                joins = joins && stride[before] == stride[d] * code.shape[d];
            });
        }
        if (joins)
            groups.back().push_back(d);
        else
            groups.push_back({d});
    }
    each([&](std::vector<int64_t>& stride) {
        std::vector<int64_t> merged;
        for (const std::vector<size_t>& group : groups)
            merged.push_back(stride[group.back()]);
        stride = std::move(merged);
    });
    std::vector<int64_t> shape;
    for (const std::vector<size_t>& group : groups) {
        int64_t size = 1;
        for (const size_t d : group)
            size *= code.shape[d];
        shape.push_back(size);
    }
    code.shape = std::move(shape);
}

template <typename T>
void TileProgram::run(const Code& code) {
    int64_t count = 1;
    for (const int64_t size : code.shape)
        count *= size;
    const int64_t tiles = (count + kTile - 1) / kTile;
    // Threads only where each has some tiles: waking them costs microseconds.
#pragma omp parallel if (tiles >= 32)
    {
        std::vector<T> registers(static_cast<size_t>(code.registers) * kTile);
        const auto reg = [&](int32_t index) { return registers.data() + int64_t{index} * kTile; };
        for (const Constant& item : code.constants)
            std::fill_n(reg(item.reg), kTile, static_cast<T>(item.value));
#pragma omp for schedule(static)
        for (int64_t tile = 0; tile < tiles; ++tile) {
            const int64_t begin = tile * kTile;
            const int64_t n = std::min(kTile, count - begin);
            for (const Operand& item : code.loads)
                loadTile(item.source, code.shape, begin, n, reg(item.reg));
            for (const TileStep& step : code.steps)
                applyTile(step.op, reg(step.a), reg(step.b), reg(step.c), step.p, reg(step.out), n);
            for (const Operand& item : code.stores)
                storeTile(item.source, code.shape, begin, n, reg(item.reg));
        }
    }
}

std::function<void()> TileProgram::finish() {
    code_.shape = shape_;
    if (std::find(shape_.begin(), shape_.end(), 0) != shape_.end())
        return [] {};
    mergeDimensions(code_);
    if (wide_)
        return [code = std::move(code_)] { run<double>(code); };
    return [code = std::move(code_)] { run<float>(code); };
}

} // namespace gs::host

#include "rows.h"

#include "shapes.h"
#include "tile_program.h"

#include <algorithm>
#include <omp.h>

namespace gs::host {

namespace {

/// Dimensions of a box and the strides of two tensors over it.
struct Box {
    std::vector<int64_t> shape;
    std::vector<int64_t> in, out;

    int64_t count() const {
        int64_t all = 1;
        for (const int64_t size : shape)
            all *= size;
        return all;
    }
    void offsets(int64_t index, int64_t& in_offset, int64_t& out_offset) const {
        in_offset = out_offset = 0;
        for (size_t d = shape.size(); d-- > 0;) {
            const int64_t at = index % shape[d];
            index /= shape[d];
            in_offset += at * in[d];
            out_offset += at * out[d];
        }
    }
};

struct ReducePlan {
    Tensor from, to;
    Box kept, reduced;
    Combine how = Combine::Sum;
    double start = 0, scale = 1;
    bool truth = false;

    TileSource sourceAt(int64_t offset, const Box& box) const {
        return {from.spec.dtype, from.at(offset), box.in};
    }
};

template <typename T>
void loadOperands(const ReducePlan& plan, const TileSource& source, const Box& box, int64_t begin, int64_t n,
                  T* out) {
    loadTile(source, box.shape, begin, n, out);
    if (plan.truth)
        applyTile(TileOp::NotZero, out, out, out, 0, out, n);
}

/// Terms of one result lie next to each other: lanes of a tile are partial results. `part` of `parts` does
/// its share of the terms.
template <typename T>
double reduceTerms(const ReducePlan& plan, int64_t base, int64_t part, int64_t parts) {
    T tile[kTile], lanes[kTile];
    std::fill_n(lanes, kTile, static_cast<T>(plan.start));
    const TileSource source = plan.sourceAt(base, plan.reduced);
    const int64_t terms = plan.reduced.count();
    const int64_t tiles = (terms + kTile - 1) / kTile;
    for (int64_t t = tiles * part / parts; t < tiles * (part + 1) / parts; ++t) {
        const int64_t n = std::min(kTile, terms - t * kTile);
        loadOperands(plan, source, plan.reduced, t * kTile, n, tile);
        combineTile(plan.how, tile, lanes, n);
    }
    for (int64_t width = kTile / 2; width > 0; width /= 2)
        combineTile(plan.how, lanes + width, lanes, width);
    return static_cast<double>(lanes[0]);
}

template <typename T>
void reduceAcross(const ReducePlan& plan) {
    const int64_t results = plan.kept.count();
    const int threads = omp_get_max_threads();
    if (results < threads) { // the terms of each are shared
        for (int64_t r = 0; r < results; ++r) {
            int64_t in = 0, out = 0;
            plan.kept.offsets(r, in, out);
            std::vector<double> parts(static_cast<size_t>(threads), plan.start);
#pragma omp parallel for schedule(static) if (plan.reduced.count() > 32 * kTile)
            for (int p = 0; p < threads; ++p)
                parts[static_cast<size_t>(p)] = reduceTerms<T>(plan, in, p, threads);
            for (size_t p = 1; p < parts.size(); ++p)
                combineTile(plan.how, &parts[p], &parts[0], 1);
            writeElement(plan.to.spec.dtype, plan.to.at(out), parts[0] * plan.scale);
        }
        return;
    }
#pragma omp parallel for schedule(static) if (results * plan.reduced.count() > 32 * kTile)
    for (int64_t r = 0; r < results; ++r) {
        int64_t in = 0, out = 0;
        plan.kept.offsets(r, in, out);
        writeElement(plan.to.spec.dtype, plan.to.at(out), reduceTerms<T>(plan, in, 0, 1) * plan.scale);
    }
}

/// Results lie next to each other in the input: tiles of results take one term after another.
template <typename T>
void reduceDown(const ReducePlan& plan) {
    const int64_t results = plan.kept.count(), terms = plan.reduced.count();
    const int64_t tiles = (results + kTile - 1) / kTile;
    const TileSource to{plan.to.spec.dtype, plan.to.data.get(), plan.kept.out};
#pragma omp parallel for schedule(static) if (results * terms > 32 * kTile)
    for (int64_t t = 0; t < tiles; ++t) {
        T tile[kTile], sums[kTile];
        std::fill_n(sums, kTile, static_cast<T>(plan.start));
        const int64_t n = std::min(kTile, results - t * kTile);
        for (int64_t term = 0; term < terms; ++term) {
            int64_t in = 0, out = 0;
            plan.reduced.offsets(term, in, out);
            loadOperands(plan, plan.sourceAt(in, plan.kept), plan.kept, t * kTile, n, tile);
            combineTile(plan.how, tile, sums, n);
        }
        for (int64_t i = 0; i < n; ++i)
            sums[i] *= static_cast<T>(plan.scale);
        storeTile(to, plan.kept.shape, t * kTile, n, sums);
    }
}

} // namespace

Body reduceLoop(const Tensor& in, const Tensor& out, Combine how, double start, double scale, bool truth) {
    if (out.spec.numel() == 0)
        return [] {};
    ReducePlan plan{in, out, {}, {}, how, start, scale, truth};
    int64_t least = 0;
    bool down = false; // whether the dimension next to each other in memory is kept
    for (size_t d = 0; d < in.rank(); ++d) {
        const bool reduced = out.spec.shape[d] != in.spec.shape[d];
        if (in.spec.shape[d] == 1 && !reduced)
            continue;
        Box& box = reduced ? plan.reduced : plan.kept;
        box.shape.push_back(in.spec.shape[d]);
        box.in.push_back(in.spec.stride[d]);
        box.out.push_back(reduced ? 0 : out.spec.stride[d]);
        if (in.spec.stride[d] > 0 && (least == 0 || in.spec.stride[d] <= least)) {
            least = in.spec.stride[d];
            down = !reduced;
        }
    }
    if (isWide(in.spec.dtype) || isWide(out.spec.dtype))
        return down ? Body([plan] { reduceDown<double>(plan); })
                    : Body([plan] { reduceAcross<double>(plan); });
    return down ? Body([plan] { reduceDown<float>(plan); }) : Body([plan] { reduceAcross<float>(plan); });
}

Result<Body> rowLoop(std::vector<Tensor> in, std::vector<Tensor> out, size_t axis,
                     std::function<void(const Rows& row, int64_t n)> f) {
    for (const std::vector<Tensor>& side : {in, out}) {
        for (const Tensor& tensor : side) {
            if (!sameBut(in.front(), tensor, axis))
                return notSupported("the rows of its arguments and results disagree");
        }
    }
    int64_t rows = 1;
    const std::vector<int64_t> shape = in.front().spec.shape;
    for (size_t d = 0; d < shape.size(); ++d)
        rows *= d == axis ? 1 : shape[d];
    const auto offsetOf = [shape, axis](const Tensor& tensor, int64_t row) {
        int64_t offset = 0;
        for (size_t d = shape.size(); d-- > 0;) {
            if (d == axis)
                continue;
            offset += row % shape[d] * tensor.spec.stride[d];
            row /= shape[d];
        }
        return offset;
    };
    return Body([=, in = std::move(in), out = std::move(out), f = std::move(f)] {
#pragma omp parallel if (rows > 1)
        {
            std::vector<std::vector<double>> buffers;
            Rows row;
            for (const Tensor& tensor : in)
                buffers.emplace_back(static_cast<size_t>(tensor.spec.shape[axis]));
            for (const Tensor& tensor : out)
                buffers.emplace_back(static_cast<size_t>(tensor.spec.shape[axis]));
            for (size_t i = 0; i < buffers.size(); ++i)
                (i < in.size() ? row.in : row.out).push_back(buffers[i].data());
#pragma omp for schedule(static)
            for (int64_t r = 0; r < rows; ++r) {
                for (size_t i = 0; i < in.size(); ++i)
                    loadRow(in[i].spec.dtype, in[i].at(offsetOf(in[i], r)), in[i].spec.stride[axis],
                            row.in[i], in[i].spec.shape[axis]);
                f(row, in.front().spec.shape[axis]);
                for (size_t i = 0; i < out.size(); ++i)
                    storeRow(out[i].spec.dtype, row.out[i], out[i].at(offsetOf(out[i], r)),
                             out[i].spec.stride[axis], out[i].spec.shape[axis]);
            }
        }
    });
}

} // namespace gs::host

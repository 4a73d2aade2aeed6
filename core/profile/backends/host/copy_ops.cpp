// Operators that fill, or move blocks of memory, and those that do nothing at run time.
#include "dnnl_ops.h"
#include "shapes.h"
#include "tile_program.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <numeric>

namespace gs::host {

namespace {

Result<Body> makeNothing(OpCall&) {
    return Body{};
}

/// `tensor` from `start` on along `dim`, `length` elements `step` apart.
Tensor sliceOf(const Tensor& tensor, size_t dim, int64_t start, int64_t length, int64_t step = 1) {
    Tensor slice = tensor;
    slice.spec.shape[dim] = length;
    slice.spec.stride[dim] = tensor.spec.stride[dim] * step;
    if (tensor.data && length > 0)
        slice.data = std::shared_ptr<std::byte>(tensor.data, tensor.at(start * tensor.spec.stride[dim]));
    return slice;
}

std::optional<Body> copyLoop(const Tensor& from, const Tensor& to) {
    TileProgram program(to.spec.shape);
    const int32_t value = program.load(from);
    if (!program.store(value, to))
        return std::nullopt;
    return program.finish();
}

std::optional<Body> fillLoop(const Tensor& to, double number) {
    TileProgram program(to.spec.shape);
    if (!program.store(program.constant(number), to))
        return std::nullopt;
    return program.finish();
}

Result<Body> inOrder(std::vector<std::optional<Body>> parts) {
    for (const std::optional<Body>& part : parts) {
        if (!part)
            return notSupported("the types or shapes of this copy are not known");
    }
    return Body([parts = std::move(parts)] {
        for (const std::optional<Body>& part : parts)
            (*part)();
    });
}

Result<Body> makeFill(OpCall& call) {
    if (call.outputs.size() != 1)
        return notSupported("this form of a fill is not known");
    double number = 0;
    if (call.name.starts_with("ones") || call.name == "new_ones")
        number = 1;
    if (call.name == "full" || call.name == "full_like" || call.name == "fill")
        number = call.number(1, "fill_value").value_or(call.number(1, "value").value_or(0));
    if (call.name == "new_full")
        number = call.number(2, "fill_value").value_or(0);
    if (call.name == "scalar_tensor")
        number = call.number(0, "s").value_or(0);
    return inOrder({fillLoop(call.out(), number)});
}

/// arange(end), arange(start, end), arange(start, end, step), iota(length, start=, step=).
Result<Body> makeArange(OpCall& call) {
    double start = 0, step = 1;
    if (call.name == "iota") {
        start = call.number(99, "start").value_or(0);
        step = call.number(99, "step").value_or(1);
    } else if (call.number(1)) {
        start = call.number(0).value_or(0);
        step = call.number(2, "step").value_or(1);
    }
    if (call.outputs.size() != 1 || call.out().rank() != 1)
        return notSupported("this form of a range is not known");
    return Body([out = call.out(), start, step] {
        for (int64_t i = 0; i < out.spec.shape[0]; ++i)
            writeElement(out.spec.dtype, out.at(i * out.spec.stride[0]),
                         start + step * static_cast<double>(i));
    });
}

Result<Body> makeCat(OpCall& call) {
    const std::vector<const Tensor*> parts = call.tensorList(0);
    if (parts.empty() || call.outputs.size() != 1 || call.out().rank() == 0)
        return notSupported("this form of a concatenation is not known");
    const std::optional<size_t> dim = dimensionOf(call.integer(1, "dim", 0), call.out().rank());
    if (!dim)
        return notSupported("it joins along a dimension that is not there");
    // PyTorch lets [0] pass for an empty tensor of any rank.
    const auto skipped = [&](const Tensor& part) {
        return part.spec.shape == std::vector<int64_t>{0} && call.out().rank() != 1;
    };
    int64_t total = 0;
    for (const Tensor* part : parts) {
        if (!part || (!skipped(*part) && !sameBut(*part, call.out(), *dim)))
            return notSupported("a part of a concatenation does not fit the result");
        total += skipped(*part) ? 0 : part->spec.shape[*dim];
    }
    if (total != call.out().spec.shape[*dim])
        return notSupported("the parts do not add up to the result");
    if (std::optional<Body> body = dnnlConcat(parts, call.out(), *dim))
        return *std::move(body);
    std::vector<std::optional<Body>> copies;
    int64_t start = 0;
    for (const Tensor* part : parts) {
        if (skipped(*part))
            continue;
        const int64_t length = part->spec.shape[*dim];
        copies.push_back(copyLoop(*part, sliceOf(call.out(), *dim, start, length)));
        start += length;
    }
    return inOrder(std::move(copies));
}

constexpr int64_t kMostPadding = int64_t{1} << 48; ///< so that sums of sizes do not overflow

/// (x, pads from the last dimension on, value)
Result<Body> makePad(OpCall& call) {
    const Tensor* in = call.tensor(0);
    const std::vector<int64_t> pads = call.integers(1, "pad");
    if (!in || call.outputs.size() != 1 || pads.size() > 2 * in->rank() || in->rank() != call.out().rank())
        return notSupported("this form of padding is not known");
    Tensor from = *in, to = call.out();
    for (size_t d = 0; d < in->rank(); ++d) {
        const size_t i = 2 * (in->rank() - 1 - d);
        const int64_t before = i + 1 < pads.size() ? pads[i] : 0,
                      after = i + 1 < pads.size() ? pads[i + 1] : 0;
        if (std::max(before, after) > kMostPadding || std::min(before, after) < -kMostPadding ||
            to.spec.shape[d] != from.spec.shape[d] + before + after)
            return notSupported("padding and shapes disagree");
    }
    for (size_t i = 0; i + 1 < pads.size(); i += 2) {
        const size_t dim = in->rank() - 1 - i / 2;
        const int64_t before = pads[i];
        const int64_t length = std::min(in->spec.shape[dim] + std::min<int64_t>(before, 0),
                                        to.spec.shape[dim] - std::max<int64_t>(before, 0));
        if (length < 0)
            return notSupported("padding cuts more than there is");
        from = sliceOf(from, dim, std::max<int64_t>(-before, 0), length);
        to = sliceOf(to, dim, std::max<int64_t>(before, 0), length);
    }
    return inOrder({fillLoop(call.out(), call.number(2, "value").value_or(0)), copyLoop(from, to)});
}

/// slice_backward: (gradient, sizes, dim, start, end, step); select_backward: (gradient, sizes, dim, index).
Result<Body> makeBackwardOfSlice(OpCall& call) {
    const Tensor* gradient = call.tensor(0);
    if (!gradient || call.outputs.size() != 1 || call.out().rank() == 0)
        return notSupported("this form of a slice is not known");
    const std::optional<size_t> stated = dimensionOf(call.integer(2, "dim", 0), call.out().rank());
    if (!stated)
        return notSupported("it slices a dimension that is not there");
    const size_t dim = *stated;
    const int64_t size = call.out().spec.shape[dim];
    int64_t start = call.integer(3, "start", 0);
    if (call.name == "select_backward") {
        const std::optional<size_t> index = dimensionOf(start, static_cast<size_t>(size));
        if (!index)
            return notSupported("it selects what is not there");
        Tensor to = sliceOf(call.out(), dim, static_cast<int64_t>(*index), 1);
        to.spec.shape.erase(to.spec.shape.begin() + static_cast<std::ptrdiff_t>(dim));
        to.spec.stride.erase(to.spec.stride.begin() + static_cast<std::ptrdiff_t>(dim));
        if (!sameShape(*gradient, to))
            return notSupported("the gradient is not of the selected shape");
        return inOrder({fillLoop(call.out(), 0), copyLoop(*gradient, to)});
    }
    if (!sameBut(*gradient, call.out(), dim))
        return notSupported("the gradient is not of the slice's shape");
    start = std::clamp<int64_t>(start < 0 ? start + size : start, 0, size);
    const int64_t step = std::max<int64_t>(call.integer(5, "step", 1), 1);
    const int64_t length = gradient->spec.shape[dim];
    if (length > 0 && (start >= size || length - 1 > (size - 1 - start) / step))
        return notSupported("the slice reaches beyond the tensor");
    return inOrder(
        {fillLoop(call.out(), 0), copyLoop(*gradient, sliceOf(call.out(), dim, start, length, step))});
}

} // namespace

Maker copyMaker(const std::string& name) {
    static const std::map<std::string, Maker> kMakers = [] {
        std::map<std::string, Maker> makers = {{"cat", makeCat},
                                               {"constant_pad_nd", makePad},
                                               {"slice_backward", makeBackwardOfSlice},
                                               {"select_backward", makeBackwardOfSlice},
                                               {"arange", makeArange},
                                               {"iota", makeArange}};
        for (const char* fill : {"zeros_like", "ones_like", "full", "full_like", "new_zeros", "zeros", "ones",
                                 "new_ones", "new_full", "scalar_tensor", "fill", "zero"})
            makers[fill] = makeFill;
        // A name for memory, or a number that the host knows: no work on the device.
        for (const char* free :
             {"_unsafe_view", "view",          "reshape",  "transpose", "chunk",   "flatten",
              "detach",       "alias",         "sym_size", "sym_numel", "empty",   "new_empty",
              "empty_like",   "empty_strided", "permute",  "unsqueeze", "squeeze", "expand",
              "select",       "slice",         "split",    "unbind",    "size",    "unflatten"})
            makers[free] = makeNothing;
        return makers;
    }();
    const auto found = kMakers.find(name);
    return found == kMakers.end() ? nullptr : found->second;
}

} // namespace gs::host

#include "support/node_reference_call.h"

#include <algorithm>
#include <functional>
#include <unordered_map>

namespace gs::test {

namespace {

using Place = std::vector<int64_t>;

/// The next place in row-major order; the first one after the last.
void toNext(const std::vector<int64_t>& shape, Place& place) {
    for (size_t d = shape.size(); d-- > 0;) {
        if (++place[d] < shape[d])
            return;
        place[d] = 0;
    }
}

int64_t flatOf(const std::vector<int64_t>& shape, const Place& place) {
    int64_t flat = 0;
    for (size_t d = 0; d < shape.size(); ++d)
        flat = flat * shape[d] + place[d];
    return flat;
}

size_t dimOf(int64_t dim, const RefTensor& of) {
    return static_cast<size_t>(dim < 0 ? dim + static_cast<int64_t>(of.shape.size()) : dim);
}

/// Result element at a place = element of the first argument at the place that `from` makes of it (flat), or
/// `filling` where that is negative.
bool moved(const RefCall& call, const std::function<int64_t(const Place&)>& from, double filling = 0,
           size_t item = 0) {
    const RefTensor* x = call.tensor(0);
    RefTensor out = call.result(item);
    const size_t parts = out.dtype == DType::Complex64 ? 2 : 1;
    const int64_t count = out.numel();
    Place place(out.shape.size());
    for (int64_t i = 0; i < count; ++i, toNext(out.shape, place)) {
        const int64_t at = from(place);
        for (size_t part = 0; part < parts; ++part)
            out.data[static_cast<size_t>(i) * parts + part] =
                at < 0 ? filling : x->data[static_cast<size_t>(at) * parts + part];
    }
    call.give(item, std::move(out));
    return true;
}

bool same(const RefCall& call) {
    const RefTensor* x = call.tensor(0);
    if (!x)
        return false;
    RefTensor out = call.result();
    out.data = x->data;
    call.give(0, std::move(out));
    return true;
}

bool permuted(const RefCall& call) {
    const RefTensor* x = call.tensor(0);
    if (!x)
        return false;
    const std::string_view target = call.graph.targetText(call.node);
    Place order(x->shape.size());
    for (size_t d = 0; d < order.size(); ++d)
        order[d] = static_cast<int64_t>(d);
    if (target.starts_with("aten.permute")) {
        order = call.list(1);
    } else if (target.starts_with("aten.t.")) {
        std::reverse(order.begin(), order.end());
    } else {
        std::swap(order[dimOf(call.list(1)[0], *x)], order[dimOf(call.list(2)[0], *x)]);
    }
    return moved(call, [&](const Place& place) {
        Place from(place.size());
        for (size_t d = 0; d < place.size(); ++d)
            from[dimOf(order[d], *x)] = place[d];
        return flatOf(x->shape, from);
    });
}

bool expanded(const RefCall& call) {
    const RefTensor* x = call.tensor(0);
    if (!x)
        return false;
    const RefTensor out = call.result();
    return moved(call, [&](const Place& place) {
        return broadcastOffset(x->shape, out.shape, flatOf(out.shape, place));
    });
}

bool sliced(const RefCall& call) {
    const RefTensor* x = call.tensor(0);
    if (!x)
        return false;
    const size_t dim = dimOf(static_cast<int64_t>(call.number(1, "dim", 0)), *x);
    auto start = static_cast<int64_t>(call.number(2, "start", 0));
    start = std::clamp<int64_t>(start < 0 ? start + x->shape[dim] : start, 0, x->shape[dim]);
    const auto step = static_cast<int64_t>(call.number(4, "step", 1));
    return moved(call, [&](Place place) {
        place[dim] = start + place[dim] * step;
        return flatOf(x->shape, place);
    });
}

bool selected(const RefCall& call) {
    const RefTensor* x = call.tensor(0);
    if (!x)
        return false;
    const size_t dim = dimOf(static_cast<int64_t>(call.number(1, "dim", 0)), *x);
    auto index = static_cast<int64_t>(call.number(2, "index", 0));
    index = index < 0 ? index + x->shape[dim] : index;
    return moved(call, [&](Place place) {
        place.insert(place.begin() + static_cast<std::ptrdiff_t>(dim), index);
        return flatOf(x->shape, place);
    });
}

bool divided(const RefCall& call) {
    const RefTensor* x = call.tensor(0);
    if (!x)
        return false;
    const size_t dim = dimOf(static_cast<int64_t>(call.number(2, "dim", 0)), *x);
    int64_t start = 0;
    const size_t count = call.graph.value(call.node).items.size();
    for (size_t item = 0; item < count; ++item) {
        moved(
            call,
            [&](Place place) {
                place[dim] += start;
                return flatOf(x->shape, place);
            },
            0, item);
        start += call.result(item).shape[dim];
    }
    return true;
}

bool item(const RefCall& call) {
    const Arg* source = call.graph.arg(call.node, 0);
    const auto index = static_cast<size_t>(call.number(1, "", 0));
    const RefTensor* x = source ? call.reference.value(source->node(), index) : nullptr;
    if (x)
        call.reference.set(call.node, 0, *x);
    return x;
}

bool parts(const RefCall& call) { // both ways: the parts lie side by side already
    return same(call);
}

bool conjugated(const RefCall& call) {
    const RefTensor* x = call.tensor(0);
    if (!x)
        return false;
    RefTensor out = *x;
    for (size_t i = 1; x->dtype == DType::Complex64 && i < out.data.size(); i += 2)
        out.data[i] = -out.data[i];
    call.give(0, std::move(out));
    return true;
}

bool joined(const RefCall& call) {
    const Arg* list = call.graph.arg(call.node, 0);
    RefTensor out = call.result();
    const auto rank = static_cast<int64_t>(out.shape.size());
    auto dim = static_cast<int64_t>(call.number(1, "dim", 0));
    dim = dim < 0 ? dim + rank : dim;
    int64_t start = 0;
    for (const Arg& arg : call.graph.children(*list)) {
        const RefTensor* x = call.reference.value(arg.node());
        if (!x || x->dtype == DType::Complex64)
            return false;
        const int64_t count = x->numel();
        Place from(x->shape.size());
        for (int64_t i = 0; i < count; ++i, toNext(x->shape, from)) {
            Place place = from;
            place[static_cast<size_t>(dim)] += start;
            out.data[static_cast<size_t>(flatOf(out.shape, place))] = x->data[static_cast<size_t>(i)];
        }
        start += x->numel() > 0 ? x->shape[static_cast<size_t>(dim)] : 0;
    }
    call.give(0, std::move(out));
    return true;
}

bool padded(const RefCall& call) {
    const RefTensor* x = call.tensor(0);
    if (!x)
        return false;
    const std::vector<int64_t> amounts = call.list(1);
    return moved(
        call,
        [&](Place place) -> int64_t {
            for (size_t i = 0; i + 1 < amounts.size(); i += 2) {
                const size_t dim = place.size() - 1 - i / 2;
                place[dim] -= amounts[i];
                if (place[dim] < 0 || place[dim] >= x->shape[dim])
                    return -1;
            }
            return flatOf(x->shape, place);
        },
        call.number(2, "value", 0));
}

bool unsliced(const RefCall& call) {
    const RefTensor* x = call.tensor(0);
    if (!x)
        return false;
    const size_t dim = dimOf(static_cast<int64_t>(call.number(2, "dim", 0)), *x);
    auto start = static_cast<int64_t>(call.number(3, "start", 0));
    start = start < 0 ? start + call.result().shape[dim] : start;
    return moved(call, [&](Place place) -> int64_t {
        place[dim] -= start;
        return place[dim] < 0 || place[dim] >= x->shape[dim] ? -1 : flatOf(x->shape, place);
    });
}

bool gathered(const RefCall& call) {
    const RefTensor* x = call.tensor(0);
    const RefTensor* index = call.tensor(2);
    if (!x || !index)
        return false;
    const size_t dim = dimOf(static_cast<int64_t>(call.number(1, "dim", 0)), *x);
    return moved(call, [&](Place place) {
        place[dim] = static_cast<int64_t>(index->data[static_cast<size_t>(flatOf(index->shape, place))]);
        return flatOf(x->shape, place);
    });
}

/// embedding(weight, indices) and index_select(self, dim, index)
bool taken(const RefCall& call) {
    const bool embeds = call.graph.targetText(call.node).starts_with("aten.embedding");
    const RefTensor* x = call.tensor(0);
    const RefTensor* index = call.tensor(embeds ? 1 : 2);
    if (!x || !index)
        return false;
    const size_t dim = embeds ? 0 : dimOf(static_cast<int64_t>(call.number(1, "dim", 0)), *x);
    const size_t rank = index->shape.size();
    return moved(call, [&](const Place& place) {
        const auto first = place.begin() + static_cast<std::ptrdiff_t>(dim);
        const auto last = first + static_cast<std::ptrdiff_t>(rank);
        Place from(place.begin(), first);
        from.push_back(
            static_cast<int64_t>(index->data[static_cast<size_t>(flatOf(index->shape, Place(first, last)))]));
        from.insert(from.end(), last, place.end());
        return flatOf(x->shape, from);
    });
}

} // namespace

RefLoop movementLoop(std::string_view packet) {
    static const std::unordered_map<std::string_view, RefLoop> kLoops = {
        {"aten.view", same},
        {"aten.reshape", same},
        {"aten._unsafe_view", same},
        {"aten.alias", same},
        {"aten.squeeze", same},
        {"aten.unsqueeze", same},
        {"aten.detach", same},
        {"aten.t", permuted},
        {"aten.transpose", permuted},
        {"aten.permute", permuted},
        {"aten.expand", expanded},
        {"aten.slice", sliced},
        {"aten.select", selected},
        {"aten.split", divided},
        {"aten.split_with_sizes", divided},
        {"operator.getitem", item},
        {"aten.view_as_complex", parts},
        {"aten.view_as_real", parts},
        {"aten._conj", conjugated},
        {"aten.cat", joined},
        {"aten.constant_pad_nd", padded},
        {"aten.slice_backward", unsliced},
        {"aten.gather", gathered},
        {"aten.embedding", taken},
        {"aten.index_select", taken},
    };
    auto found = kLoops.find(packet);
    return found == kLoops.end() ? nullptr : found->second;
}

} // namespace gs::test

#include "support/tiny_tensor.h"

#include <numeric>
#include <stdexcept>

namespace gs::test {

namespace {

int64_t product(const std::vector<int64_t>& sizes, size_t begin, size_t end) {
    return std::accumulate(sizes.begin() + static_cast<ptrdiff_t>(begin),
                           sizes.begin() + static_cast<ptrdiff_t>(end), int64_t{1}, std::multiplies<>());
}

int64_t intArg(const Graph& graph, NodeId id, size_t index) {
    return graph.arg(id, index)->integer;
}

/// One rank's values: a tensor, or a list of them.
using Values = std::vector<std::vector<TinyTensor>>;

TinyTensor pad(const Graph& graph, NodeId id, TinyTensor tensor) {
    const auto widths = graph.children(*graph.arg(id, 1));
    for (size_t pair = 0; 2 * pair < widths.size(); ++pair) {
        const size_t dim = tensor.shape.size() - 1 - pair;
        for (size_t side = 0; side < 2; ++side) {
            TinyTensor zeros{tensor.shape, {}};
            zeros.shape[dim] = widths[2 * pair + side].integer;
            zeros.data.assign(static_cast<size_t>(product(zeros.shape, 0, zeros.shape.size())), 0);
            tensor = side == 0 ? concatenate({zeros, tensor}, dim) : concatenate({tensor, zeros}, dim);
        }
    }
    return tensor;
}

std::vector<TinyTensor> evaluateLocal(const Graph& graph, NodeId id, const Values& values) {
    const std::string_view target = graph.targetText(id);
    const auto& input = values[graph.inputs(id).front()];
    if (target == "aten._to_copy.default" || target == "_c10d_functional.wait_tensor.default")
        return input;
    if (target == "aten.constant_pad_nd.default")
        return {pad(graph, id, input.front())};
    if (target == "aten.slice.Tensor")
        return {sliceAlong(input.front(), static_cast<size_t>(intArg(graph, id, 1)), intArg(graph, id, 2),
                           intArg(graph, id, 3))};
    if (target == "operator.getitem")
        return {input.at(static_cast<size_t>(intArg(graph, id, 1)))};
    if (target == "aten.split_with_sizes.default") {
        std::vector<TinyTensor> pieces;
        int64_t at = 0;
        for (const Arg& size : graph.children(*graph.arg(id, 1))) {
            pieces.push_back(sliceAlong(input.front(), 0, at, at + size.integer));
            at += size.integer;
        }
        return pieces;
    }
    if (target == "aten.cat.default") {
        std::vector<TinyTensor> parts;
        for (NodeId part : graph.inputs(id))
            parts.push_back(values[part].front());
        return {concatenate(parts, static_cast<size_t>(intArg(graph, id, 1)))};
    }
    throw std::runtime_error("no rule for " + std::string(target));
}

} // namespace

TinyTensor countingTensor(std::vector<int64_t> shape) {
    TinyTensor tensor{std::move(shape), {}};
    tensor.data.resize(static_cast<size_t>(product(tensor.shape, 0, tensor.shape.size())));
    std::iota(tensor.data.begin(), tensor.data.end(), int64_t{0});
    return tensor;
}

TinyTensor sliceAlong(const TinyTensor& tensor, size_t dim, int64_t begin, int64_t end) {
    const int64_t outer = product(tensor.shape, 0, dim);
    const int64_t inner = product(tensor.shape, dim + 1, tensor.shape.size());
    TinyTensor out{tensor.shape, {}};
    end = std::min(end, tensor.shape[dim]);
    begin = std::min(begin, end);
    out.shape[dim] = end - begin;
    for (int64_t i = 0; i < outer; ++i) {
        const auto row = tensor.data.begin() + (i * tensor.shape[dim] + begin) * inner;
        out.data.insert(out.data.end(), row, row + (end - begin) * inner);
    }
    return out;
}

TinyTensor concatenate(const std::vector<TinyTensor>& parts, size_t dim) {
    TinyTensor out{parts.front().shape, {}};
    out.shape[dim] = 0;
    for (const TinyTensor& part : parts)
        out.shape[dim] += part.shape[dim];
    for (int64_t i = 0; i < product(out.shape, 0, dim); ++i) {
        for (const TinyTensor& part : parts) {
            const int64_t row = product(part.shape, dim, part.shape.size());
            out.data.insert(out.data.end(), part.data.begin() + i * row, part.data.begin() + (i + 1) * row);
        }
    }
    return out;
}

std::vector<TinyTensor> runLockstep(const std::vector<GraphPtr>& graphs,
                                    const std::vector<TinyTensor>& locals) {
    const size_t ranks = graphs.size();
    std::vector<Values> values(ranks, Values(graphs.front()->size()));
    std::vector<TinyTensor> results;
    for (NodeId id = 0; id < graphs.front()->size(); ++id) {
        for (size_t rank = 0; rank < ranks; ++rank) {
            const Graph& graph = *graphs[rank];
            if (graph.targetText(id) == "to_local") {
                values[rank][id] = {locals[rank]};
            } else if (graph.node(id).kind == NodeKind::Launch) {
                const GroupId group = graph.findGroup(graph.text(graph.arg(id, 2)->text));
                std::vector<TinyTensor> shards;
                for (int32_t member : graph.groups()[group].ranks)
                    shards.push_back(values[static_cast<size_t>(member)][graph.inputs(id).front()].front());
                for (const TinyTensor& shard : shards) {
                    if (shard.shape != shards.front().shape)
                        throw std::runtime_error("the ranks of a gather bring different shapes");
                }
                values[rank][id] = {concatenate(shards, 0)};
            } else if (graph.node(id).kind == NodeKind::Output) {
                results.push_back(values[rank][graph.inputs(id).front()].front());
            } else if (graph.node(id).op != NodeOp::Placeholder) {
                values[rank][id] = evaluateLocal(graph, id, values[rank]);
            }
        }
    }
    return results;
}

} // namespace gs::test

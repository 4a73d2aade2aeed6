#include "graph/structural_hash.h"

#include "base/hash.h"

#include <array>
#include <cstring>

namespace gs {

namespace {

class WordHash {
public:
    void mix(uint64_t word) { state_ = (state_ ^ word) * 0x100000001b3ULL; }
    void mixText(std::string_view text) { mix(Hash64().bytes(text).value()); }
    uint64_t value() const { return state_; }

private:
    uint64_t state_ = 0xcbf29ce484222325ULL;
};

/// Hashes of texts, each computed when it is first needed: most texts of a graph are names, which never
/// enter.
class TextHashes {
public:
    explicit TextHashes(const Graph& graph) : graph_(graph), known_(graph.strings().size(), 0) {}
    uint64_t of(StringId id) {
        if (known_[id] == 0)
            known_[id] = Hash64().bytes(graph_.text(id)).value();
        return known_[id];
    }

private:
    const Graph& graph_;
    std::vector<uint64_t> known_; ///< 0 = not computed yet
};

void mixTensor(WordHash& hash, const TensorMeta& tensor, ValueHash what) {
    hash.mixText(dtypeName(tensor.dtype));
    hash.mix(tensor.shape.size());
    for (const Dim& dim : tensor.shape) {
        hash.mix(static_cast<uint64_t>(dim.value));
        if (what == ValueHash::WithSymbols)
            hash.mix(dim.symbol);
    }
    if (what == ValueHash::Structure)
        return;
    hash.mix(tensor.device);
    hash.mix(tensor.has_stride ? 1 : 0);
    for (const Dim& dim : tensor.stride) {
        hash.mix(static_cast<uint64_t>(dim.value));
        hash.mix(dim.symbol);
    }
}

void mixValue(WordHash& hash, const Value& value, ValueHash what) {
    if (what == ValueHash::WithSymbols) {
        hash.mix(static_cast<uint64_t>(value.kind));
        hash.mix(value.text);
        uint64_t bits = 0;
        std::memcpy(&bits, &value.number, sizeof bits);
        hash.mix(bits);
    }
    if (value.kind == Value::Kind::Tensor)
        mixTensor(hash, value.tensor, what);
    for (const Value& item : value.items)
        mixValue(hash, item, what);
}

void mixArg(WordHash& hash, const Graph& graph, const Arg& arg, TextHashes& texts) {
    switch (arg.kind) {
    case Arg::Kind::None:
        hash.mix(0);
        break;
    case Arg::Kind::Node: // by inputs
        break;
    case Arg::Kind::Int:
    case Arg::Kind::Bool:
    case Arg::Kind::Symbol:
    case Arg::Kind::Float: {
        uint64_t bits = 0;
        std::memcpy(&bits, &arg.integer, sizeof bits);
        hash.mix(bits);
        break;
    }
    case Arg::Kind::Device:
        break;
    case Arg::Kind::List:
    case Arg::Kind::Dict:
    case Arg::Kind::Slice:
        for (const Arg& child : graph.children(arg))
            mixArg(hash, graph, child, texts);
        break;
    default:
        hash.mix(texts.of(arg.text));
    }
}

} // namespace

uint64_t hashValue(const Value& value, ValueHash what) {
    WordHash hash;
    mixValue(hash, value, what);
    return hash.value();
}

uint64_t structuralHash(const Graph& graph) {
    TextHashes texts(graph);
    std::vector<uint64_t> values;
    for (const Value& value : graph.values())
        values.push_back(hashValue(value, ValueHash::Structure));
    std::array<uint64_t, static_cast<size_t>(NodeOp::Output) + 1> ops;
    for (size_t op = 0; op < ops.size(); ++op)
        ops[op] = Hash64().bytes(nodeOpName(static_cast<NodeOp>(op))).value();
    WordHash hash;
    for (NodeId id = 0; id < graph.size(); ++id) {
        const Node& node = graph.node(id);
        hash.mix(ops[static_cast<size_t>(node.op)]);
        if (graph.isCall(id))
            hash.mix(texts.of(graph.target(id).text));
        hash.mix(graph.inputs(id).size());
        for (NodeId input : graph.inputs(id))
            hash.mix(input);
        mixArg(hash, graph, node.args, texts);
        mixArg(hash, graph, node.kwargs, texts);
        hash.mix(values[node.value]);
    }
    return hash.value();
}

} // namespace gs

// Recognises gradients that were packed rank by rank with zeros at the end.
#include "passes/fsdp_bucketing/merge.h"
#include "passes/fsdp_bucketing/tracer.h"

#include <algorithm>

namespace gs {

namespace {

class PackMatcher {
public:
    PackMatcher(const Draft& draft, int64_t group_size)
        : draft_(draft), graph_(draft.graph()), group_(group_size) {}

    std::optional<PaddedPack> run(DraftId cat) {
        if (!is(cat, "aten.cat.default") || draft_.users(cat).size() != 1 || group_ <= 0)
            return std::nullopt;
        const Arg* list = graph_.arg(cat, 0);
        if (!list || list->kind != Arg::Kind::List || list->count != static_cast<uint64_t>(group_) ||
            !alongRows(graph_.arg(cat, 1), cat))
            return std::nullopt;
        for (const Arg& part : graph_.children(*list)) {
            if (!addChunk(part.node()))
                return std::nullopt;
        }
        if (!checkSplit(cat))
            return std::nullopt;
        out_.nodes = {cat, split_};
        for (size_t i = 0; i < chunks_.size(); ++i) {
            if (!checkChunk(i))
                return std::nullopt;
        }
        return out_;
    }

private:
    struct Chunk {
        DraftId part = kNoNode; ///< what is concatenated: a pad of `source`, or `source` itself
        DraftId source = kNoNode;
        std::optional<Sizes> padding;
    };

    bool is(DraftId id, std::string_view target) const {
        return id != kNoNode && !draft_.added(id) && draft_.nodeOp(id) == NodeOp::CallFunction &&
               graph_.targetText(id) == target;
    }

    /// Dimension 0, stated either way or not at all.
    bool alongRows(const Arg* dim, DraftId of) const {
        const auto tensor = plainTensor(draft_.value(of));
        return !dim || (dim->kind == Arg::Kind::Int && tensor &&
                        (dim->integer == 0 || dim->integer == -static_cast<int64_t>(tensor->shape.size())));
    }

    static bool isZero(const Arg& arg) {
        return (arg.kind == Arg::Kind::Float && arg.real == 0) ||
               (arg.kind == Arg::Kind::Int && arg.integer == 0);
    }

    std::optional<Sizes> numbers(const Arg* list) const {
        if (!list || list->kind != Arg::Kind::List)
            return std::nullopt;
        Sizes values;
        for (const Arg& item : graph_.children(*list)) {
            if (item.kind != Arg::Kind::Int)
                return std::nullopt;
            values.push_back(item.integer);
        }
        return values;
    }

    bool addChunk(DraftId part) {
        Chunk chunk{part, part, std::nullopt};
        if (is(part, "aten.constant_pad_nd.default")) {
            const Arg* fill = graph_.arg(part, 2);
            const Arg* of = graph_.arg(part, 0);
            chunk.padding = numbers(graph_.arg(part, 1));
            if (!chunk.padding || (fill && !isZero(*fill)) || !of || of->node() == kNoNode)
                return false;
            chunk.source = of->node();
        }
        DraftId item = chunk.source;
        if (is(item, "aten.new_zeros.default"))
            item = graph_.arg(item, 0) ? graph_.arg(item, 0)->node() : kNoNode;
        if (!is(item, "operator.getitem") || graph_.inputs(item).empty())
            return false;
        const DraftId split = graph_.inputs(item)[0];
        if (split_ != kNoNode && split != split_)
            return false;
        split_ = split;
        chunks_.push_back(chunk);
        return true;
    }

    bool checkSplit(DraftId cat) {
        if (!is(split_, "aten.split.Tensor") || !graph_.arg(split_, 1) ||
            graph_.arg(split_, 1)->kind != Arg::Kind::Int)
            return false;
        out_.source = graph_.arg(split_, 0)->node();
        const auto source = out_.source == kNoNode ? std::nullopt : plainTensor(draft_.value(out_.source));
        const auto whole = plainTensor(draft_.value(cat));
        if (!source || !whole || source->shape.empty() || source->shape[0] <= 0 ||
            !alongRows(graph_.arg(split_, 2), out_.source))
            return false;
        source_ = *source;
        rows_ = graph_.arg(split_, 1)->integer;
        chunk_shape_ = source_.shape;
        chunk_shape_[0] = rows_;
        Sizes whole_shape = chunk_shape_;
        whole_shape[0] = rows_ * group_;
        return rows_ > 0 && rows_ == (source_.shape[0] + group_ - 1) / group_ &&
               whole->shape == whole_shape && alike(*whole) && whole->contiguous() && source_.contiguous() &&
               draft_.users(out_.source).size() == 1 && draft_.users(out_.source)[0] == split_;
    }

    bool alike(const PlainTensor& tensor) const {
        return tensor.dtype == source_.dtype && tensor.device == source_.device;
    }

    /// The padding that makes a chunk of `rows` rows a whole one.
    Sizes paddingFor(int64_t rows) const {
        Sizes padding(source_.shape.size() * 2, 0);
        padding.back() = rows_ - rows;
        return padding;
    }

    bool checkChunk(size_t index) {
        const Chunk& chunk = chunks_[index];
        const auto part = plainTensor(draft_.value(chunk.part));
        if (!part || part->shape != chunk_shape_ || !alike(*part) || !part->contiguous())
            return false;
        if (chunk.padding)
            out_.nodes.push_back(chunk.part);
        out_.nodes.push_back(chunk.source);
        const int64_t begin = static_cast<int64_t>(index) * rows_;
        if (begin < source_.shape[0]) {
            const Sizes wanted = paddingFor(std::min(rows_, source_.shape[0] - begin));
            const Arg* number = graph_.arg(chunk.source, 1);
            if (index == 0)
                first_item_ = chunk.source;
            return is(chunk.source, "operator.getitem") && number && number->kind == Arg::Kind::Int &&
                   number->integer == static_cast<int64_t>(index) &&
                   chunk.padding.value_or(Sizes(wanted.size(), 0)) == wanted;
        }
        return checkZeros(chunk);
    }

    /// A chunk beyond the source's rows: an empty tensor, padded.
    bool checkZeros(const Chunk& chunk) const {
        Sizes none = source_.shape;
        none[0] = 0;
        const auto zeros = plainTensor(draft_.value(chunk.source));
        if (!is(chunk.source, "aten.new_zeros.default") || !zeros || !alike(*zeros) ||
            chunk.padding != paddingFor(0) || graph_.arg(chunk.source, 0)->node() != first_item_ ||
            numbers(graph_.arg(chunk.source, 1)) != none)
            return false;
        // Type and device are as the value says, which alike() compared; nothing else may be asked for.
        const Arg& kwargs = graph_.node(chunk.source).kwargs;
        const auto items = graph_.children(kwargs);
        for (size_t i = 0; i + 1 < items.size(); i += 2) {
            const std::string_view key = graph_.text(items[i].text);
            const bool plain =
                items[i + 1].kind == Arg::Kind::None || key == "dtype" || key == "layout" ||
                key == "device" ||
                (key == "pin_memory" && items[i + 1].kind == Arg::Kind::Bool && items[i + 1].integer == 0);
            if (!plain)
                return false;
        }
        return true;
    }

    const Draft& draft_;
    const Graph& graph_;
    int64_t group_;
    PaddedPack out_;
    std::vector<Chunk> chunks_;
    DraftId split_ = kNoNode;
    DraftId first_item_ = kNoNode;
    PlainTensor source_;
    Sizes chunk_shape_;
    int64_t rows_ = 0;
};

} // namespace

std::optional<PaddedPack> matchPaddedPack(const Draft& draft, DraftId cat, int64_t group_size) {
    return PackMatcher(draft, group_size).run(cat);
}

} // namespace gs

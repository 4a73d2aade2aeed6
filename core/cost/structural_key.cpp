#include "cost/analytical_model.h"
#include "cost/cost_model.h"
#include "cost/key_text.h"
#include "cost/operands.h"

#include "base/units.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

namespace gs {

namespace {

void appendDims(std::string& out, const std::vector<Dim>& dims, std::string_view separator) {
    for (size_t i = 0; i < dims.size(); ++i) {
        if (i > 0)
            out += separator;
        if (dims[i].value < 0)
            out += '?';
        else
            fmt::format_to(std::back_inserter(out), "{}", dims[i].value);
    }
}

} // namespace

void appendTensorText(std::string& out, const TensorMeta& tensor) {
    out += dtypeAbbreviation(tensor.dtype);
    out += '[';
    appendDims(out, tensor.shape, ",");
    if (tensor.has_stride) {
        out += ';';
        appendDims(out, tensor.stride, ",");
    }
    out += ']';
}

namespace {

void appendValue(std::string& out, const Value& value) {
    switch (value.kind) {
    case Value::Kind::None:
        out += "none";
        break;
    case Value::Kind::Tensor:
        appendTensorText(out, value.tensor);
        break;
    case Value::Kind::List:
        out += '(';
        for (size_t i = 0; i < value.items.size(); ++i) {
            out += i > 0 ? ", " : "";
            appendValue(out, value.items[i]);
        }
        out += ')';
        break;
    case Value::Kind::Number:
    case Value::Kind::Symbol:
        fmt::format_to(std::back_inserter(out), "{}", value.number);
        break;
    case Value::Kind::Repr:
        out += "object";
        break;
    }
}

/// Argument values. Of a pointwise operator numbers do not change the work, dtypes do.
class ArgumentWriter {
public:
    ArgumentWriter(const Graph& graph, std::string& out, bool with_numbers, const OperandName& operand)
        : graph_(graph), out_(out), with_numbers_(with_numbers), operand_(operand) {}

    void write(const Arg& arg) {
        switch (arg.kind) {
        case Arg::Kind::None:
            out_ += "none";
            break;
        case Arg::Kind::Node:
            if (!operand_ || !operand_(arg.node(), out_))
                appendValue(out_, readValue(graph_, arg.node()));
            break;
        case Arg::Kind::Int:
        case Arg::Kind::Symbol:
            number(arg.integer);
            break;
        case Arg::Kind::Bool:
            out_ += !with_numbers_ ? "#" : arg.integer ? "true" : "false";
            break;
        case Arg::Kind::Float:
            number(arg.real);
            break;
        case Arg::Kind::Device: // the table belongs to one device
            out_ += "device";
            break;
        case Arg::Kind::List:
        case Arg::Kind::Slice:
            out_ += '[';
            list(arg);
            out_ += ']';
            break;
        case Arg::Kind::Dict:
            out_ += '{';
            dictionary(arg);
            out_ += '}';
            break;
        default:
            out_ += graph_.text(arg.text);
        }
    }
    void list(const Arg& arg) {
        bool first = true;
        for (const Arg& child : graph_.children(arg)) {
            out_ += first ? "" : ", ";
            first = false;
            write(child);
        }
    }
    void dictionary(const Arg& arg) {
        const auto items = graph_.children(arg);
        for (size_t i = 0; i + 1 < items.size(); i += 2) {
            out_ += i > 0 ? ", " : "";
            out_ += graph_.text(items[i].text);
            out_ += '=';
            write(items[i + 1]);
        }
    }

private:
    template <typename T>
    void number(T value) {
        if (with_numbers_)
            fmt::format_to(std::back_inserter(out_), "{}", value);
        else
            out_ += '#';
    }

    const Graph& graph_;
    std::string& out_;
    bool with_numbers_;
    const OperandName& operand_;
};

/// Distance between neighbouring ranks; "mixed" if it varies.
std::string rankStride(const Graph& graph, const Collective& collective) {
    const std::vector<int32_t>& ranks = graph.groups()[collective.group].ranks;
    if (ranks.size() < 2)
        return "1";
    const int64_t stride = int64_t{ranks[1]} - ranks[0];
    for (size_t i = 2; i < ranks.size(); ++i) {
        if (int64_t{ranks[i]} - ranks[i - 1] != stride)
            return "mixed";
    }
    return std::to_string(stride);
}

std::string number(int64_t value) {
    return value < 0 ? "?" : std::to_string(value);
}

std::string collectiveKey(const Graph& graph, const Collective& collective) {
    std::string key = fmt::format("{} {} in={} out={} ranks={}", collectiveKindName(collective.kind),
                                  dtypeAbbreviation(collective.dtype), number(collective.input_bytes),
                                  number(collective.output_bytes),
                                  collective.group_size == 0 ? "?" : number(collective.group_size));
    if (collective.kind == CollectiveKind::Other)
        key = fmt::format("{} {}", graph.targetText(collective.launch), key);
    constexpr int32_t kBlock = 8;
    if (const int32_t blocks = nodesOfGroup(graph, collective, kBlock); blocks > 0)
        key += fmt::format(" stride={} blocks={}", rankStride(graph, collective), blocks);
    if (const Value& value = graph.value(collective.launch); value.kind == Value::Kind::List)
        key += fmt::format(" members={}", value.items.size());
    return key;
}

/// "aten._scaled_dot_product_flash_attention.default" → "scaled_dot_product_flash_attention".
std::string_view shortName(std::string_view target) {
    const size_t dot = target.find('.');
    if (dot != std::string_view::npos &&
        (target.starts_with("aten.") || target.starts_with("prims.") || target.starts_with("higher_order.") ||
         target.starts_with("torch."))) {
        target.remove_prefix(dot + 1);
        if (const size_t overload = target.find('.'); overload != std::string_view::npos && overload > 0)
            target = target.substr(0, overload);
    }
    while (target.size() > 1 && target.front() == '_')
        target.remove_prefix(1);
    return target;
}

std::string shapeLabel(const TensorMeta& tensor, bool with_dtype) {
    std::string out(with_dtype ? dtypeAbbreviation(tensor.dtype) : std::string_view());
    out += '[';
    appendDims(out, tensor.shape, ", ");
    return out + ']';
}

/// Operands of a matrix product or attention that tell its size, by position; empty for other operators.
std::vector<size_t> tellingArguments(std::string_view name) {
    if (name == "mm" || name == "bmm" || name == "scaled_mm" || name == "convolution")
        return {0, 1};
    if (name == "addmm" || name == "baddbmm" || name == "scaled_dot_product_flash_attention_backward" ||
        name == "scaled_dot_product_efficient_attention_backward" ||
        name == "scaled_dot_product_cudnn_attention_backward")
        return {1, 2};
    if (name.find("attention") != std::string_view::npos)
        return {0, 1};
    return {};
}

/// The collective in flight at entry whose input `id` is, or null.
const Collective* inFlightOf(const Graph& graph, const CollectiveTable& collectives, NodeId id) {
    const int32_t index = isStructuralZero(graph.node(id).kind) ? collectives.indexOf(id) : -1;
    if (index < 0)
        return nullptr;
    const Collective& item = collectives[static_cast<size_t>(index)];
    return item.input == id ? &item : nullptr;
}

const Value& inFlightValue(const Graph& graph, const Collective& collective) {
    const Value& own = graph.value(collective.input);
    return own.firstTensor() ? own : graph.value(collective.waits.front());
}

} // namespace

bool isStructuralZero(NodeKind kind) {
    return kind != NodeKind::Compute && kind != NodeKind::Launch;
}

std::string structuralKey(const Graph& graph, const CollectiveTable& collectives, NodeId id) {
    const Node& node = graph.node(id);
    if (const Collective* collective = inFlightOf(graph, collectives, id)) {
        std::string key = fmt::format("{} ", collectiveKindName(collective->kind));
        appendValue(key, inFlightValue(graph, *collective));
        return key;
    }
    if (isStructuralZero(node.kind))
        return {};
    if (const int32_t index = collectives.indexOf(id); node.kind == NodeKind::Launch && index >= 0)
        return collectiveKey(graph, collectives[static_cast<size_t>(index)]);
    return computeKey(graph, id, {});
}

std::string computeKey(const Graph& graph, NodeId id, const OperandName& operand) {
    const Node& node = graph.node(id);
    std::string key(graph.targetText(id));
    const bool with_numbers = !graph.hasTrait(id, kTraitPointwise);
    ArgumentWriter writer(graph, key, with_numbers, operand);
    key += '(';
    writer.list(node.args);
    if (node.kwargs.count > 0) {
        key += node.args.count > 0 ? ", " : "";
        writer.dictionary(node.kwargs);
    }
    key += ") -> ";
    appendValue(key, graph.value(id));
    return key;
}

std::string costLabel(const Graph& graph, const CollectiveTable& collectives, NodeId id) {
    if (const Collective* collective = inFlightOf(graph, collectives, id))
        return fmt::format("in flight at entry {} {}", dtypeAbbreviation(collective->dtype),
                           formatBytes(collective->output_bytes));
    if (const int32_t index = collectives.indexOf(id);
        graph.node(id).kind == NodeKind::Launch && index >= 0) {
        const Collective& collective = collectives[static_cast<size_t>(index)];
        const bool known = collective.input_bytes >= 0 && collective.output_bytes >= 0;
        const int64_t bytes =
            known ? std::max(collective.input_bytes, collective.output_bytes) : kUnknownSize;
        return fmt::format("{} {} {} × {} ranks", collectiveKindName(collective.kind),
                           dtypeAbbreviation(collective.dtype), formatBytes(bytes),
                           collective.group_size > 0 ? formatCount(collective.group_size) : "?");
    }
    const std::string_view name = shortName(graph.targetText(id));
    std::string label(name);
    bool first = true;
    for (size_t position : tellingArguments(name)) {
        const Arg* arg = graph.arg(id, position);
        const TensorMeta* tensor =
            arg && arg->kind == Arg::Kind::Node ? readValue(graph, arg->node()).firstTensor() : nullptr;
        if (tensor)
            label += (first ? " " : " × ") + shapeLabel(*tensor, first);
        first = first && !tensor;
    }
    if (const TensorMeta* result = graph.value(id).firstTensor(); first && result)
        label += " " + shapeLabel(*result, true);
    return label;
}

} // namespace gs

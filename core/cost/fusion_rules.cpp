#include "cost/fusion_rules.h"

#include "base/resources.h"
#include "cost/operands.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

namespace gs {

namespace {

using Kind = FusionRule::Kind;
using Json = nlohmann::json;
using Rules = std::map<std::string, FusionRule, std::less<>>;

Rules readRules() {
    const Json data = Json::parse(resourceText("op_traits.json")).at("fusion");
    Rules rules;
    for (const Json& target : data.at("pointwise"))
        rules[target].kind = Kind::Pointwise;
    for (const Json& target : data.at("fills"))
        rules[target].kind = Kind::Fill;
    for (const Json& target : data.at("never"))
        rules[target].kind = Kind::None;
    for (const Json& target : data.at("reshapes"))
        rules[target].reshape = true;
    for (const auto& [target, facts] : data.at("reductions").items()) {
        FusionRule& rule = rules[target];
        rule.kind = Kind::Reduction;
        rule.dim_arg = facts.value("dim", int8_t{-1});
        rule.trailing_arg = facts.value("trailing", int8_t{-1});
    }
    return rules;
}

/// Complex numbers and packed four-bit ones have no generated kernels.
bool hasArithmetic(DType dtype) {
    switch (dtype) {
    case DType::Unknown:
    case DType::Float4E2M1FNX2:
    case DType::Complex32:
    case DType::Complex64:
    case DType::Complex128:
        return false;
    default:
        return true;
    }
}

bool isPlain(const TensorMeta& tensor) {
    return hasArithmetic(tensor.dtype) && !tensor.symbolic() && tensor.numel() > 0 &&
           tensor.numel() != kHugeSize;
}

bool sameDevice(const Graph& graph, StringId a, StringId b) {
    return a == b || graph.text(a).empty() || graph.text(b).empty();
}

/// A tensor, or a list of tensors (and gaps) of a node with several results.
bool isPlain(const Value& value) {
    if (value.kind == Value::Kind::Tensor)
        return isPlain(value.tensor);
    return value.kind == Value::Kind::List && value.firstTensor() &&
           std::all_of(value.items.begin(), value.items.end(), [](const Value& item) {
               return item.kind == Value::Kind::None ||
                      (item.kind == Value::Kind::Tensor && isPlain(item.tensor));
           });
}

bool hasSymbol(const Graph& graph, const Arg& arg) {
    if (arg.kind == Arg::Kind::Symbol)
        return true;
    if (arg.kind != Arg::Kind::List && arg.kind != Arg::Kind::Dict && arg.kind != Arg::Kind::Slice)
        return false;
    const auto children = graph.children(arg);
    return std::any_of(children.begin(), children.end(),
                       [&](const Arg& child) { return hasSymbol(graph, child); });
}

/// Which of the `rank` dimensions a reduction reduces; nothing if its argument is no list of them.
std::optional<std::vector<bool>> reducedDims(const Graph& graph, NodeId id, const FusionRule& rule,
                                             size_t rank) {
    std::vector<bool> reduced(rank, false);
    if (rule.trailing_arg >= 0) {
        const Arg* sizes = graph.arg(id, static_cast<size_t>(rule.trailing_arg));
        if (!sizes || sizes->kind != Arg::Kind::List || sizes->count > rank)
            return std::nullopt;
        std::fill(reduced.end() - sizes->count, reduced.end(), true);
        return reduced;
    }
    const Arg* dims = graph.arg(id, static_cast<size_t>(rule.dim_arg));
    if (!dims)
        dims = graph.kwarg(id, "dim");
    if (!dims || dims->kind == Arg::Kind::None || (dims->kind == Arg::Kind::List && dims->count == 0))
        return std::vector<bool>(rank, true);
    const auto mark = [&](const Arg& dim) {
        const auto size = static_cast<int64_t>(rank);
        const int64_t at = dim.integer < 0 ? dim.integer + size : dim.integer;
        if (dim.kind != Arg::Kind::Int || at < 0 || at >= size)
            return rank == 0 && dim.kind == Arg::Kind::Int;
        reduced[static_cast<size_t>(at)] = true;
        return true;
    };
    bool good = true;
    if (dims->kind == Arg::Kind::List) {
        for (const Arg& dim : graph.children(*dims))
            good = good && mark(dim);
    } else {
        good = mark(*dims);
    }
    return good ? std::optional(reduced) : std::nullopt;
}

/// Elements without the reduced dimensions, if those are the last ones (sizes of 1 do not count).
std::optional<int64_t> rowsOf(const TensorMeta& tensor, const std::vector<bool>& reduced) {
    int64_t rows = 1;
    bool outer = false;
    for (size_t i = reduced.size(); i-- > 0;) {
        const int64_t size = tensor.shape[i].value;
        if (reduced[i] && outer && size != 1)
            return std::nullopt;
        if (!reduced[i]) {
            rows *= size;
            outer = outer || size != 1;
        }
    }
    return rows;
}

} // namespace

FusionRule fusionRule(std::string_view target, uint16_t traits) {
    static const Rules kRules = readRules();
    auto found = kRules.find(target);
    if (found == kRules.end() && target.find('.') != target.rfind('.'))
        found = kRules.find(target.substr(0, target.rfind('.')));
    FusionRule rule = found != kRules.end() ? found->second : FusionRule{};
    const bool named = found != kRules.end() && !rule.reshape;
    if ((traits & kTraitMutable) != 0 || (named && rule.kind == Kind::None))
        return FusionRule{Kind::None, rule.reshape, -1, -1};
    if ((traits & kTraitPointwise) != 0)
        rule.kind = Kind::Pointwise;
    return rule;
}

std::optional<FusionStep> fusionStep(const Graph& graph, NodeId id, const FusionRule& rule) {
    const Node& node = graph.node(id);
    const Value& value = graph.value(id);
    if (rule.kind == Kind::None || node.kind != NodeKind::Compute || !graph.isCall(id) || !isPlain(value) ||
        hasSymbol(graph, node.args) || hasSymbol(graph, node.kwargs))
        return std::nullopt;
    const StringId device = value.firstTensor()->device;
    for (NodeId input : graph.inputs(id)) {
        const Value& read = readValue(graph, input);
        if (read.kind != Value::Kind::Tensor || !isPlain(read.tensor))
            return std::nullopt;
        // A number may come from another device's memory; nothing else may.
        if (!sameDevice(graph, read.tensor.device, device) && !read.tensor.shape.empty())
            return std::nullopt;
    }
    if (rule.kind == Kind::Fill)
        return FusionStep{value.firstTensor()->numel(), -1, true};
    if (rule.kind == Kind::Pointwise) {
        if (value.kind != Value::Kind::Tensor || graph.inputs(id).empty())
            return std::nullopt;
        return FusionStep{value.tensor.numel(), -1, false};
    }
    const Arg* first = graph.arg(id, 0);
    if (!first || first->kind != Arg::Kind::Node)
        return std::nullopt;
    const TensorMeta& read = readValue(graph, first->node()).tensor;
    const auto reduced = reducedDims(graph, id, rule, read.shape.size());
    const auto rows = reduced ? rowsOf(read, *reduced) : std::nullopt;
    if (!rows)
        return std::nullopt;
    FusionStep step{read.numel(), *rows == read.numel() ? -1 : *rows, false};
    const auto fits = [&](const Value& item) {
        return item.kind != Value::Kind::Tensor || item.tensor.numel() == step.numel ||
               item.tensor.numel() == *rows;
    };
    const bool good = value.kind == Value::Kind::Tensor
                          ? fits(value)
                          : std::all_of(value.items.begin(), value.items.end(), fits);
    return good ? std::optional(step) : std::nullopt;
}

} // namespace gs

#include "cost/readers/op_signature.h"

#include "cost/operands.h"
#include "cost/readers/collective_names.h"

#include <fmt/format.h>
#include <iterator>
#include <nlohmann/json.hpp>

namespace gs {

namespace {

using Json = nlohmann::json;

std::vector<int64_t> shapeOf(const TensorMeta& tensor) {
    std::vector<int64_t> shape;
    for (const Dim& dim : tensor.shape)
        shape.push_back(dim.value);
    return shape;
}

void addArgument(const Graph& graph, const Arg& arg, Signature& out) {
    if (arg.kind == Arg::Kind::Node) {
        const Value& value = readValue(graph, arg.node());
        if (value.kind == Value::Kind::Tensor)
            out.push_back({false, value.tensor.dtype, {shapeOf(value.tensor)}});
    } else if (arg.kind == Arg::Kind::List) {
        SignatureItem item;
        item.list = true;
        for (const Arg& child : graph.children(arg)) {
            if (child.kind != Arg::Kind::Node)
                continue;
            const Value& value = readValue(graph, child.node());
            if (value.kind == Value::Kind::Tensor)
                item.shapes.push_back(shapeOf(value.tensor));
        }
        if (!item.shapes.empty())
            out.push_back(std::move(item));
    }
}

/// Sizes of one tensor; false if it is no list of numbers.
bool readShape(const Json& dims, std::vector<int64_t>& out) {
    if (!dims.is_array())
        return false;
    for (const Json& dim : dims) {
        if (!dim.is_number_integer())
            return false;
        out.push_back(dim.get<int64_t>());
    }
    return true;
}

void appendShape(const std::vector<int64_t>& shape, std::string& out) {
    out += '[';
    for (size_t i = 0; i < shape.size(); ++i)
        fmt::format_to(std::back_inserter(out), "{}{}", i > 0 ? "," : "", shape[i]);
    out += ']';
}

} // namespace

std::string opPacket(std::string_view name) {
    if (name.substr(0, 10) == "torch.ops.")
        name.remove_prefix(10);
    std::string out;
    if (name.substr(0, 15) == "extern_kernels.") {
        out = "aten.";
        name.remove_prefix(15);
    }
    for (size_t i = 0; i < name.size(); ++i) {
        if (name[i] == ':' && i + 1 < name.size() && name[i + 1] == ':')
            continue;
        out += name[i] == ':' ? '.' : name[i];
    }
    const size_t first = out.find('.');
    const size_t second = first == std::string::npos ? first : out.find('.', first + 1);
    return out.substr(0, second);
}

Signature nodeSignature(const Graph& graph, NodeId id) {
    Signature out;
    for (const Arg& arg : graph.children(graph.node(id).args))
        addArgument(graph, arg, out);
    const auto kwargs = graph.children(graph.node(id).kwargs);
    for (size_t i = 1; i < kwargs.size(); i += 2)
        addArgument(graph, kwargs[i], out);
    return out;
}

Signature traceSignature(std::string_view text) {
    Signature out;
    const size_t split = std::min(text.find('\x1f'), text.size());
    const Json dims = Json::parse(text.substr(0, split), nullptr, false);
    const Json types = split < text.size() ? Json::parse(text.substr(split + 1), nullptr, false) : Json();
    if (!dims.is_array())
        return out;
    for (size_t i = 0; i < dims.size(); ++i) {
        const bool typed = types.is_array() && i < types.size() && types[i].is_string();
        SignatureItem item;
        item.dtype = typed ? dtypeOfTrace(types[i].get<std::string>()) : DType::Unknown;
        std::vector<int64_t> shape;
        if (!dims[i].empty() && dims[i].is_array() && dims[i][0].is_array()) {
            item.list = true;
            for (const Json& member : dims[i])
                readShape(member, item.shapes.emplace_back());
        } else if (readShape(dims[i], shape) && (item.dtype != DType::Unknown || !shape.empty())) {
            item.shapes.push_back(std::move(shape));
        }
        if (!item.shapes.empty())
            out.push_back(std::move(item));
    }
    return out;
}

std::string signatureText(const Signature& items, bool with_types) {
    std::string out;
    for (const SignatureItem& item : items) {
        if (!with_types && !item.list && item.shapes.front().empty())
            continue;
        if (!out.empty())
            out += ',';
        if (!item.list) {
            if (with_types)
                out += dtypeAbbreviation(item.dtype);
            appendShape(item.shapes.front(), out);
            continue;
        }
        out += '(';
        for (size_t i = 0; i < item.shapes.size(); ++i) {
            out += i > 0 ? ";" : "";
            appendShape(item.shapes[i], out);
        }
        out += ')';
    }
    return out;
}

} // namespace gs

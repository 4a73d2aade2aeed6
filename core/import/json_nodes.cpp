#include "import/json_nodes.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

namespace gs {

namespace dom = simdjson::dom;

namespace {

uint16_t traitBitOfTag(std::string_view tag) {
    static constexpr std::pair<std::string_view, uint16_t> kTags[] = {
        {"pointwise", kTraitPointwise},   {"view", kTraitView}, {"compute", kTraitCompute},
        {"collective", kTraitCollective}, {"wait", kTraitWait}, {"reduction", kTraitReduction},
        {"mutable", kTraitMutable}};
    for (const auto& [name, bit] : kTags) {
        if (name == tag)
            return bit;
    }
    return 0;
}

} // namespace

class JsonNodeReader::Converter {
public:
    Converter(GraphBuilder& builder, std::string file) : builder_(builder), file_(std::move(file)) {}

    /// `line`: line of the node in the file, 0 if not known.
    void convert(const dom::element& element, uint32_t line) {
        where_ = {file_, line, line == 0 ? 0u : 1u};
        dom::object object;
        std::string_view op_name;
        if (element.get(object) != simdjson::SUCCESS) {
            problem("bad-node", "", "a node must be an object");
            return;
        }
        const std::string_view name = stringOr(object, "name");
        op_name = stringOr(object, "op");
        const auto op = opByName(op_name);
        if (!op)
            problem(
                "bad-node", name,
                fmt::format("\"op\" is \"{}\"; expected placeholder, get_attr, call_function, call_method, "
                            "call_module or output",
                            op_name));
        const NodeId id =
            builder_.addNode(name, op.value_or(NodeOp::CallFunction), stringOr(object, "target"), where_);
        id_ = id;
        readArguments(object);
        readFacts(object);
        readTags(object);
        readMeta(object);
        readEdges(object);
        if (builder_.info().level == GraphLevel::Scheduler)
            readSchedulerFields(object);
    }

private:
    static std::optional<NodeOp> opByName(std::string_view name) {
        for (const NodeOp op : {NodeOp::Placeholder, NodeOp::GetAttr, NodeOp::CallFunction,
                                NodeOp::CallMethod, NodeOp::CallModule, NodeOp::Output}) {
            if (nodeOpName(op) == name)
                return op;
        }
        return std::nullopt;
    }

    void problem(const char* code, std::string_view node, std::string message) {
        builder_.diagnostics().add(
            {Severity::Error, code, where_, std::string(node), std::move(message), ""});
    }

    void readArguments(const dom::object& object) {
        dom::array args;
        if (object["args"].get(args) == simdjson::SUCCESS) {
            std::vector<Arg> items;
            for (const dom::element item : args)
                items.push_back(argument(item));
            builder_.setArgs(id_, items);
        } else {
            problem("bad-node", builder_.text(builder_.node(id_).name), "\"args\" is missing or no array");
        }
        dom::object kwargs;
        if (object["kwargs"].get(kwargs) == simdjson::SUCCESS)
            builder_.node(id_).kwargs = dictionary(kwargs);
    }

    Arg dictionary(const dom::object& object) {
        std::vector<Arg> items;
        for (const auto field : object) {
            items.push_back(builder_.textArg(Arg::Kind::String, field.key));
            items.push_back(argument(field.value));
        }
        return builder_.dictArg(items);
    }

    Arg argument(const dom::element& element) {
        switch (element.type()) {
        case dom::element_type::NULL_VALUE:
            return builder_.noneArg();
        case dom::element_type::BOOL:
            return builder_.boolArg(bool(element.get_bool().value_unsafe()));
        case dom::element_type::INT64:
            return builder_.intArg(element.get_int64().value_unsafe());
        case dom::element_type::UINT64:
        case dom::element_type::DOUBLE:
            return builder_.floatArg(element.get_double().value_unsafe());
        case dom::element_type::STRING:
            return builder_.textArg(Arg::Kind::String, element.get_string().value_unsafe());
        case dom::element_type::ARRAY: {
            std::vector<Arg> items;
            const dom::array array = element.get_array().value_unsafe();
            for (const dom::element item : array)
                items.push_back(argument(item));
            return builder_.listArg(items);
        }
        case dom::element_type::OBJECT:
            return taggedArgument(element.get_object().value_unsafe());
        }
        return builder_.noneArg();
    }

    /// {"n": …}, {"dtype": …}, … of FORMAT.md.
    Arg taggedArgument(const dom::object& object) {
        std::string_view text;
        if (object["n"].get(text) == simdjson::SUCCESS)
            return builder_.nodeArg(text, id_, where_);
        static constexpr std::pair<std::string_view, Arg::Kind> kTexts[] = {
            {"dtype", Arg::Kind::DType},
            {"device", Arg::Kind::Device},
            {"layout", Arg::Kind::Layout},
            {"memory_format", Arg::Kind::MemoryFormat},
            {"repr", Arg::Kind::Repr}};
        for (const auto& [key, kind] : kTexts) {
            if (object[key].get(text) == simdjson::SUCCESS)
                return builder_.textArg(kind, text);
        }
        if (object["sym"].get(text) == simdjson::SUCCESS)
            return builder_.symbolArg(text, intOr(object, "hint", kUnknownSize));
        if (object["float"].get(text) == simdjson::SUCCESS)
            return builder_.floatArg(text == "inf"    ? std::numeric_limits<double>::infinity()
                                     : text == "-inf" ? -std::numeric_limits<double>::infinity()
                                                      : std::numeric_limits<double>::quiet_NaN());
        dom::array slice;
        if (object["slice"].get(slice) == simdjson::SUCCESS) {
            std::vector<Arg> items;
            for (const dom::element item : slice)
                items.push_back(argument(item));
            return builder_.sliceArg(items);
        }
        dom::object dict;
        if (object["dict"].get(dict) == simdjson::SUCCESS)
            return dictionary(dict);
        problem("bad-argument", builder_.text(builder_.node(id_).name),
                "an argument object has none of the keys n, dtype, device, layout, memory_format, sym, "
                "slice, float, "
                "dict, repr");
        return builder_.noneArg();
    }

    void readFacts(const dom::object& object) {
        dom::element value;
        if (object["val"].get(value) == simdjson::SUCCESS && !value.is_null())
            builder_.setValue(id_, valueOf(value));
        Node& node = builder_.node(id_);
        node.flops = intOr(object, "flops", -1);
        const std::string_view phase = stringOr(object, "phase");
        node.phase = phase == "forward"    ? Phase::Forward
                     : phase == "backward" ? Phase::Backward
                                           : Phase::Unknown;
        node.module = builder_.intern(stringOr(object, "module"));
        node.source = builder_.intern(stringOr(object, "source"));
    }

    Value valueOf(const dom::element& element) {
        Value value;
        dom::object object;
        dom::array items;
        if (element.get(items) == simdjson::SUCCESS) {
            value.kind = Value::Kind::List;
            for (const dom::element item : items)
                value.items.push_back(valueOf(item));
        } else if (element.get(value.number) == simdjson::SUCCESS) {
            value.kind = Value::Kind::Number;
        } else if (element.get(object) == simdjson::SUCCESS) {
            std::string_view text;
            if (object["sym"].get(text) == simdjson::SUCCESS) {
                value.kind = Value::Kind::Symbol;
                value.text = builder_.intern(text);
                value.number = static_cast<double>(intOr(object, "hint", kUnknownSize));
            } else if (object["repr"].get(text) == simdjson::SUCCESS) {
                value.kind = Value::Kind::Repr;
                value.text = builder_.intern(text);
            } else {
                value.kind = Value::Kind::Tensor;
                value.tensor = tensorOf(object);
            }
        }
        return value;
    }

    TensorMeta tensorOf(const dom::object& object) {
        TensorMeta tensor;
        const std::string_view dtype = stringOr(object, "dtype");
        tensor.dtype = dtypeFromName(dtype);
        if (tensor.dtype == DType::Unknown)
            builder_.diagnostics().add({Severity::Warning, "unknown-dtype", where_,
                                        std::string(builder_.text(builder_.node(id_).name)),
                                        fmt::format("the dtype \"{}\" is not known", dtype),
                                        "its bytes count as unknown"});
        dom::array dims;
        if (object["shape"].get(dims) == simdjson::SUCCESS)
            tensor.shape = dimensions(dims);
        else
            problem("bad-value", builder_.text(builder_.node(id_).name), "a tensor has no \"shape\" array");
        if (object["stride"].get(dims) == simdjson::SUCCESS) {
            tensor.stride = dimensions(dims);
            tensor.has_stride = true;
        }
        tensor.device = builder_.intern(stringOr(object, "device"));
        return tensor;
    }

    std::vector<Dim> dimensions(const dom::array& items) {
        std::vector<Dim> dims;
        for (const dom::element item : items) {
            Dim dim;
            dom::object object;
            if (item.get(dim.value) == simdjson::SUCCESS) {
                if (dim.value < 0)
                    dim.value = kUnknownSize;
            } else if (item.get(object) == simdjson::SUCCESS) {
                dim.symbol = builder_.intern(stringOr(object, "sym", "?"));
                dim.value = intOr(object, "hint", kUnknownSize);
            } else {
                dim.value = kUnknownSize;
            }
            dims.push_back(dim);
        }
        return dims;
    }

    void readTags(const dom::object& object) {
        dom::array tags;
        if (object["tags"].get(tags) != simdjson::SUCCESS)
            return;
        uint16_t bits = 0;
        for (const dom::element tag : tags) {
            std::string_view text;
            if (tag.get(text) == simdjson::SUCCESS)
                bits |= traitBitOfTag(text);
        }
        builder_.setTraits(id_, bits);
    }

    void readMeta(const dom::object& object) {
        dom::object source;
        if (object["meta"].get(source) != simdjson::SUCCESS)
            return;
        NodeMeta& meta = builder_.meta(id_);
        meta.fqn = builder_.intern(stringOr(source, "fqn"));
        meta.param_name = builder_.intern(stringOr(source, "param_name"));
        meta.comm_type = builder_.intern(stringOr(source, "comm_type"));
        meta.bucket_id = builder_.intern(textOf(source, "fsdp_bucket_id"));
        meta.bucket_copy_out = builder_.intern(textOf(source, "fsdp_bucket_copy_out"));
        meta.original_aten = builder_.intern(stringOr(source, "original_aten"));
        meta.unsharded_bytes = intOr(source, "fsdp_unsharded_nbytes", kUnknownSize);
        meta.seq_nr = intOr(source, "seq_nr", -1);
        meta.has_autograd_backward =
            source["autograd_backward"].get(meta.autograd_backward) == simdjson::SUCCESS;
        meta.recompute = source["recompute"].error() == simdjson::SUCCESS;
        dom::array members;
        if (source["fsdp_bucket_members"].get(members) == simdjson::SUCCESS) {
            for (const dom::element member : members) {
                std::string_view text;
                if (member.get(text) == simdjson::SUCCESS)
                    meta.bucket_members.push_back(builder_.intern(text));
            }
        }
        dom::element desc;
        if (source["desc"].get(desc) == simdjson::SUCCESS)
            meta.desc_json = builder_.intern(simdjson::to_string(desc));
    }

    /// A text or number as text; empty if it is absent.
    static std::string textOf(const dom::object& object, std::string_view key) {
        dom::element element;
        std::string_view text;
        if (object[key].get(element) != simdjson::SUCCESS || element.is_null())
            return {};
        return element.get(text) == simdjson::SUCCESS ? std::string(text) : simdjson::to_string(element);
    }

    /// Advisory edges, the nodes it was made from, and order edges where the operators do not tell them.
    void readEdges(const dom::object& object) {
        forEachText(object, "weak_inputs", [&](std::string_view text) {
            if (const NodeId weak = builder_.findNode(text); weak != kNoNode && weak != id_)
                builder_.addWeakInput(id_, weak);
        });
        forEachText(object, "origins",
                    [&](std::string_view text) { builder_.addOrigin(id_, builder_.intern(text)); });
        dom::array order;
        if (object["order"].get(order) != simdjson::SUCCESS)
            return;
        std::vector<OrderEdge> edges;
        for (const dom::element item : order) {
            std::string_view name, kind;
            if (item.at(0).get(name) != simdjson::SUCCESS || item.at(1).get(kind) != simdjson::SUCCESS)
                continue;
            const NodeId before = builder_.findNode(name);
            if (before != kNoNode && before < id_)
                edges.push_back({before, kind == "effect" ? EdgeKind::Effect : EdgeKind::Mutation});
        }
        builder_.setOrderEdges(id_, std::move(edges));
    }

    /// Inductor's scheduler nodes: inputs are stated, buffers name what is mutated.
    void readSchedulerFields(const dom::object& object) {
        dom::array names;
        if (object["inputs"].get(names) == simdjson::SUCCESS) {
            std::vector<NodeId> inputs;
            for (const dom::element item : names) {
                std::string_view text;
                const NodeId input = item.get(text) == simdjson::SUCCESS
                                         ? builder_.nodeArg(text, id_, where_).node()
                                         : kNoNode;
                if (input != kNoNode && std::find(inputs.begin(), inputs.end(), input) == inputs.end())
                    inputs.push_back(input);
            }
            builder_.setInputs(id_, std::move(inputs));
        }
        dom::object meta;
        if (object["meta"].get(meta) != simdjson::SUCCESS)
            return;
        forEachText(meta, "mutates", [&](std::string_view buffer) {
            if (const auto found = node_of_buffer_.find(builder_.intern(buffer));
                found != node_of_buffer_.end())
                builder_.addMutation(id_, found->second);
        });
        forEachText(meta, "buffers",
                    [&](std::string_view buffer) { node_of_buffer_.emplace(builder_.intern(buffer), id_); });
    }

    template <typename Function>
    static void forEachText(const dom::object& object, std::string_view key, Function function) {
        dom::array items;
        if (object[key].get(items) != simdjson::SUCCESS)
            return;
        for (const dom::element item : items) {
            std::string_view text;
            if (item.get(text) == simdjson::SUCCESS)
                function(text);
        }
    }

    GraphBuilder& builder_;
    std::string file_;
    SourcePos where_;
    NodeId id_ = kNoNode;
    std::unordered_map<StringId, NodeId> node_of_buffer_;
};

JsonNodeReader::JsonNodeReader(GraphBuilder& builder, std::string file)
    : converter_(std::make_unique<Converter>(builder, std::move(file))) {}
JsonNodeReader::~JsonNodeReader() = default;

void JsonNodeReader::read(const dom::element& element, uint32_t line) {
    converter_->convert(element, line);
}

} // namespace gs

#include "import/fx_text.h"

#include "import/call_text.h"
#include "import/text_lines.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace gs {

namespace {

bool removePrefix(std::string_view& text, std::string_view start) {
    if (!startsWith(text, start))
        return false;
    text.remove_prefix(start.size());
    return true;
}

/// Without a counter "_12" at the end.
std::string_view withoutCounter(std::string_view text) {
    size_t end = text.size();
    while (end > 0 && text[end - 1] >= '0' && text[end - 1] <= '9')
        --end;
    return end > 1 && end < text.size() && text[end - 1] == '_' ? text.substr(0, end - 1) : text;
}

/// Dynamo's functions before lowering, as FX's code generator spells their modules.
constexpr std::pair<std::string_view, std::string_view> kMangledModules[] = {
    {"torch__dynamo_variables_tensor_", "torch._dynamo.variables.tensor."},
    {"torch__dynamo_variables_torch_prim_", "torch._dynamo.variables.torch.prim "},
};

/// Position of the bracket that closes the one at `open`; npos if there is none.
size_t closingBracket(std::string_view text, size_t open) {
    int depth = 0;
    for (size_t i = open; i < text.size(); ++i) {
        const char c = text[i];
        depth += c == '[' || c == '(' ? 1 : c == ']' || c == ')' ? -1 : 0;
        if (depth == 0)
            return i;
    }
    return std::string_view::npos;
}

/// Functions of Python's operator module that FX graphs call.
constexpr std::string_view kOperatorFunctions[] = {
    "add",  "and_",   "contains", "eq",     "floordiv", "ge",     "getitem", "gt",  "iadd",
    "imul", "index",  "inv",      "invert", "is_",      "is_not", "isub",    "le",  "lshift",
    "lt",   "matmul", "mod",      "mul",    "ne",       "neg",    "not_",    "or_", "pos",
    "pow",  "rshift", "setitem",  "sub",    "truediv",  "xor"};

/// How tables print functions: "<built-in function add>", "<built-in method relu of type object at 0x…>",
/// "<function layer_norm at 0x…>". The last names no module.
std::string_view targetOfRepr(std::string_view path, std::string& scratch) {
    if (removePrefix(path, "<built-in function ")) {
        const std::string_view name = path.substr(0, path.find('>'));
        const bool of_operator = std::find(std::begin(kOperatorFunctions), std::end(kOperatorFunctions),
                                           name) != std::end(kOperatorFunctions);
        scratch = (of_operator ? "operator." : "torch._C._nn.") + std::string(name);
    } else if (removePrefix(path, "<built-in method ")) {
        scratch = "torch." + std::string(path.substr(0, path.find(' ')));
    } else if (removePrefix(path, "<function ")) {
        const std::string_view name = path.substr(0, path.find(' '));
        scratch = name.find("redistribute") != std::string_view::npos
                      ? "torch._dynamo.variables.tensor.prim_redistribute"
                  : name.find("to_local") != std::string_view::npos
                      ? "torch._dynamo.variables.tensor.prim_to_local"
                  : name.find("from_local") != std::string_view::npos
                      ? "torch._dynamo.variables.torch.prim from_local"
                      : std::string(name);
    } else {
        return path;
    }
    return scratch;
}

} // namespace

std::string_view normalTarget(std::string_view path, std::string& scratch) {
    if (removePrefix(path, "torch.ops."))
        return path;
    if (removePrefix(path, "_operator.")) {
        scratch = "operator." + std::string(path);
        return scratch;
    }
    if (path.substr(0, 1) == "<")
        return targetOfRepr(path, scratch);
    for (const auto& [mangled, module] : kMangledModules) {
        if (startsWith(path, mangled)) {
            scratch = std::string(module) + std::string(withoutCounter(path.substr(mangled.size())));
            return scratch;
        }
    }
    return path;
}

std::string_view operatorTarget(std::string_view sign, bool in_place) {
    struct Row {
        std::string_view sign, plain, in_place;
    };
    static constexpr Row kRows[] = {{"+", "operator.add", "operator.iadd"},
                                    {"-", "operator.sub", "operator.isub"},
                                    {"*", "operator.mul", "operator.imul"},
                                    {"//", "operator.floordiv", "operator.ifloordiv"},
                                    {"/", "operator.truediv", "operator.itruediv"},
                                    {"%", "operator.mod", "operator.imod"},
                                    {"**", "operator.pow", "operator.ipow"},
                                    {"<<", "operator.lshift", "operator.ilshift"},
                                    {">>", "operator.rshift", "operator.irshift"},
                                    {"&", "operator.and_", "operator.iand"},
                                    {"|", "operator.or_", "operator.ior"},
                                    {"^", "operator.xor", "operator.ixor"},
                                    {"@", "operator.matmul", "operator.imatmul"},
                                    {"==", "operator.eq", ""},
                                    {"!=", "operator.ne", ""},
                                    {"<", "operator.lt", ""},
                                    {"<=", "operator.le", ""},
                                    {">", "operator.gt", ""},
                                    {">=", "operator.ge", ""}};
    for (const Row& row : kRows) {
        if (row.sign == sign)
            return in_place ? row.in_place : row.plain;
    }
    return {};
}

Arg::Kind torchObjectKind(std::string_view name) {
    if (dtypeFromName(name) != DType::Unknown)
        return Arg::Kind::DType;
    for (const std::string_view layout :
         {"strided", "sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc", "jagged"}) {
        if (name == layout)
            return Arg::Kind::Layout;
    }
    for (const std::string_view format :
         {"contiguous_format", "preserve_format", "channels_last", "channels_last_3d"}) {
        if (name == format)
            return Arg::Kind::MemoryFormat;
    }
    return Arg::Kind::None;
}

bool isDeviceName(std::string_view text) {
    for (const std::string_view type : {"cuda", "cpu", "meta", "xpu", "hpu", "mps", "npu", "mtia"}) {
        std::string_view rest = text;
        if (removePrefix(rest, type) &&
            (rest.empty() || (rest.size() > 1 && rest[0] == ':' &&
                              rest.find_first_not_of("0123456789", 1) == std::string_view::npos)))
            return true;
    }
    return false;
}

bool isSymbolName(std::string_view text) {
    if (!removePrefix(text, "zuf") && !removePrefix(text, "s") && !removePrefix(text, "u"))
        return false;
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool isSymbolExpression(std::string_view text) {
    bool symbol = false;
    for (size_t i = 0; i < text.size();) {
        if (!isNameChar(text[i])) {
            if (std::string_view("+-*/()%<>=, ").find(text[i]) == std::string_view::npos)
                return false;
            ++i;
            continue;
        }
        size_t end = i;
        while (end < text.size() && isNameChar(text[end]))
            ++end;
        const std::string_view word = text.substr(i, end - i);
        symbol = symbol || isSymbolName(word);
        const bool number = word.find_first_not_of("0123456789") == std::string_view::npos;
        if (!number && !isSymbolName(word) && (end >= text.size() || text[end] != '('))
            return false; // neither a symbol nor a function such as Max(…)
        i = end;
    }
    return symbol;
}

void AnnotationTable::apply(NodeId id, std::string_view text) {
    if (const auto found = known_.find(text); found != known_.end()) {
        builder_.node(id).value = found->second;
        return;
    }
    const Value value = parse(text);
    if (value.kind != Value::Kind::None)
        builder_.setValue(id, value);
    if (value.kind == Value::Kind::Tensor) {
        saw_tensor_ = true;
        if (value.tensor.dtype == DType::Unknown)
            builder_.diagnostics().add(
                {Severity::Warning,
                 "unknown-dtype",
                 {file_, builder_.node(id).source_line, 0},
                 std::string(builder_.text(builder_.node(id).name)),
                 "the dtype of \"" + std::string(text.substr(0, text.find('['))) + "\" is not known",
                 "its bytes count as unknown"});
    }
    known_.emplace(builder_.text(builder_.intern(text)), builder_.node(id).value);
}

Value AnnotationTable::parse(std::string_view text) {
    Value value;
    std::string_view inside = text;
    if (removePrefix(inside, "Sym(") && inside.find(')') != std::string_view::npos) {
        inside = inside.substr(0, inside.rfind(')'));
        int64_t number = 0;
        const auto [end, error] = std::from_chars(inside.data(), inside.data() + inside.size(), number);
        const bool whole = error == std::errc() && end == inside.data() + inside.size();
        value.kind = whole ? Value::Kind::Number : Value::Kind::Symbol;
        value.number = static_cast<double>(whole ? number : kUnknownSize);
        if (!whole)
            value.text = builder_.intern(inside);
        return value;
    }
    if (removePrefix(inside, "DTensor(")) // global sizes; placements follow the tensor
        inside = inside.substr(0, inside.rfind(", "));
    if (parseTensor(inside, value.tensor)) {
        value.kind = Value::Kind::Tensor;
    } else if (text.find('(') != std::string_view::npos) { // another tensor subclass
        value.kind = Value::Kind::Repr;
        value.text = builder_.intern(text);
        value.tensor = {};
    }
    return value;
}

bool AnnotationTable::parseTensor(std::string_view text, TensorMeta& tensor) {
    const size_t open = text.find('[');
    if (open == std::string_view::npos || open == 0 || open > 16 ||
        !std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(open), isNameChar))
        return false;
    size_t close = closingBracket(text, open);
    if (close == std::string_view::npos)
        return false;
    tensor.dtype = dtypeFromName(text.substr(0, open));
    tensor.shape = parseDims(text.substr(open + 1, close - open - 1));
    std::string_view rest = text.substr(close + 1);
    if (!rest.empty() && rest.front() == '[') {
        close = closingBracket(rest, 0);
        if (close == std::string_view::npos)
            return true;
        tensor.stride = parseDims(rest.substr(1, close - 1));
        tensor.has_stride = true;
        rest.remove_prefix(close + 1);
    }
    if (isDeviceName(rest))
        tensor.device = builder_.intern(rest);
    return true;
}

std::vector<Dim> AnnotationTable::parseDims(std::string_view text) {
    std::vector<Dim> dims;
    int depth = 0;
    for (size_t from = 0, i = 0; i <= text.size(); ++i) {
        if (i < text.size() && (text[i] != ',' || depth > 0)) {
            depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
            continue;
        }
        const std::string_view item = trimmed(text.substr(from, i - from));
        from = i + 1;
        if (item.empty())
            continue;
        Dim dim;
        const auto [end, error] = std::from_chars(item.data(), item.data() + item.size(), dim.value);
        if (error != std::errc() || end != item.data() + item.size()) {
            dim.value = kUnknownSize;
            dim.symbol = builder_.intern(item);
        } else if (dim.value < 0) {
            dim.value = kUnknownSize;
        }
        dims.push_back(dim);
    }
    return dims;
}

void CommentFacts::read(std::string_view comment, GraphBuilder& builder) {
    comment = trimmed(comment);
    size_t file = comment.find("File: ");
    const std::string_view head = comment.substr(0, file);
    const bool none = startsWith(comment, "No stacktrace found") || comment.empty();
    const bool backward = head.find("Backward of forward node") != std::string_view::npos;
    const size_t annotation = head.find("Annotation: {");
    const bool policy = head.find("recompute: ") != std::string_view::npos ||
                        head.find("ac_graph_id: ") != std::string_view::npos;
    if (!none && !backward && annotation == std::string_view::npos && !policy && file != 0)
        return; // a comment of somebody else
    *this = {};
    phase = backward ? Phase::Backward : Phase::Unknown;
    recompute = policy && head.find("RECOMPUTE") != std::string_view::npos;
    constexpr std::string_view kModule = "'module_fqn': '";
    if (const size_t at = annotation == std::string_view::npos ? annotation : head.find(kModule, annotation);
        at != std::string_view::npos) {
        const std::string_view rest = head.substr(at + kModule.size());
        module = builder.intern(rest.substr(0, rest.find_first_of("'}")));
    }
    if (file == std::string_view::npos)
        return;
    file += 6;
    const size_t in = comment.find(" in ", file);
    const size_t code = comment.find(", code: ", file);
    const std::string_view place = comment.substr(file, std::min(in, code) - file);
    const std::string_view text = code == std::string_view::npos ? "" : comment.substr(code + 8);
    source = builder.intern(text.empty() ? std::string(place) : std::string(place) + " " + std::string(text));
}

void CommentFacts::applyTo(NodeId id, GraphBuilder& builder) const {
    Node& node = builder.node(id);
    node.module = module;
    node.source = source;
    node.phase = phase;
    builder.meta(id).recompute = recompute;
}

} // namespace gs

// Statements of the code form: what FX's code generator writes for each kind of node (torch/fx/graph.py,
// CodeGen._gen_python_code).
#include "import/fx_code_reader.h"

#include "import/fx_scan.h"

#include <algorithm>
#include <fmt/format.h>

namespace gs {

namespace {

constexpr size_t kMaxMissing = 10000; ///< more undefined names are a damaged text

size_t skipSpaces(std::string_view text, size_t at) {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\t' || text[at] == '\n'))
        ++at;
    return at;
}

size_t nameEnd(std::string_view text, size_t at) {
    while (at < text.size() && isNameChar(text[at]))
        ++at;
    return at;
}

/// End of a dotted name at `at`.
size_t pathEnd(std::string_view text, size_t at) {
    while (at < text.size() && (isNameChar(text[at]) || text[at] == '.'))
        ++at;
    return at;
}

/// Position of the first `stop` outside quotes and brackets, or the end. `stop` may be a bracket that closes
/// one opened before `at`.
size_t findOutside(std::string_view text, size_t at, char stop) {
    int depth = 0;
    for (; at < text.size(); ++at) {
        const char c = text[at];
        if (depth == 0 && c == stop)
            return at;
        if (c == '"' || c == '\'') {
            for (++at; at < text.size() && text[at] != c; ++at)
                at += text[at] == '\\' ? 1 : 0;
        } else {
            depth += c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
        }
    }
    return text.size();
}

/// "a + b": position and length of the operator outside brackets; {npos, 0} if there is none.
std::pair<size_t, size_t> findBinaryOperator(std::string_view text) {
    for (size_t at = findOutside(text, 0, ' '); at < text.size(); at = findOutside(text, at + 1, ' ')) {
        const size_t end = text.find(' ', at + 1);
        if (end == std::string_view::npos)
            break;
        if (!operatorTarget(text.substr(at + 1, end - at - 1), false).empty())
            return {at + 1, end - at - 1};
    }
    return {std::string_view::npos, 0};
}

} // namespace

NodeId FxCodeReader::addNode(std::string_view name, NodeOp op, std::string_view target) {
    flushInputs();
    std::string scratch;
    const bool function = op == NodeOp::CallFunction;
    const NodeId id = builder_.addNode(name, op, function ? normalTarget(target, scratch) : target, place(0));
    comment_.applyTo(id, builder_);
    ++calls_;
    user_ = id;
    return id;
}

bool FxCodeReader::isKnown(std::string_view name) const {
    return builder_.findNode(name) != kNoNode || (!aliases_.empty() && aliases_.count(std::string(name)));
}

Arg FxCodeReader::resolve(std::string_view name, size_t offset) {
    if (!aliases_.empty()) {
        if (const auto alias = aliases_.find(std::string(name)); alias != aliases_.end())
            return builder_.nodeArg(alias->second);
    }
    const NodeId id = builder_.findNode(name);
    if (id != kNoNode && id != user_)
        return builder_.nodeArg(id);
    if (id == kNoNode && isSymbolName(name))
        return builder_.symbolArg(name, kUnknownSize);
    if (id == kNoNode && std::find(missing_.begin(), missing_.end(), name) == missing_.end() &&
        missing_.size() < kMaxMissing)
        missing_.emplace_back(name);
    if (id == kNoNode && fragment_ && undefined_.empty())
        return builder_.textArg(Arg::Kind::Repr, name);
    return builder_.nodeArg(name, user_, place(offset));
}

/// One operand of an operator; `at` = its position in the statement, for messages.
Arg FxCodeReader::operandOf(std::string_view text, size_t at) {
    Arg arg;
    ExprParser parser(text, 0, ExprForm::Code, builder_, *this);
    if (!parser.value(arg)) {
        badLine(at, fmt::format("expected {} in \"{}\"", parser.error(), text));
        arg = builder_.textArg(Arg::Kind::Repr, text);
    }
    return arg;
}

void FxCodeReader::readStatement(std::string_view text) {
    const std::string_view name = text.substr(0, nameEnd(text, 0));
    last_name_ = name;
    size_t at = skipSpaces(text, name.size());
    if (name.empty() || at >= text.size()) {
        badLine(0, fmt::format("expected \"name = …\", found \"{}\"", text.substr(0, 60)));
        return;
    }
    std::string_view annotation;
    if (text[at] == ':') {
        at = skipSpaces(text, at + 1);
        if (at < text.size() && (text[at] == '"' || text[at] == '\'')) {
            const size_t close = text.find(text[at], at + 1);
            if (close == std::string_view::npos) {
                badLine(at, "the type annotation is not complete");
                return;
            }
            annotation = text.substr(at + 1, close - at - 1);
            at = skipSpaces(text, close + 1);
        } else {
            at = std::min(findOutside(text, at, '='), findOutside(text, at, ';'));
        }
        if (at >= text.size() || text[at] == ';') { // pytree form: types first, names later
            bare_annotations_[name] = annotation;
            const size_t next = at >= text.size() ? text.size() : skipSpaces(text, at + 1);
            if (next < text.size())
                readStatement(text.substr(next));
            return;
        }
    }
    if (text[at] == '=' && text.substr(at, 2) != "==") {
        readAssignment(name, annotation, text, skipSpaces(text, at + 1));
    } else if (text[at] == ',' && text.find("tree_flatten_spec", at) != std::string_view::npos) {
        readFlattenedInputs(text);
    } else if (!readInPlace(name, text, at)) {
        badLine(at, fmt::format("expected = after \"{}\", found \"{}\"", name, text.substr(at, 40)),
                "the line is left out");
    }
}

void FxCodeReader::readAssignment(std::string_view name, std::string_view annotation, std::string_view text,
                                  size_t at) {
    const size_t end = pathEnd(text, at);
    const std::string_view path = text.substr(at, end - at);
    NodeId id = kNoNode;
    if (!path.empty() && end < text.size() && text[end] == '(') {
        const size_t dot = path.find('.');
        const std::string_view head = path.substr(0, dot);
        if (path.find("tree_flatten_spec") != std::string_view::npos) {
            readFlattenedInputs(text);
            return;
        }
        flushInputs();
        if (path == "torch.ops.higher_order.control_deps" && readOrderedCall(name, text, end)) {
            id = user_;
        } else if (head == "self" && dot != std::string_view::npos) {
            id = addNode(name, NodeOp::CallModule, path.substr(5));
            readCall(id, text, end, nullptr);
        } else if (dot != std::string_view::npos && head != "torch" && isKnown(head)) {
            const Arg self = resolve(head, at);
            id = addNode(name, NodeOp::CallMethod, path.substr(dot + 1));
            readCall(id, text, end, &self);
        } else {
            id = addNode(name, NodeOp::CallFunction, path);
            readCall(id, text, end, nullptr);
        }
    } else {
        const std::string_view value = trimmed(text.substr(at, findOutside(text, at, ';') - at));
        if (value == path && renameInput(name, annotation, value))
            return;
        if (value == "None")
            return; // a deletion on its own line
        flushInputs();
        if (value == path && isKnown(value)) {
            aliases_[std::string(name)] = resolve(value, at).node();
            return;
        }
        if (!readOperator(name, value, at)) {
            badLine(at,
                    fmt::format("expected a call, an operator or an item, found \"{}\"", value.substr(0, 60)),
                    "the line is left out");
            return;
        }
        id = user_;
    }
    if (!annotation.empty())
        annotations_.apply(id, annotation);
    user_ = kNoNode;
}

/// Arguments behind the parenthesis at `open`. `first` = the object of a method call.
void FxCodeReader::readCall(NodeId id, std::string_view text, size_t open, const Arg* first) {
    args_.clear();
    kwargs_.clear();
    if (first)
        args_.push_back(*first);
    ExprParser parser(text, open + 1, ExprForm::Code, builder_, *this);
    const bool whole = parser.callArguments(args_, kwargs_);
    builder_.setArgs(id, args_);
    builder_.setKwargs(id, kwargs_);
    if (!whole) {
        badLine(parser.position(),
                fmt::format("expected {}{}", parser.error(), parser.endedEarly() ? ", the line ends" : ""),
                "the node keeps the arguments before this place");
        return;
    }
    const size_t rest = skipSpaces(text, parser.position());
    if (rest < text.size() && text[rest] != ';')
        badLine(rest, fmt::format("unexpected \"{}\" after the call", text.substr(rest, 40)),
                "only the call before it was read");
}

/// control_deps((a, b), subgraph_x, args…): the node is the operator inside the subgraph; a and b are what
/// another scheduler wanted before it, so they become advisory edges. False: the subgraph is not one call.
bool FxCodeReader::readOrderedCall(std::string_view name, std::string_view text, size_t open) {
    std::vector<Arg> outer, kwargs;
    ExprParser parser(text, open + 1, ExprForm::Code, builder_, *this);
    if (!parser.callArguments(outer, kwargs) || outer.size() < 2 || outer[0].kind != Arg::Kind::List ||
        outer[1].kind != Arg::Kind::Node)
        return false;
    const auto found = subgraphs_.find(std::string(builder_.text(builder_.node(outer[1].node()).name)));
    if (found == subgraphs_.end() || found->second.target.empty() ||
        found->second.inputs.size() != outer.size() - 2)
        return false;
    struct Inner : NameResolver {
        const Subgraph& graph;
        const std::vector<Arg>& outer;
        GraphBuilder& builder;
        Inner(const Subgraph& g, const std::vector<Arg>& o, GraphBuilder& b)
            : graph(g), outer(o), builder(b) {}
        Arg resolve(std::string_view input, size_t) override {
            const auto at = std::find(graph.inputs.begin(), graph.inputs.end(), input);
            return at == graph.inputs.end() ? builder.textArg(Arg::Kind::Repr, input)
                                            : outer[static_cast<size_t>(at - graph.inputs.begin()) + 2];
        }
    } inner(found->second, outer, builder_);
    std::vector<Arg> args;
    kwargs.clear();
    ExprParser body(found->second.arguments, 0, ExprForm::Code, builder_, inner);
    if (!body.callArguments(args, kwargs))
        return false;
    const NodeId id = addNode(name, NodeOp::CallFunction, found->second.target);
    builder_.setArgs(id, args);
    builder_.setKwargs(id, kwargs);
    for (const Arg& before : builder_.graph().children(outer[0])) {
        if (before.kind == Arg::Kind::Node)
            builder_.addWeakInput(id, before.node());
    }
    return true;
}

/// "self.x", "a[0]", "a + b", "-a", "a.shape". False if `value` is none of them.
bool FxCodeReader::readOperator(std::string_view name, std::string_view value, size_t at) {
    std::vector<Arg> args;
    if (const auto [sign, length] = findBinaryOperator(value); length > 0) {
        addNode(name, NodeOp::CallFunction, operatorTarget(value.substr(sign, length), false));
        args.push_back(operandOf(trimmed(value.substr(0, sign)), at));
        args.push_back(operandOf(trimmed(value.substr(sign + length)), at + sign + length));
    } else if (value.substr(0, 5) == "self." || value.substr(0, 13) == "getattr(self.") {
        addNode(name, NodeOp::GetAttr, value.substr(value[0] == 's' ? 5 : 0));
    } else if (value.size() > 1 && (value[0] == '-' || value[0] == '~' || value[0] == '+') &&
               isNameChar(value[1])) {
        addNode(name, NodeOp::CallFunction,
                value[0] == '-'   ? "operator.neg"
                : value[0] == '~' ? "operator.invert"
                                  : "operator.pos");
        args.push_back(operandOf(value.substr(1), at + 1));
    } else if (const size_t open = nameEnd(value, 0);
               open > 0 && open < value.size() && value[open] == '[' && value.back() == ']') {
        addNode(name, NodeOp::CallFunction, "operator.getitem");
        args.push_back(operandOf(value.substr(0, open), at));
        args.push_back(operandOf(value.substr(open + 1, value.size() - open - 2), at + open + 1));
    } else if (open > 0 && open < value.size() && value[open] == '.' && pathEnd(value, 0) == value.size() &&
               isKnown(value.substr(0, open))) {
        addNode(name, NodeOp::CallFunction, "getattr");
        args.push_back(operandOf(value.substr(0, open), at));
        args.push_back(builder_.textArg(Arg::Kind::String, value.substr(open + 1)));
    } else {
        return false;
    }
    builder_.setArgs(user_, args);
    builder_.setKwargs(user_, {});
    return true;
}

/// "a += b;  iadd = a" and "a[0] = b;  setitem = a". False if the line is neither.
bool FxCodeReader::readInPlace(std::string_view object, std::string_view text, size_t at) {
    const size_t end = findOutside(text, at, ';');
    const size_t name_at = skipSpaces(text, std::min(end + 1, text.size()));
    const std::string_view name = text.substr(name_at, nameEnd(text, name_at) - name_at);
    const std::string_view statement = text.substr(0, end);
    if (name.empty() || !isKnown(object))
        return false;
    std::vector<std::pair<std::string_view, size_t>> operands = {{object, 0}};
    std::string_view target;
    if (text[at] == '[') {
        const size_t close = findOutside(statement, at + 1, ']');
        const size_t equals = skipSpaces(statement, std::min(close + 1, statement.size()));
        if (equals >= statement.size() || statement[equals] != '=')
            return false;
        target = "operator.setitem";
        operands.emplace_back(statement.substr(at + 1, close - at - 1), at + 1);
        operands.emplace_back(trimmed(statement.substr(equals + 1)), equals + 1);
    } else {
        const size_t equals = statement.find('=', at);
        if (equals == std::string_view::npos)
            return false;
        target = operatorTarget(statement.substr(at, equals - at), true);
        operands.emplace_back(trimmed(statement.substr(equals + 1)), equals + 1);
    }
    if (target.empty())
        return false;
    const NodeId id = addNode(name, NodeOp::CallFunction, target);
    std::vector<Arg> args;
    for (const auto& [operand, position] : operands)
        args.push_back(operandOf(operand, position));
    builder_.setArgs(id, args);
    builder_.setKwargs(id, {});
    user_ = kNoNode;
    return true;
}

void FxCodeReader::readReturn(std::string_view text) {
    flushInputs();
    size_t at = skipSpaces(text, 6);
    constexpr std::string_view kUnflatten = "pytree.tree_unflatten(";
    if (text.substr(at, kUnflatten.size()) == kUnflatten) {
        at += kUnflatten.size();
    } else if (findOutside(text, at, ',') < text.size()) { // return a, b
        text = scratch_.emplace_back("return(" + std::string(text.substr(at)) + ")");
        at = 6;
    }
    ExprParser parser(text, at, ExprForm::Code, builder_, *this);
    Arg result;
    const bool whole = at >= text.size() || parser.value(result);
    if (!whole) {
        badLine(parser.position(), fmt::format("the return is not complete: expected {}", parser.error()),
                "the graph is shown without its outputs");
        return;
    }
    std::string name = "output"; // FX gives the first free name; a node of Dynamo may be called output too
    for (int suffix = 1; builder_.findNode(name) != kNoNode; ++suffix)
        name = fmt::format("output_{}", suffix);
    comment_ = {};
    const NodeId id = addNode(name, NodeOp::Output, "output");
    builder_.setArgs(id, {result});
    builder_.setKwargs(id, {});
    user_ = kNoNode;
}

} // namespace gs

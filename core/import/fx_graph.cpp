// Reads the form that print(graph) writes (torch/fx/node.py, Node.format_node). Strings have no quotes in it;
// the operators' schemas tell which arguments are strings.
#include "import/fx_expr.h"
#include "import/fx_scan.h"
#include "import/fx_text.h"
#include "import/readers.h"

#include <algorithm>
#include <fmt/format.h>
#include <unordered_set>

namespace gs {

namespace {

/// The parts of "%name : type "f32[2]"[num_users=1] = call_function[target=T](args = (…), kwargs = {…})".
struct NodeLine {
    std::string_view name;
    std::string_view annotation; ///< between quotes, from format_node with tensor metadata
    std::string_view op;
    std::string_view target;
    size_t rest = 0; ///< position of the "(" behind the target, or the end
};

/// Position of the "]" that ends "[target=…": a target may hold brackets and spaces.
size_t targetEnd(std::string_view text, size_t from) {
    for (size_t at = text.find(']', from); at != std::string_view::npos; at = text.find(']', at + 1)) {
        if (at + 1 == text.size() || text[at + 1] == '(' || text[at + 1] == ' ')
            return at;
    }
    return std::string_view::npos;
}

bool splitNodeLine(std::string_view text, NodeLine& line) {
    if (text.empty() || text.front() != '%')
        return false;
    size_t at = 1;
    while (at < text.size() && isNameChar(text[at]))
        ++at;
    line.name = text.substr(1, at - 1);
    const size_t target = text.find("[target=", at);
    if (line.name.empty() || target == std::string_view::npos)
        return false;
    const size_t equals = text.rfind(" = ", target);
    if (equals == std::string_view::npos || equals < at)
        return false;
    line.op = text.substr(equals + 3, target - equals - 3);
    const std::string_view type = text.substr(at, equals - at);
    if (const size_t quote = type.find('"'); quote != std::string_view::npos)
        line.annotation = type.substr(quote + 1, type.find('"', quote + 1) - quote - 1);
    const size_t end = targetEnd(text, target + 8);
    if (end == std::string_view::npos)
        return false;
    line.target = text.substr(target + 8, end - target - 8);
    line.rest = end + 1;
    return true;
}

std::optional<NodeOp> opByName(std::string_view name) {
    for (const NodeOp op : {NodeOp::Placeholder, NodeOp::GetAttr, NodeOp::CallFunction, NodeOp::CallMethod,
                            NodeOp::CallModule, NodeOp::Output}) {
        if (nodeOpName(op) == name)
            return op;
    }
    return std::nullopt;
}

std::string_view withoutComment(std::string_view text, bool commented) {
    text = trimmed(text);
    if (commented && !text.empty() && text.front() == '#')
        text = trimmed(text.substr(1));
    if (const size_t noqa = text.find("  # noqa"); noqa != std::string_view::npos)
        text = trimmed(text.substr(0, noqa));
    return text;
}

std::vector<GraphEntry> findGraphs(std::string_view text, bool commented) {
    std::vector<GraphEntry> found;
    LineReader reader(text, 0, text.size(), 1, isTorchTrace(text));
    TextLine line;
    GraphHeading heading;
    TargetCounter targets;
    bool open = false;
    bool headed = false;
    uint64_t stream = 0;
    while (reader.next(line)) {
        const std::string_view content = withoutComment(line.text, commented);
        if (content.empty() || (open && line.stream != stream))
            continue;
        const bool header = content == "graph():";
        NodeLine node;
        const bool is_node = !header && splitNodeLine(content, node);
        const bool output = open && content.substr(0, 7) == "return ";
        if (header || (is_node && !open)) {
            found.push_back(heading.entry(header ? "graph" : "fragment", line));
            found.back().sureness = commented ? kSureOfComment : header ? kSureOfGraph : kSureOfFragment;
            open = true;
            headed = header;
            stream = line.stream;
            heading = {};
        }
        if (header || is_node || output || (open && headed && content.front() == '%')) {
            found.back().length =
                std::min(text.find('\n', line.offset), text.size() - 1) + 1 - found.back().offset;
            found.back().nodes += is_node || output ? 1 : 0;
            if (is_node && node.op == "call_function")
                targets.count(node.target, found.back());
            open = !output;
        } else if (content.front() != '#') {
            open = false;
            heading.read(line);
        }
    }
    return found;
}

/// Whole graphs and fragments; fragments in comments only if there is nothing else.
std::vector<GraphEntry> findGraphs(std::string_view text) {
    if (!containsText(text, "[target="))
        return {};
    std::vector<GraphEntry> found = findGraphs(text, false);
    return found.empty() ? findGraphs(text, true) : found;
}

class FxGraphReader : private NameResolver {
public:
    FxGraphReader(const InputText& input, const GraphEntry& entry, std::vector<std::string> undefined)
        : input_(input), entry_(entry), annotations_(builder_, input.path), undefined_(std::move(undefined)) {
    }

    Result<GraphPtr> read(Diagnostics& diagnostics, const JobContext& job) {
        LineReader lines(input_.text, entry_.offset, entry_.offset + entry_.length, entry_.line,
                         input_.text[entry_.offset] == '\t' && isTorchTrace(input_.text));
        TextLine line;
        bool first = true;
        uint64_t stream = 0;
        while (!returned_ && lines.next(line)) {
            if (first) {
                stream = line.stream;
                commented_ = trimmed(line.text).substr(0, 1) == "#";
                fragment_ = withoutComment(line.text, commented_) != "graph():";
                for (const std::string& name : undefined_)
                    addPlaceholder(name, name);
            }
            first = false;
            if (line.stream == stream)
                readLine(line);
            if (job.cancelled())
                return Error{"cancelled", "cancelled", {}, ""};
        }
        return finish(diagnostics);
    }

    bool isFragment() const { return fragment_; }
    const std::vector<std::string>& undefinedNames() const { return missing_; }

private:
    Result<GraphPtr> finish(Diagnostics& diagnostics) {
        const SourcePos start = {input_.path, entry_.line, 0};
        if (builder_.size() == 0) {
            diagnostics.append(builder_.diagnostics());
            return Error{"empty-graph", fmt::format("{}: the graph has no nodes", input_.path), start,
                         "print the graph again"};
        }
        if (!returned_ && !fragment_)
            builder_.diagnostics().add({Severity::Warning,
                                        "cut-graph",
                                        place(0),
                                        {},
                                        "the graph's text ends before its return",
                                        "the end of the graph is missing: copy the whole text"});
        if (fragment_)
            builder_.diagnostics().add(
                {Severity::Warning,
                 "fragment",
                 start,
                 {},
                 fmt::format(
                     "this is a part of a graph{}; {} names that it does not define are shown as inputs",
                     commented_ ? ", in comments" : "", undefined_.size()),
                 "open the whole graph to see what comes before and after"});
        missing_.erase(std::remove_if(missing_.begin(), missing_.end(),
                                      [&](const auto& name) { return builder_.findNode(name) != kNoNode; }),
                       missing_.end());
        describeSource(builder_, input_.path, entry_, "print(graph)");
        completeFxGraph(builder_, start, annotations_.sawTensor());
        return builder_.finish(&diagnostics);
    }

    SourcePos place(size_t at) const { return {input_.path, line_, column_ + static_cast<uint32_t>(at)}; }

    void badLine(size_t at, std::string_view node, std::string message) {
        builder_.diagnostics().add({Severity::Error, "bad-line", place(at), std::string(node),
                                    std::move(message), "the rest of the line is left out"});
    }

    void addPlaceholder(std::string_view name, std::string_view target) {
        const NodeId id = builder_.addNode(name, NodeOp::Placeholder, target, place(0));
        builder_.setArgs(id, {});
        builder_.setKwargs(id, {});
    }

    void readLine(const TextLine& line) {
        const std::string_view text = withoutComment(line.text, commented_);
        line_ = line.number;
        column_ = line.column + static_cast<uint32_t>(line.text.find(text));
        if (text.empty() || text.front() == '#' || text == "graph():")
            return;
        NodeLine node;
        if (text.substr(0, 7) == "return ") {
            readReturn(text);
        } else if (!splitNodeLine(text, node)) {
            badLine(0, {},
                    fmt::format("expected %name : … = op[target=…](…), found \"{}\"", text.substr(0, 60)));
        } else if (const auto op = opByName(node.op)) {
            readNode(*op, node, text);
        } else {
            badLine(0, node.name, fmt::format("\"{}\" is no kind of node", node.op.substr(0, 40)));
        }
    }

    void readNode(NodeOp op, const NodeLine& node, std::string_view text) {
        std::string scratch;
        const std::string_view target =
            op == NodeOp::CallFunction ? normalTarget(node.target, scratch) : node.target;
        const NodeId id = builder_.addNode(node.name, op, target, place(0));
        user_ = id;
        std::vector<Arg> args, kwargs;
        size_t at = node.rest;
        ExprParser parser(text, at, ExprForm::Lossy, builder_, *this);
        if (op == NodeOp::Placeholder) {
            constexpr std::string_view kDefault = "(default=";
            if (text.substr(at, kDefault.size()) == kDefault) {
                ExprParser value(text, at + kDefault.size(), ExprForm::Lossy, builder_, *this);
                Arg item;
                if (value.value(item))
                    args.push_back(item);
            }
        } else if (op != NodeOp::GetAttr || at < text.size()) {
            readArguments(id, text, at, args, kwargs);
        }
        builder_.setArgs(id, args);
        builder_.setKwargs(id, kwargs);
        if (!node.annotation.empty())
            annotations_.apply(id, node.annotation);
        user_ = kNoNode;
    }

    /// "(args = (…), kwargs = {…})"
    void readArguments(NodeId id, std::string_view text, size_t at, std::vector<Arg>& args,
                       std::vector<Arg>& kwargs) {
        constexpr std::string_view kArgs = "(args = ";
        constexpr std::string_view kKwargs = ", kwargs = ";
        const OpTraits& traits = builder_.graph().target(id).traits;
        const std::string_view name = builder_.text(builder_.node(id).name);
        if (text.substr(at, kArgs.size()) != kArgs) {
            badLine(at, name, "expected (args = (…), kwargs = {…}) behind the target");
            return;
        }
        ExprParser list(text, at + kArgs.size(), ExprForm::Lossy, builder_, *this);
        if (!list.sequence(args, &traits)) {
            badLine(list.position(), name, fmt::format("expected {}", list.error()));
            return;
        }
        at = list.position();
        if (text.substr(at, kKwargs.size()) != kKwargs) {
            badLine(at, name, "expected , kwargs = {…}");
            return;
        }
        ExprParser dict(text, at + kKwargs.size(), ExprForm::Lossy, builder_, *this);
        if (!dict.dictionary(kwargs, &traits))
            badLine(dict.position(), name, fmt::format("expected {}", dict.error()));
    }

    /// "return (view_2, primals_1)": names without %.
    void readReturn(std::string_view text) {
        returned_ = true;
        ExprParser parser(text, 7, ExprForm::Code, builder_, *this);
        Arg result;
        if (!parser.value(result)) {
            badLine(parser.position(), {},
                    fmt::format("the return is not complete: expected {}", parser.error()));
            return;
        }
        std::string name = "output";
        for (int suffix = 1; builder_.findNode(name) != kNoNode; ++suffix)
            name = fmt::format("output_{}", suffix);
        const NodeId id = builder_.addNode(name, NodeOp::Output, "output", place(0));
        builder_.setArgs(id, {result});
        builder_.setKwargs(id, {});
    }

    Arg resolve(std::string_view name, size_t offset) override {
        const NodeId id = builder_.findNode(name);
        if (id != kNoNode && id != user_)
            return builder_.nodeArg(id);
        if (id == kNoNode && fragment_ && undefined_.empty()) {
            if (std::find(missing_.begin(), missing_.end(), name) == missing_.end())
                missing_.emplace_back(name);
            return builder_.textArg(Arg::Kind::Repr, name);
        }
        return builder_.nodeArg(name, user_, place(offset));
    }

    const InputText& input_;
    const GraphEntry& entry_;
    GraphBuilder builder_;
    AnnotationTable annotations_;
    std::vector<std::string> undefined_; ///< become inputs
    std::vector<std::string> missing_;   ///< found by this reading
    bool commented_ = false;
    bool fragment_ = false;
    bool returned_ = false;
    NodeId user_ = kNoNode;
    uint32_t line_ = 0;
    uint32_t column_ = 1;
};

std::vector<GraphEntry> listGraph(const InputText& input) {
    return findGraphs(input.text);
}

Result<GraphPtr> readGraph(const InputText& input, const GraphEntry& entry, Diagnostics& diagnostics,
                           const JobContext& job) {
    job.report("reading nodes", 0.1);
    Diagnostics found;
    FxGraphReader reader(input, entry, {});
    Result<GraphPtr> graph = reader.read(found, job);
    if (!reader.isFragment() || reader.undefinedNames().empty()) {
        diagnostics.append(found);
        return graph;
    }
    FxGraphReader again(input, entry, reader.undefinedNames());
    return again.read(diagnostics, job);
}

} // namespace

GraphReader fxGraphReader() {
    return {"fx-graph", "print(graph) form", listGraph, readGraph};
}

} // namespace gs

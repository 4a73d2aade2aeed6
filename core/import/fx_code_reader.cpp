#include "import/fx_code_reader.h"

#include "import/call_text.h"
#include "import/fx_inline.h"
#include "import/fx_scan.h"
#include "import/shape_inference.h"

#include <algorithm>
#include <fmt/format.h>
#include <unordered_set>

namespace gs {

namespace {

constexpr size_t kMaxJoinedLines = 5000; ///< a statement over more lines is a damaged text

/// Tells whether brackets stay open or the text ends in a backslash, so that the statement goes on in the
/// next line. Takes a statement piece by piece: one of many lines is looked at once, not again with every
/// line.
class OpenEnd {
public:
    explicit OpenEnd(std::string_view text) { take(text); }

    void take(std::string_view text) {
        enum : int8_t { kOther, kOpen, kClose, kQuote, kHash };
        static constexpr auto kClass = [] {
            std::array<int8_t, 256> table{};
            for (const char c : {'(', '[', '{'})
                table[static_cast<size_t>(c)] = kOpen;
            for (const char c : {')', ']', '}'})
                table[static_cast<size_t>(c)] = kClose;
            for (const char c : {'"', '\''})
                table[static_cast<size_t>(c)] = kQuote;
            table['#'] = kHash;
            return table;
        }();
        const char* const end = text.data() + text.size();
        const char* at = quote_ ? behindQuote(text.data(), end) : text.data();
        for (; at < end; ++at) {
            const int8_t found = kClass[static_cast<unsigned char>(*at)];
            if (found == kOther)
                continue;
            if (found == kOpen) {
                ++depth_;
            } else if (found == kClose) {
                --depth_;
            } else if (found == kQuote) {
                quote_ = *at;
                at = behindQuote(at + 1, end) - 1;
            } else if (at == text.data() ? first_ : at[-1] == ' ') { // a comment
                at = std::find(at, end, '\n');
            }
        }
        first_ = false;
        backslash_ = !text.empty() && text.back() == '\\';
    }

    explicit operator bool() const { return depth_ > 0 || backslash_; }

private:
    const char* behindQuote(const char* at, const char* end) {
        for (; at < end && *at != quote_; ++at)
            at += *at == '\\' ? 1 : 0;
        if (at >= end)
            return end; // it goes on in the next piece
        quote_ = 0;
        return at + 1;
    }

    int depth_ = 0;
    char quote_ = 0; ///< the one that is open
    bool first_ = true;
    bool backslash_ = false;
};

/// The line begins something new, so that an open statement before it was cut.
bool startsStatement(std::string_view text) {
    return looksLikeNode(text) || text.substr(0, 7) == "return " || text.substr(0, 4) == "def " ||
           moduleClassName(text);
}

/// Without "# noqa: E501" or another comment at the end.
std::string_view withoutTrailingComment(std::string_view text) {
    if (text.find('#') == std::string_view::npos)
        return text;
    char quote = 0;
    for (size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quote) {
            if (c == '\\')
                ++i;
            else if (c == quote)
                quote = 0;
        } else if (c == '"' || c == '\'') {
            quote = c;
        } else if (c == '#') {
            return trimmed(text.substr(0, i));
        }
    }
    return text;
}

} // namespace

FxCodeReader::FxCodeReader(const InputText& input, const GraphEntry& entry,
                           std::vector<std::string> undefined, bool sorted)
    : input_(input), entry_(entry), lines_(input.text, entry.offset, entry.offset + entry.length, entry.line,
                                           input.text[entry.offset] == '\t' && isTorchTrace(input.text)),
      annotations_(builder_, input.path), undefined_(std::move(undefined)), sorted_(sorted) {}

SourcePos FxCodeReader::place(size_t at) const {
    return {input_.path, line_, column_ + static_cast<uint32_t>(at)};
}

void FxCodeReader::badLine(size_t at, std::string message, std::string hint) {
    ++bad_lines_;
    builder_.diagnostics().add({Severity::Error, "bad-line", place(at), std::string(last_name_),
                                std::move(message), std::move(hint)});
}

bool FxCodeReader::nextLine(TextLine& line) {
    if (has_pending_) {
        line = pending_;
        has_pending_ = false;
        return true;
    }
    while (lines_.next(line)) {
        if (line.stream != stream_)
            continue; // another rank or another message
        if (!commented_)
            return true;
        const size_t indent = indentOf(line.text);
        if (indent < line.text.size() && line.text[indent] == '#') {
            line.text.remove_prefix(indent + 1);
            line.column += static_cast<uint32_t>(indent + 1);
            return true;
        }
    }
    return false;
}

/// Reads up to the first line of the body. `line` is the first line of the entry.
void FxCodeReader::readHead(TextLine& line) {
    stream_ = line.stream;
    const std::string_view first = trimmed(line.text);
    commented_ = !first.empty() && first.front() == '#';
    pending_ = line;
    has_pending_ = true;
    if (commented_) {
        const size_t mark = line.text.find('#');
        pending_.text.remove_prefix(mark + 1);
        pending_.column += static_cast<uint32_t>(mark + 1);
    }
    if (!moduleClassName(line.text) && !functionName(line.text)) {
        fragment_ = true;
        return;
    }
    while (nextLine(line)) {
        const auto function = functionName(line.text);
        if (!function || *function == "__init__")
            continue;
        line_ = line.number;
        column_ = line.column + static_cast<uint32_t>(indentOf(line.text));
        std::string joined(trimmed(line.text));
        OpenEnd open(joined);
        TextLine more;
        while (open && nextLine(more)) {
            if (startsStatement(trimmed(more.text))) {
                pending_ = more;
                has_pending_ = true;
                break;
            }
            joined += '\n';
            joined += more.text;
            open.take(more.text);
        }
        readHeader(scratch_.emplace_back(std::move(joined)), line);
        return;
    }
}

void FxCodeReader::readHeader(std::string_view text, const TextLine&) {
    const size_t open = text.find('(');
    size_t close = text.rfind(')');
    if (close == std::string_view::npos || close < open) {
        close = text.size();
        badLine(0, "the header of the graph is not complete", "copy the text again");
        // an input that was cut in the middle does not count
        close = std::max(open, std::min(text.rfind(','), close));
    }
    std::vector<std::pair<std::string_view, std::string_view>> arguments;
    if (!parseHeaderArguments(text.substr(open + 1, close > open ? close - open - 1 : 0), arguments))
        fragment_ = true; // "def step(..):", shortened by hand
    for (const auto& [name, annotation] : arguments)
        inputs_.push_back({name, name, annotation, line_});
}

/// Text of the statement that begins in `line`, with the lines it goes on in.
std::string_view FxCodeReader::wholeStatement(TextLine& line) {
    const size_t indent = indentOf(line.text);
    line_ = end_line_ = line.number;
    column_ = line.column + static_cast<uint32_t>(indent);
    const std::string_view text = trimmed(line.text);
    if (text.empty() || text.front() == '#' || !OpenEnd(text))
        return text;
    std::string joined(withoutTrailingComment(text));
    OpenEnd open(joined);
    TextLine more;
    for (size_t count = 0; count < kMaxJoinedLines && open && nextLine(more); ++count) {
        const std::string_view next = trimmed(more.text);
        if (startsStatement(next) || (!next.empty() && next.front() == '#')) {
            pending_ = more;
            has_pending_ = true;
            break;
        }
        if (joined.back() == '\\')
            joined.pop_back();
        joined += '\n';
        const std::string_view piece = withoutTrailingComment(next);
        joined += piece;
        open.take(piece);
    }
    return scratch_.emplace_back(std::move(joined));
}

void FxCodeReader::collectStatements(const JobContext& job) {
    TextLine line;
    size_t count = 0;
    bool more = true;
    while (more && nextLine(line)) {
        if ((++count & 4095) == 0) {
            if (job.cancelled())
                return;
            job.report("reading nodes",
                       static_cast<double>(line.offset) / static_cast<double>(input_.text.size()));
        }
        more = takeLine(wholeStatement(line));
    }
}

/// False: the graph's own lines are over.
bool FxCodeReader::takeLine(std::string_view text) {
    if (text.empty() || text == "..." || text == "pass")
        return true;
    if (text.front() == '#') {
        comment_.read(text.substr(1), builder_);
        return true;
    }
    if (moduleClassName(text))
        return false;
    if (text.substr(0, 4) == "def ")
        return commented_ || fragment_; // a function after a fragment
    text = withoutTrailingComment(text);
    returned_ = text.substr(0, 6) == "return" && (text.size() == 6 || !isNameChar(text[6]));
    statements_.push_back({text, line_, column_, comment_});
    return !returned_;
}

void FxCodeReader::readStatements() {
    const std::vector<size_t> order = sorted_ ? dependencyOrder(statements_) : std::vector<size_t>();
    for (size_t i = 0; i < statements_.size(); ++i) {
        const FxStatement& statement = statements_[sorted_ ? order[i] : i];
        line_ = statement.line;
        column_ = statement.column;
        comment_ = statement.comment;
        last_name_ = {};
        if (returned_ && &statement == &statements_.back())
            readReturn(statement.text);
        else
            readStatement(statement.text);
    }
}

void FxCodeReader::flushInputs() {
    if (flushed_)
        return;
    flushed_ = true;
    for (const std::string& name : undefined_)
        inputs_.push_back({name, name, {}, entry_.line});
    for (const Input& input : inputs_) {
        const NodeId id =
            builder_.addNode(input.name, NodeOp::Placeholder, input.target, {input_.path, input.line, 0});
        builder_.setArgs(id, {});
        builder_.setKwargs(id, {});
        annotations_.apply(id, input.annotation);
    }
}

/// `l_x_ = L_x_`: Dynamo names the node unlike the argument. True if `target` is an input without a node.
bool FxCodeReader::renameInput(std::string_view name, std::string_view annotation, std::string_view target) {
    if (flushed_)
        return false;
    for (Input& input : inputs_) {
        if (input.target != target)
            continue;
        input.name = name;
        if (!annotation.empty())
            input.annotation = annotation;
        return true;
    }
    return false;
}

/// "primals_1, tangents_1, = fx_pytree.tree_flatten_spec([primals, tangents], self._in_spec)": the names are
/// the graph's inputs.
void FxCodeReader::readFlattenedInputs(std::string_view text) {
    inputs_.clear();
    const std::string_view names = text.substr(0, text.find('='));
    for (size_t at = 0; at < names.size();) {
        const size_t end = std::min(names.find(',', at), names.size());
        const std::string_view name = trimmed(names.substr(at, end - at));
        at = end + 1;
        if (name.empty() || takeName(name) != name)
            continue;
        const auto annotation = bare_annotations_.find(name);
        const std::string_view type = annotation == bare_annotations_.end() ? "" : annotation->second;
        inputs_.push_back({name, name, type, line_});
    }
}

Result<GraphPtr> FxCodeReader::read(Diagnostics& diagnostics, const JobContext& job) {
    TextLine line;
    builder_.reserve(entry_.nodes);
    statements_.reserve(std::min<size_t>(entry_.nodes, size_t{1} << 20));
    if (lines_.next(line)) {
        readHead(line);
        subgraphs_ = readSubgraphs(input_, entry_, stream_ == LineReader::kPayloadStream);
        collectStatements(job);
        inlined_ = inlineSubgraphs(statements_, subgraphs_, scratch_);
        applyLoadArgs();
        if (job.cancelled())
            return Error{"cancelled", "cancelled", {}, ""};
        readStatements();
    }
    flushInputs();
    if (builder_.size() == 0 || (calls_ == 0 && bad_lines_ > 0 && !returned_ && inputs_.empty())) {
        diagnostics.append(builder_.diagnostics());
        return Error{"empty-graph",
                     fmt::format("{}: the graph has no nodes", input_.path),
                     {input_.path, entry_.line, 0},
                     "capture the graph again; its lines look like x = torch.ops.aten.mm.default(a, b)"};
    }
    addClosingDiagnostics();
    reportHiddenCollectives();
    const auto known = std::remove_if(missing_.begin(), missing_.end(),
                                      [&](const std::string& name) { return isKnown(name); });
    forward_uses_ = known != missing_.end();
    missing_.erase(known, missing_.end());
    describeSource(builder_, input_.path, entry_, "print_readable");
    inferFromLoadArgs();
    completeFxGraph(builder_, {input_.path, entry_.line, 0}, annotations_.sawTensor());
    return builder_.finish(&diagnostics);
}

/// A call of a nested graph counts as one node: what communicates inside it would go unseen.
void FxCodeReader::reportHiddenCollectives() {
    const Graph& graph = builder_.graph();
    for (NodeId id = 0; !subgraphs_.empty() && id < graph.size(); ++id) {
        const std::string_view target = graph.targetText(id);
        if (target.substr(0, 13) != "higher_order.")
            continue;
        const Arg* list = &graph.node(id).args;
        for (const Arg& arg : graph.children(*list)) {
            const auto found = arg.node() == kNoNode
                                   ? subgraphs_.end()
                                   : subgraphs_.find(std::string(graph.targetText(arg.node())));
            if (found == subgraphs_.end() || found->second.collectives == 0)
                continue;
            builder_.diagnostics().add(
                {Severity::Warning,
                 "hidden-collectives",
                 {input_.path, graph.node(id).source_line, 0},
                 std::string(graph.name(id)),
                 fmt::format("{} collectives inside the nested graph \"{}\" are not analysed",
                             found->second.collectives, found->first),
                 "capture the graph after Inductor inlined its nested graphs (post-grad)"});
        }
    }
}

/// fx_graph_runnable prints no types; the function that makes its inputs does.
void FxCodeReader::applyLoadArgs() {
    if (fragment_)
        return;
    load_args_ = readLoadArgs(input_, entry_, stream_ == LineReader::kPayloadStream);
    for (Input& input : inputs_) {
        const auto found = load_args_.inputs.find(std::string(input.name));
        if (input.annotation.empty() && found != load_args_.inputs.end())
            input.annotation = found->second;
    }
}

void FxCodeReader::inferFromLoadArgs() {
    for (const auto& [name, size] : load_args_.group_sizes)
        builder_.setGroupSize(builder_.addGroup(name, {}, {}), size);
    if (load_args_.rank >= 0 && entry_.rank < 0)
        builder_.info().rank = load_args_.rank;
    if (load_args_.inputs.empty())
        return;
    const size_t without = inferShapes(builder_);
    builder_.diagnostics().add(
        {Severity::Info,
         "inferred-shapes",
         {input_.path, entry_.line, 0},
         {},
         fmt::format(
             "shapes of {} inputs are those of load_args(); the others were inferred from them, {} of {} "
             "calls stay without",
             load_args_.inputs.size(), without, calls_),
         without == 0 ? "" : "a second file of the same graph can supply them: --shapes FILE"});
}

void FxCodeReader::addClosingDiagnostics() {
    const SourcePos start = {input_.path, entry_.line, 0};
    if (!returned_ && !fragment_)
        builder_.diagnostics().add({Severity::Warning,
                                    "cut-graph",
                                    {input_.path, std::max(end_line_, line_), 0},
                                    {},
                                    "the graph's text ends before its return",
                                    "the end of the graph is missing: copy the whole text"});
    if (fragment_)
        builder_.diagnostics().add(
            {Severity::Warning,
             "fragment",
             start,
             {},
             fmt::format("this is a part of a graph{}; {} names that it does not define are shown as inputs",
                         commented_ ? ", in comments" : "", undefined_.size()),
             "open the whole graph to see what comes before and after"});
    if (inlined_ > 0)
        builder_.diagnostics().add(
            {Severity::Info,
             "inlined-subgraphs",
             start,
             {},
             fmt::format("{} {} of nested graphs with collectives {} replaced by their nodes", inlined_,
                         inlined_ == 1 ? "call" : "calls", inlined_ == 1 ? "was" : "were"),
             "nodes of a nested graph are named call__node"});
    if (sorted_)
        builder_.diagnostics().add({Severity::Warning,
                                    "reordered",
                                    start,
                                    {},
                                    "some nodes stand before nodes that they use",
                                    "the nodes were put behind what they use; this order is not the one of "
                                    "the text"});
}

} // namespace gs

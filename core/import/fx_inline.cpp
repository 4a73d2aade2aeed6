#include "import/fx_inline.h"

#include "import/call_text.h"
#include "import/text_lines.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

namespace gs {

namespace {

constexpr std::string_view kCall = "torch.ops.higher_order.invoke_subgraph(";
constexpr int kMaxDepth = 8;          ///< nested graphs that call nested graphs
constexpr size_t kMaxAdded = 200'000; ///< statements; calls of calls of calls grow exponentially

using Names = std::unordered_map<std::string, std::string>;

/// Items between commas outside brackets and quotes.
std::vector<std::string_view> itemsOf(std::string_view list) {
    std::vector<std::string_view> items;
    int depth = 0;
    size_t begin = 0;
    for (size_t i = 0; i <= list.size(); ++i) {
        const char c = i < list.size() ? list[i] : ',';
        if (c == '"' || c == '\'')
            i = std::min(list.find(c, i + 1), list.size());
        else if (c == '(' || c == '[' || c == '{')
            ++depth;
        else if (c == ')' || c == ']' || c == '}')
            --depth;
        if (c != ',' || (depth > 0 && i < list.size()))
            continue;
        const std::string_view item = trimmed(list.substr(begin, std::min(i, list.size()) - begin));
        begin = i + 1;
        if (!item.empty())
            items.push_back(item);
    }
    return items;
}

/// Calls `visit` with each name outside quotes that is no attribute and no keyword; its result is put in its
/// place.
template <typename Visit>
std::string withNames(std::string_view text, Visit visit) {
    std::string out;
    int depth = 0;
    for (size_t i = 0; i < text.size();) {
        const char c = text[i];
        if (c == '"' || c == '\'') {
            const size_t close = std::min(text.find(c, i + 1), text.size() - 1);
            out += text.substr(i, close + 1 - i);
            i = close + 1;
            continue;
        }
        depth += c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
        if (!isNameChar(c)) {
            out += c;
            ++i;
            continue;
        }
        size_t end = i;
        while (end < text.size() && isNameChar(text[end]))
            ++end;
        const std::string_view name = text.substr(i, end - i);
        const size_t next = std::min(text.find_first_not_of(' ', end), text.size());
        const bool keyword =
            depth > 0 && next < text.size() && text[next] == '=' && text.substr(next, 2) != "==";
        const bool attribute = i > 0 && text[i - 1] == '.';
        out += attribute || keyword ? std::string(name) : visit(name);
        i = end;
    }
    return out;
}

std::string renamed(std::string_view text, const Names& names) {
    return withNames(text, [&](std::string_view name) {
        const auto found = names.find(std::string(name));
        return found == names.end() ? std::string(name) : found->second;
    });
}

/// What a statement assigns: "name", the value's text up to ";".
struct Assignment {
    std::string_view name, value;
};
Assignment assignmentOf(std::string_view text) {
    const std::string_view name = takeName(text);
    const size_t equals = text.find(" = ");
    if (name.empty() || equals == std::string_view::npos)
        return {};
    const std::string_view value = text.substr(equals + 3);
    return {name, trimmed(value.substr(0, value.find(';')))};
}

/// A name or a number: texts that grow with every level of nesting are not put in the place of a name.
bool isAtom(std::string_view text) {
    return text.size() <= 200 && std::all_of(text.begin(), text.end(),
                                             [](char c) { return isNameChar(c) || c == '.' || c == '-'; });
}

/// 3 of "name[3]"; nothing for other texts.
std::optional<size_t> itemOf(std::string_view value) {
    const size_t open = takeName(value).size();
    if (open == 0 || value.size() < open + 3 || value.size() > open + 8 || value[open] != '[' ||
        value.back() != ']')
        return std::nullopt;
    size_t index = 0;
    for (const char c : value.substr(open + 1, value.size() - open - 2)) {
        if (c < '0' || c > '9')
            return std::nullopt;
        index = index * 10 + static_cast<size_t>(c - '0');
    }
    return index;
}

class Inliner {
public:
    Inliner(const std::unordered_map<std::string, Subgraph>& graphs, std::deque<std::string>& scratch)
        : graphs_(graphs), scratch_(scratch) {}

    size_t run(std::vector<FxStatement>& statements) {
        findCommunicating();
        if (!communicating_.empty())
            statements = expand(std::move(statements), 0);
        return replaced_;
    }

private:
    struct Call {
        const Subgraph* graph = nullptr;
        std::vector<std::string_view> arguments;
    };

    /// Nested graphs that communicate, themselves or through those they call.
    void findCommunicating() {
        for (const auto& [name, graph] : graphs_) {
            if (graph.collectives > 0)
                communicating_.insert(&graph);
        }
        for (bool changed = true; changed;) {
            changed = false;
            for (const auto& [name, graph] : graphs_) {
                const bool calls =
                    std::any_of(graph.calls.begin(), graph.calls.end(), [&](const auto& callee) {
                        const auto found = graphs_.find(callee);
                        return found != graphs_.end() && communicating_.count(&found->second);
                    });
                changed = (calls && communicating_.insert(&graph).second) || changed;
            }
        }
    }

    /// The call that a statement is, if it can be replaced.
    std::optional<Call> callOf(std::string_view value, const Names& attributes) const {
        if (!startsWith(value, kCall))
            return std::nullopt;
        const size_t close = behindBracket(value, kCall.size() - 1);
        if (close == 0 || close > value.size() || value[close - 1] != ')')
            return std::nullopt;
        const auto items = itemsOf(value.substr(kCall.size(), close - 1 - kCall.size()));
        const auto attribute = items.size() < 2 ? attributes.end() : attributes.find(std::string(items[0]));
        const auto graph = attribute == attributes.end() ? graphs_.end() : graphs_.find(attribute->second);
        if (graph == graphs_.end() || graph->second.inputs.size() != items.size() - 2 ||
            graph->second.results.empty() || !communicating_.count(&graph->second) ||
            !std::all_of(items.begin() + 2, items.end(), isAtom))
            return std::nullopt;
        return Call{&graph->second, {items.begin() + 2, items.end()}};
    }

    /// Names used other than as "= name[0]" or deleted: their calls stay as they are.
    std::unordered_set<std::string> usedWhole(const std::vector<FxStatement>& statements,
                                              const Names& calls) const {
        std::unordered_set<std::string> whole;
        for (const FxStatement& statement : statements) {
            const Assignment made = assignmentOf(statement.text);
            const std::string_view uses = statement.text.substr(0, 6) == "return" ? statement.text.substr(6)
                                          : itemOf(made.value)                    ? std::string_view()
                                                                                  : made.value;
            withNames(uses, [&](std::string_view name) {
                if (calls.count(std::string(name)))
                    whole.emplace(name);
                return std::string();
            });
        }
        return whole;
    }

    std::vector<FxStatement> expand(std::vector<FxStatement> statements, int depth) {
        Names attributes, calls;
        for (const FxStatement& statement : statements) {
            const Assignment made = assignmentOf(statement.text);
            if (startsWith(made.value, "self."))
                attributes[std::string(made.name)] = made.value.substr(5);
            else if (startsWith(made.value, kCall))
                calls.emplace(made.name, "");
        }
        if (calls.empty() || depth > kMaxDepth)
            return statements;
        const auto whole = usedWhole(statements, calls);
        std::unordered_map<std::string, std::vector<std::string>> results; // of calls that were replaced
        std::vector<FxStatement> out;
        for (FxStatement& statement : statements) {
            const Assignment made = assignmentOf(statement.text);
            const auto call =
                whole.count(std::string(made.name)) ? std::nullopt : callOf(made.value, attributes);
            if (call && added_ + call->graph->statements.size() <= kMaxAdded) {
                std::vector<FxStatement> inner = bodyOf(statement, *call, results[std::string(made.name)]);
                for (FxStatement& item : expand(std::move(inner), depth + 1))
                    out.push_back(std::move(item));
                ++replaced_;
                continue;
            }
            const auto taken = results.find(std::string(takeName(made.value)));
            const std::optional<size_t> item = itemOf(made.value);
            if (taken != results.end() && item &&
                *item < taken->second.size()) // another name of the inner node
                statement.text = scratch_.emplace_back(std::string(made.name) + " = " + taken->second[*item]);
            out.push_back(std::move(statement));
        }
        return out;
    }

    std::vector<FxStatement> bodyOf(const FxStatement& at, const Call& call,
                                    std::vector<std::string>& results) {
        const std::string name(takeName(at.text));
        Names names;
        for (size_t i = 0; i < call.arguments.size(); ++i)
            names.emplace(call.graph->inputs[i], call.arguments[i]);
        for (const SubgraphStatement& statement : call.graph->statements) {
            if (const std::string_view made = takeName(statement.text); !made.empty())
                names[std::string(made)] = name + "__" + std::string(made);
        }
        std::vector<FxStatement> body;
        for (const SubgraphStatement& statement : call.graph->statements) {
            const std::string& text = scratch_.emplace_back(renamed(statement.text, names));
            body.push_back({text, statement.line, statement.column, at.comment});
        }
        added_ += body.size();
        for (const std::string_view item : itemsOf(call.graph->results))
            results.push_back(renamed(item, names));
        return body;
    }

    const std::unordered_map<std::string, Subgraph>& graphs_;
    std::deque<std::string>& scratch_;
    std::unordered_set<const Subgraph*> communicating_;
    size_t added_ = 0;
    size_t replaced_ = 0;
};

} // namespace

size_t inlineSubgraphs(std::vector<FxStatement>& statements,
                       const std::unordered_map<std::string, Subgraph>& graphs,
                       std::deque<std::string>& scratch) {
    return graphs.empty() ? 0 : Inliner(graphs, scratch).run(statements);
}

} // namespace gs

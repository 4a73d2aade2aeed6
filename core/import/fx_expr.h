// Argument expressions of FX's text forms.
#pragma once

#include "graph/graph_builder.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gs {

/// What a name in an expression means. Implemented by the readers.
class NameResolver {
public:
    virtual ~NameResolver() = default;
    /// `offset` = position of the name in the text that is parsed.
    virtual Arg resolve(std::string_view name, size_t offset) = 0;
};

/// How the text writes its values.
enum class ExprForm : uint8_t {
    Code, ///< Python source: names are nodes, strings have quotes
    Lossy ///< str(graph): nodes begin with %, strings have no quotes
};

/// Recursive-descent parser over one expression text. After a failure `error()` tells what was expected at
/// `position()`; values that were whole until there are kept.
class ExprParser {
public:
    ExprParser(std::string_view text, size_t at, ExprForm form, GraphBuilder& builder, NameResolver& names)
        : text_(text), at_(at), form_(form), builder_(builder), names_(names) {}

    /// One value: literal, node, list, dict, torch object, symbolic expression, or Repr of anything else.
    bool value(Arg& out, bool string_expected = false);
    /// Arguments of a call in Python form, up to and with the closing parenthesis: `1, x, dim = 2)`.
    bool callArguments(std::vector<Arg>& args, std::vector<Arg>& kwargs);
    /// `(a, b)` or `[a, b]`. `traits` tells which positions are strings (Lossy only), else null.
    bool sequence(std::vector<Arg>& items, const OpTraits* traits = nullptr);
    /// `{a: 1}`; `items` alternates keys and values. `traits` as above, by key.
    bool dictionary(std::vector<Arg>& items, const OpTraits* traits = nullptr, bool strings = false);

    size_t position() const { return at_; }
    const std::string& error() const { return error_; }
    /// The text ended inside the expression: it goes on in the next line, or it is cut.
    bool endedEarly() const { return ended_early_; }
    void skipSpace();

private:
    bool fail(std::string expected);
    bool atEnd() const { return at_ >= text_.size(); }
    char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
    bool codeValue(Arg& out);
    bool lossyValue(Arg& out, bool string_expected);
    bool simpleValue(Arg& out);
    bool quoted(Arg& out);
    bool name(Arg& out);
    bool torchCall(std::string_view path, Arg& out);
    bool operand(Arg& out, size_t start);
    /// Takes balanced text up to a delimiter at depth 0.
    bool raw(std::string_view& out);
    Arg word(std::string_view text, bool string_expected);
    bool number(std::string_view text, Arg& out) const;
    bool literal(std::string_view text, Arg& out) const;
    Arg sliceOf(std::string_view inside);

    static constexpr int kMaxDepth = 100; ///< deeper nesting is a damaged text

    std::string_view text_;
    size_t at_;
    ExprForm form_;
    GraphBuilder& builder_;
    NameResolver& names_;
    std::string error_;
    bool ended_early_ = false;
    int depth_ = 0;
};

} // namespace gs

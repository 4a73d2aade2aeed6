#include "import/fx_expr.h"

#include "import/fx_text.h"
#include "import/text_lines.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace gs {

namespace {

bool contains(const std::vector<std::string>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// "device(type='cuda', index=0)" → "cuda:0"; "torch.device('cpu')" likewise.
std::string deviceText(std::string_view inside) {
    std::string type, index;
    for (size_t i = 0; i < inside.size();) {
        size_t end = inside.find(',', i);
        end = end == std::string_view::npos ? inside.size() : end;
        std::string_view item = trimmed(inside.substr(i, end - i));
        i = end + 1;
        const size_t equals = item.find('=');
        const bool is_index = equals != std::string_view::npos && trimmed(item.substr(0, equals)) == "index";
        if (equals != std::string_view::npos)
            item = trimmed(item.substr(equals + 1));
        if (item.size() >= 2 && (item.front() == '\'' || item.front() == '"'))
            item = item.substr(1, item.size() - 2);
        (is_index || !type.empty() ? index : type) = std::string(item);
    }
    return index.empty() ? type : type + ":" + index;
}

/// DTensor placements as torch prints them short: Replicate() → R, Shard(dim=0) → S(0), Partial('sum') →
/// P(sum). Empty for other texts.
std::string placementText(std::string_view path, std::string_view inside) {
    const std::string_view name = path.substr(path.rfind('.') + 1);
    if (path.find("placement_types.") == std::string_view::npos && path != name)
        return {};
    if (const size_t equals = inside.find('='); equals != std::string_view::npos)
        inside = inside.substr(equals + 1);
    inside = trimmed(inside);
    if (inside.size() >= 2 && inside.front() == '\'')
        inside = inside.substr(1, inside.size() - 2);
    if (name == "Replicate")
        return "R";
    if (name == "Shard")
        return "S(" + std::string(inside) + ")";
    if (name == "Partial")
        return "P(" + std::string(inside.empty() ? "sum" : inside) + ")";
    return {};
}

bool isDelimiter(char c) {
    return c == ',' || c == ')' || c == ']' || c == '}';
}

char unescaped(char c) {
    switch (c) {
    case 'n':
        return '\n';
    case 't':
        return '\t';
    case 'r':
        return '\r';
    default:
        return c;
    }
}

} // namespace

void ExprParser::skipSpace() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t'))
        ++at_;
}

bool ExprParser::fail(std::string expected) {
    if (error_.empty()) {
        error_ = std::move(expected);
        ended_early_ = atEnd();
    }
    return false;
}

bool ExprParser::value(Arg& out, bool string_expected) {
    skipSpace();
    if (atEnd())
        return fail("a value");
    if (++depth_ > kMaxDepth)
        return fail("fewer nested brackets");
    const bool good = form_ == ExprForm::Code ? codeValue(out) : lossyValue(out, string_expected);
    --depth_;
    return good;
}

bool ExprParser::codeValue(Arg& out) {
    const size_t start = at_;
    if (!simpleValue(out))
        return false;
    if (atEnd() || isDelimiter(text_[at_]) || text_[at_] == ';')
        return true;
    const size_t after = at_;
    skipSpace();
    if (atEnd() || isDelimiter(text_[at_]) || text_[at_] == ';' || text_[at_] == '#' ||
        (after < at_ && text_.substr(at_, 3) == "if "))
        return true;
    return operand(out, start);
}

/// From `start` to the next delimiter: a symbolic expression or an unknown text.
bool ExprParser::operand(Arg& out, size_t start) {
    at_ = start;
    std::string_view text;
    if (!raw(text))
        return false;
    out = isSymbolExpression(text) ? builder_.symbolArg(text, kUnknownSize)
                                   : builder_.textArg(Arg::Kind::Repr, text);
    return true;
}

bool ExprParser::simpleValue(Arg& out) {
    const char c = peek();
    if (c == '\'' || c == '"')
        return quoted(out);
    if (c == '[' || c == '(') {
        std::vector<Arg> items;
        const size_t open = at_;
        if (!sequence(items))
            return false;
        // (x) is x in parentheses, (x,) is a tuple
        const std::string_view before = trimmed(text_.substr(open + 1, at_ - open - 2));
        const bool parentheses = c == '(' && items.size() == 1 && !before.empty() && before.back() != ',';
        out = parentheses ? items.front() : builder_.listArg(items);
        return true;
    }
    if (c == '{') {
        std::vector<Arg> items;
        if (!dictionary(items))
            return false;
        out = builder_.dictArg(items);
        return true;
    }
    if (isNameChar(c) && !(c >= '0' && c <= '9'))
        return name(out);
    size_t end = at_ + 1; // a number, with its sign
    while (end < text_.size() && (isNameChar(text_[end]) || text_[end] == '.' ||
                                  ((text_[end] == '-' || text_[end] == '+') && text_[end - 1] == 'e')))
        ++end;
    if (literal(text_.substr(at_, end - at_), out)) {
        at_ = end;
        return true;
    }
    return operand(out, at_);
}

bool ExprParser::quoted(Arg& out) {
    const char quote = text_[at_];
    const size_t first = at_ + 1;
    size_t end = first;
    bool escapes = false;
    while (end < text_.size() && text_[end] != quote) {
        escapes = escapes || text_[end] == '\\';
        end += text_[end] == '\\' ? 2 : 1;
    }
    if (end >= text_.size()) {
        at_ = text_.size();
        return fail("the closing quote of a string");
    }
    at_ = end + 1;
    if (!escapes) {
        out = builder_.textArg(Arg::Kind::String, text_.substr(first, end - first));
        return true;
    }
    std::string plain;
    for (size_t i = first; i < end; ++i)
        plain += text_[i] == '\\' ? unescaped(text_[++i]) : text_[i];
    out = builder_.textArg(Arg::Kind::String, plain);
    return true;
}

bool ExprParser::name(Arg& out) {
    const size_t start = at_;
    while (at_ < text_.size() && (isNameChar(text_[at_]) || text_[at_] == '.'))
        ++at_;
    const std::string_view path = text_.substr(start, at_ - start);
    const char next = peek();
    if (next == '(')
        return torchCall(path, out);
    if (next == '[' || next == '\'' || next == '"' || path == "lambda") {
        at_ = start;
        std::string_view text;
        if (!raw(text))
            return false;
        out = builder_.textArg(Arg::Kind::Repr, text);
        return true;
    }
    if (literal(path, out))
        return true;
    if (path.substr(0, 6) == "torch.") {
        const std::string_view last = path.substr(6);
        const Arg::Kind kind = torchObjectKind(last);
        if (kind != Arg::Kind::None)
            out = builder_.textArg(kind, last);
        else if (last == "inf")
            out = builder_.floatArg(std::numeric_limits<double>::infinity());
        else
            out = builder_.textArg(Arg::Kind::Repr, last.substr(0, 4) == "ops." ? last.substr(4) : path);
        return true;
    }
    if (path.find('.') != std::string_view::npos) {
        out = builder_.textArg(Arg::Kind::Repr, path);
        return true;
    }
    out = names_.resolve(path, start);
    return true;
}

/// `path` is followed by "(": a device, a slice, a placement, or a text that is kept as it is.
bool ExprParser::torchCall(std::string_view path, Arg& out) {
    const size_t start = at_ - path.size();
    const size_t open = at_;
    if (path == "torch.Size") {
        ++at_;
        if (!value(out) || (skipSpace(), peek() != ')'))
            return fail("a ) after torch.Size");
        ++at_;
        return true;
    }
    at_ = start;
    std::string_view text;
    if (!raw(text))
        return false;
    const size_t inside_at = open - start + 1;
    if (text.size() <= inside_at || text.back() != ')') {
        out = builder_.textArg(Arg::Kind::Repr, text);
        return true;
    }
    const std::string_view inside = text.substr(inside_at, text.size() - inside_at - 1);
    if (path == "slice") {
        out = sliceOf(inside);
    } else if (path == "device" || path == "torch.device") {
        out = builder_.textArg(Arg::Kind::Device, deviceText(inside));
    } else {
        const std::string placement = placementText(path, inside);
        out = builder_.textArg(Arg::Kind::Repr, placement.empty() ? text : std::string_view(placement));
    }
    return true;
}

Arg ExprParser::sliceOf(std::string_view inside) {
    std::vector<Arg> three;
    ExprParser parser(inside, 0, form_, builder_, names_);
    parser.depth_ = depth_;
    Arg item;
    while (three.size() < 3 && parser.value(item)) {
        three.push_back(item);
        parser.skipSpace();
        if (parser.peek() != ',')
            break;
        ++parser.at_;
    }
    if (three.size() == 1) // slice(stop)
        three.insert(three.begin(), builder_.noneArg());
    three.resize(3, builder_.noneArg());
    return builder_.sliceArg(three);
}

bool ExprParser::raw(std::string_view& out) {
    const size_t start = at_;
    int depth = 0;
    for (; at_ < text_.size(); ++at_) {
        const char c = text_[at_];
        if (form_ == ExprForm::Code && (c == '\'' || c == '"')) {
            for (++at_; at_ < text_.size() && text_[at_] != c; ++at_)
                at_ += text_[at_] == '\\' ? 1 : 0;
            continue;
        }
        if (depth == 0 && (isDelimiter(c) || (form_ == ExprForm::Code && c == ';')))
            break;
        depth += c == '(' || c == '[' || c == '{' ? 1 : isDelimiter(c) && c != ',' ? -1 : 0;
    }
    at_ = std::min(at_, text_.size());
    if (depth != 0)
        return fail("a closing bracket");
    out = trimmed(text_.substr(start, at_ - start));
    return true;
}

bool ExprParser::literal(std::string_view text, Arg& out) const {
    if (text == "None")
        out = builder_.noneArg();
    else if (text == "True" || text == "False")
        out = builder_.boolArg(text == "True");
    else if (text == "inf" || text == "-inf")
        out = builder_.floatArg(text == "inf" ? std::numeric_limits<double>::infinity()
                                              : -std::numeric_limits<double>::infinity());
    else if (text == "nan")
        out = builder_.floatArg(std::numeric_limits<double>::quiet_NaN());
    else
        return number(text, out);
    return true;
}

bool ExprParser::number(std::string_view text, Arg& out) const {
    if (text.empty() || !((text[0] >= '0' && text[0] <= '9') || text[0] == '-' || text[0] == '.'))
        return false;
    const char* end = text.data() + text.size();
    int64_t whole = 0;
    if (const auto [at, error] = std::from_chars(text.data(), end, whole);
        error == std::errc() && at == end) {
        out = builder_.intArg(whole);
        return true;
    }
    double real = 0;
    const auto [at, error] = std::from_chars(text.data(), end, real);
    if (error != std::errc() || at != end || !std::isfinite(real))
        return false;
    out = builder_.floatArg(real);
    return true;
}

bool ExprParser::lossyValue(Arg& out, bool string_expected) {
    const char c = peek();
    std::vector<Arg> items;
    if (c == '(' || c == '[') {
        if (!sequence(items))
            return false;
        out = builder_.listArg(items);
        return true;
    }
    if (c == '{') {
        if (!dictionary(items, nullptr, string_expected))
            return false;
        out = builder_.dictArg(items);
        return true;
    }
    const size_t start = at_;
    std::string_view text;
    if (!raw(text))
        return false;
    if (!text.empty() && text.front() == '%')
        out = names_.resolve(text.substr(1), start + 1);
    else
        out = word(text, string_expected);
    return true;
}

/// A text without quotes; what it is must be told from its looks and the operator's schema.
Arg ExprParser::word(std::string_view text, bool string_expected) {
    Arg out;
    if (string_expected && text != "None")
        return builder_.textArg(Arg::Kind::String, text);
    if (literal(text, out))
        return out;
    if (text.substr(0, 6) == "torch.") {
        const std::string_view last = text.substr(6);
        const Arg::Kind kind = torchObjectKind(last);
        if (kind != Arg::Kind::None)
            return builder_.textArg(kind, last);
        return builder_.textArg(Arg::Kind::Repr, last.substr(0, 4) == "ops." ? last.substr(4) : text);
    }
    if (isDeviceName(text))
        return builder_.textArg(Arg::Kind::Device, text);
    if (text.substr(0, 6) == "slice(" && text.back() == ')')
        return sliceOf(text.substr(6, text.size() - 7));
    if (isSymbolExpression(text))
        return builder_.symbolArg(text, kUnknownSize);
    return builder_.textArg(Arg::Kind::Repr, text);
}

bool ExprParser::sequence(std::vector<Arg>& items, const OpTraits* traits) {
    const char open = peek();
    if (open != '(' && open != '[')
        return fail("( or [");
    const char close = open == '(' ? ')' : ']';
    ++at_;
    for (;;) {
        skipSpace();
        if (peek() == close) {
            ++at_;
            return true;
        }
        const size_t index = items.size();
        const bool string = traits && index < traits->arg_names.size() &&
                            contains(traits->string_args, traits->arg_names[index]);
        Arg item;
        if (!value(item, string))
            return false;
        skipSpace();
        if (atEnd()) // the last value may be cut; it does not count
            return fail(close == ')' ? "a )" : "a ]");
        items.push_back(item);
        if (peek() == ',')
            ++at_;
        else if (peek() != close)
            return fail(close == ')' ? ", or )" : ", or ]");
    }
}

bool ExprParser::dictionary(std::vector<Arg>& items, const OpTraits* traits, bool strings) {
    if (peek() != '{')
        return fail("{");
    ++at_;
    for (;;) {
        skipSpace();
        if (peek() == '}') {
            ++at_;
            return true;
        }
        Arg key, item;
        std::string_view key_text;
        if (form_ == ExprForm::Lossy || (peek() != '\'' && peek() != '"')) {
            const size_t colon = std::min(text_.find(':', at_), text_.size());
            key_text = trimmed(text_.substr(at_, colon - at_));
            key = builder_.textArg(Arg::Kind::String, key_text);
            at_ = colon;
        } else if (!quoted(key)) {
            return false;
        }
        skipSpace();
        if (peek() != ':')
            return fail("a : after a dictionary key");
        ++at_;
        skipSpace();
        const bool string = traits && contains(traits->string_args, key_text);
        const size_t start = at_;
        if (!value(item, string))
            return false;
        if (strings && item.kind == Arg::Kind::Repr) // literals stay, words are strings
            item = builder_.textArg(Arg::Kind::String, trimmed(text_.substr(start, at_ - start)));
        skipSpace();
        if (atEnd())
            return fail("a }");
        items.push_back(key);
        items.push_back(item);
        if (peek() == ',')
            ++at_;
        else if (peek() != '}')
            return fail(", or }");
    }
}

bool ExprParser::callArguments(std::vector<Arg>& args, std::vector<Arg>& kwargs) {
    for (;;) {
        skipSpace();
        if (peek() == ')') {
            ++at_;
            return true;
        }
        size_t word_end = at_;
        while (word_end < text_.size() && isNameChar(text_[word_end]))
            ++word_end;
        size_t equals = word_end;
        while (equals < text_.size() && text_[equals] == ' ')
            ++equals;
        const bool keyword =
            word_end > at_ && equals + 1 < text_.size() && text_[equals] == '=' && text_[equals + 1] != '=';
        Arg key;
        if (keyword) {
            key = builder_.textArg(Arg::Kind::String, text_.substr(at_, word_end - at_));
            at_ = equals + 1;
        }
        Arg item;
        if (!value(item))
            return false;
        skipSpace();
        if (atEnd())
            return fail("a )");
        if (keyword) {
            kwargs.push_back(key);
            kwargs.push_back(item);
        } else {
            args.push_back(item);
        }
        if (peek() == ',')
            ++at_;
        else if (peek() != ')')
            return fail(", or )");
    }
}

} // namespace gs

#include "import/call_text.h"

#include "graph/tensor_meta.h"
#include "import/text_lines.h"

#include <algorithm>

namespace gs {

std::string_view takeName(std::string_view text) {
    size_t end = 0;
    while (end < text.size() && isNameChar(text[end]))
        ++end;
    return text.substr(0, end);
}

std::string_view takePath(std::string_view text) {
    size_t end = 0;
    while (end < text.size() && (isNameChar(text[end]) || text[end] == '.'))
        ++end;
    return text.substr(0, end);
}

bool startsWith(std::string_view text, std::string_view start) {
    return text.substr(0, start.size()) == start;
}

size_t behindBracket(std::string_view text, size_t open) {
    int depth = 0;
    for (size_t i = open; i < text.size(); ++i) {
        if (text[i] == '\'' || text[i] == '"') {
            i = std::min(text.find(text[i], i + 1), text.size() - 1);
            continue;
        }
        depth += text[i] == '(' || text[i] == '[' || text[i] == '{'   ? 1
                 : text[i] == ')' || text[i] == ']' || text[i] == '}' ? -1
                                                                      : 0;
        if (depth == 0)
            return i + 1;
    }
    return text.size();
}

std::string_view tupleAt(std::string_view call, int index) {
    size_t open = call.find('(');
    if (open == std::string_view::npos)
        return {};
    open = call.find('(', open + 1);
    for (int i = 0; i < index && open != std::string_view::npos; ++i)
        open = call.find('(', behindBracket(call, open));
    if (open == std::string_view::npos || (open > 0 && isNameChar(call[open - 1])))
        return {}; // another call, no tuple
    const size_t end = behindBracket(call, open);
    if (end <= open + 1)
        return {};
    std::string_view inside = trimmed(call.substr(open + 1, end - open - 2));
    if (!inside.empty() && inside.back() == ',')
        inside.remove_suffix(1);
    return inside;
}

std::string_view keywordOf(std::string_view call, std::string_view keyword) {
    for (size_t at = call.find(keyword); at != std::string_view::npos; at = call.find(keyword, at + 1)) {
        size_t value = at + keyword.size();
        while (value < call.size() && call[value] == ' ')
            ++value;
        if ((at > 0 && isNameChar(call[at - 1])) || value >= call.size() || call[value] != '=')
            continue;
        ++value;
        size_t end = value;
        while (end < call.size() && call[end] != ',' && call[end] != ')')
            end = call[end] == '(' || call[end] == '[' ? behindBracket(call, end) : end + 1;
        return trimmed(call.substr(value, std::min(end, call.size()) - value));
    }
    return {};
}

std::string_view dtypeIn(std::string_view text) {
    for (size_t at = text.find("torch."); at != std::string_view::npos; at = text.find("torch.", at + 1)) {
        const std::string_view name = takeName(text.substr(at + 6));
        if (dtypeFromName(name) != DType::Unknown)
            return name;
    }
    return {};
}

std::vector<std::string_view> namesIn(std::string_view arguments) {
    std::vector<std::string_view> names;
    for (size_t at = 0; at < arguments.size();) {
        const std::string_view name = takeName(arguments.substr(at));
        if (name.empty()) {
            ++at;
            continue;
        }
        const size_t end = at + name.size();
        const bool keyword = end < arguments.size() && arguments[end] == '=';
        const bool attribute = at > 0 && arguments[at - 1] == '.';
        if (!keyword && !attribute)
            names.push_back(name);
        at = end;
    }
    return names;
}

std::string withoutViews(std::string_view text) {
    constexpr std::string_view kView = "reinterpret_tensor(";
    std::string plain;
    for (size_t at = 0; at < text.size();) {
        const size_t view = std::min(text.find(kView, at), text.size());
        plain += text.substr(at, view - at);
        if (view == text.size())
            break;
        const size_t open = view + kView.size() - 1;
        plain += takeName(text.substr(open + 1));
        at = behindBracket(text, open);
    }
    return plain;
}

} // namespace gs

#include "import/fx_order.h"

#include "import/text_lines.h"

#include <functional>
#include <queue>
#include <unordered_map>

namespace gs {

namespace {

/// Calls `visit(name)` for each identifier outside quotes, up to the first ";" outside quotes.
template <typename Visit>
void forEachName(std::string_view text, const Visit& visit) {
    for (size_t at = 0; at < text.size() && text[at] != ';';) {
        const char c = text[at];
        if (c == '"' || c == '\'') {
            for (++at; at < text.size() && text[at] != c; ++at)
                at += text[at] == '\\' ? 1 : 0;
            ++at;
        } else if (isNameChar(c)) {
            const size_t start = at;
            while (at < text.size() && isNameChar(text[at]))
                ++at;
            visit(text.substr(start, at - start));
        } else {
            ++at;
        }
    }
}

} // namespace

std::vector<size_t> dependencyOrder(const std::vector<FxStatement>& statements) {
    std::unordered_map<std::string_view, size_t> defined_by;
    for (size_t i = 0; i < statements.size(); ++i) {
        const std::string_view text = statements[i].text;
        size_t end = 0;
        while (end < text.size() && isNameChar(text[end]))
            ++end;
        const std::string_view name = text.substr(0, end);
        if (name != "return")
            defined_by.emplace(name, i);
    }
    std::vector<std::vector<size_t>> users(statements.size());
    std::vector<size_t> waits_for(statements.size(), 0);
    for (size_t i = 0; i < statements.size(); ++i) {
        forEachName(statements[i].text, [&](std::string_view name) {
            const auto found = defined_by.find(name);
            if (found == defined_by.end() || found->second == i)
                return;
            users[found->second].push_back(i);
            ++waits_for[i];
        });
    }
    std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
    std::vector<size_t> order;
    std::vector<bool> done(statements.size(), false);
    for (size_t i = 0; i < statements.size(); ++i) {
        if (waits_for[i] == 0)
            ready.push(i);
    }
    while (!ready.empty()) {
        const size_t next = ready.top();
        ready.pop();
        order.push_back(next);
        done[next] = true;
        for (const size_t user : users[next]) {
            if (--waits_for[user] == 0)
                ready.push(user);
        }
    }
    for (size_t i = 0; i < statements.size(); ++i) {
        if (!done[i])
            order.push_back(i);
    }
    return order;
}

} // namespace gs

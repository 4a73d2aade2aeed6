#include "import/fx_scan.h"
#include "import/fx_text.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>

namespace gs {

namespace {

/// Number after `key` (and an optional space), or -1.
int32_t numberAfter(std::string_view text, std::string_view key) {
    const size_t at = text.find(key);
    if (at == std::string_view::npos)
        return -1;
    size_t i = at + key.size();
    while (i < text.size() && text[i] == ' ')
        ++i;
    int32_t number = -1;
    for (size_t digits = 0; i < text.size() && text[i] >= '0' && text[i] <= '9' && digits < 6; ++i, ++digits)
        number = std::max(number, 0) * 10 + (text[i] - '0');
    return number;
}

/// First key of a JSON object, or the "name" of an "artifact".
std::string_view artifactName(std::string_view json) {
    constexpr std::string_view kName = "\"name\": \"";
    size_t from = 2;
    if (json.substr(2, 8) == "artifact") {
        from = json.find(kName);
        if (from == std::string_view::npos)
            return {};
        from += kName.size();
    }
    return json.substr(from, json.find('"', from) - from);
}

bool isRule(char c) {
    return c == '=' || c == '-' || c == ' ' || c == '*' || c == '#';
}

} // namespace

std::optional<std::string_view> moduleClassName(std::string_view line) {
    std::string_view text = trimmed(line);
    if (text.empty() || text.back() != ':')
        return std::nullopt;
    size_t at = 0;
    if (text.substr(0, 6) != "class ") { // a path or "<eval_with_key>.31" may come first
        at = text.find(' ');
        if (at == std::string_view::npos || text.substr(at, 7) != " class ")
            return std::nullopt;
        ++at;
    }
    const size_t open = text.find('(', at);
    if (open == std::string_view::npos || text.find("Module", open) == std::string_view::npos)
        return std::nullopt;
    return trimmed(text.substr(at + 6, open - at - 6));
}

std::optional<std::string_view> functionName(std::string_view line) {
    const std::string_view text = trimmed(line);
    const size_t open = text.find('(');
    if (text.substr(0, 4) != "def " || open == std::string_view::npos)
        return std::nullopt;
    return trimmed(text.substr(4, open - 4));
}

bool looksLikeNode(std::string_view line) {
    const std::string_view text = trimmed(line);
    size_t end = 0;
    while (end < text.size() && isNameChar(text[end]))
        ++end;
    if (end == 0 || end >= text.size() || (text[end] != ':' && text[end] != ' '))
        return false;
    const size_t equals = text.find(" = ", end);
    return equals != std::string_view::npos && (text[end] == ':' || equals == end) &&
           text.substr(equals + 3, 10) == "torch.ops." && text.find('(', equals) != std::string_view::npos;
}

void GraphHeading::readJson(std::string_view line) {
    const size_t open = line.find("{\"");
    if (open == std::string_view::npos)
        return;
    const std::string_view json = line.substr(open);
    name = artifactName(json);
    rank = numberAfter(json, "\"rank\":");
    const int32_t autograd = numberAfter(json, "\"compiled_autograd_id\":");
    const int32_t frame = numberAfter(json, "\"frame_id\":");
    const int32_t compile = numberAfter(json, "\"frame_compile_id\":");
    const int32_t attempt = numberAfter(json, "\"attempt\":");
    compile_id.clear();
    if (autograd >= 0)
        compile_id = fmt::format("!{}/", autograd);
    if (frame >= 0 && compile >= 0)
        compile_id += fmt::format("{}/{}", frame, compile);
    if (attempt > 0)
        compile_id += fmt::format("_{}", attempt);
}

void GraphHeading::read(const TextLine& line) {
    const std::string_view text = trimmed(line.text);
    if (text.substr(0, 2) == "{\"" && line.logged) {
        readJson(text);
        return;
    }
    const bool other_rank = text.substr(0, 6) == "[Rank ";
    if (other_rank || text.substr(0, 7) == "# Graph") {
        rank = numberAfter(text, other_rank ? "[Rank" : "rank=");
        const size_t open = text.find(other_rank ? ']' : '(');
        std::string_view title = open == std::string_view::npos ? "" : trimmed(text.substr(open + 1));
        while (!title.empty() && (title.back() == '.' || (!other_rank && title.back() == ')')))
            title.remove_suffix(1);
        name = title;
        return;
    }
    if (text.size() > 3 && text.size() < 80 && text.back() == ':' &&
        text.find("graph") != std::string_view::npos &&
        std::all_of(text.begin(), text.end() - 1, [](char c) { return isNameChar(c) || c == ' '; })) {
        name = text.substr(0, text.size() - 1); // "post_grad_graph:" above an indented text
        return;
    }
    if (text.size() > 8 && text.size() < 120 && isRule(text[0]) && isRule(text[1]) && isRule(text[2])) {
        size_t first = 0, last = text.size();
        while (first < last && isRule(text[first]))
            ++first;
        while (last > first && isRule(text[last - 1]))
            --last;
        if (last > first)
            name = text.substr(first, last - first);
    }
}

GraphEntry GraphHeading::entry(std::string_view fallback, const TextLine& line) const {
    GraphEntry entry;
    entry.stage = name.empty() ? std::string(line.tag) : name;
    entry.name = name.empty() ? std::string(fallback) : name;
    entry.compile_id = line.compile_id.empty() ? compile_id : std::string(line.compile_id);
    if (!entry.compile_id.empty())
        entry.name += fmt::format(" [{}]", entry.compile_id);
    entry.offset = line.offset;
    entry.line = line.number;
    entry.rank = line.rank >= 0 ? line.rank : rank;
    return entry;
}

void TargetCounter::count(std::string_view target, GraphEntry& entry) {
    const auto [found, added] = known_.try_emplace(target, false, false);
    if (added) {
        std::string scratch;
        const OpTraits& traits = opTraits(normalTarget(target, scratch));
        found->second = {(traits.bits & kTraitCollective) != 0,
                         traits.collective == CollectiveKind::AllGather ||
                             traits.collective == CollectiveKind::AllGatherCoalesced};
    }
    entry.collectives += found->second.first ? 1 : 0;
    entry.gathers += found->second.second ? 1 : 0;
}

bool isTorchTrace(std::string_view text) {
    // Heads look like "V0728 16:17:28.174000 60448 torch/…py:12] {"…": …}" and come early in the file.
    size_t at = 0;
    for (int lines = 0; lines < 200 && at < text.size(); ++lines) {
        const size_t end = std::min(text.find('\n', at), text.size());
        const std::string_view line = text.substr(at, end - at);
        if (!line.empty() && std::isupper(static_cast<unsigned char>(line[0])) &&
            line.find("] {\"") != std::string_view::npos &&
            line.substr(0, 300).find(".py:") != std::string_view::npos)
            return true;
        at = end + 1;
    }
    return false;
}

} // namespace gs

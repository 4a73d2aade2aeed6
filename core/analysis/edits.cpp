#include "analysis/edits.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gs {

namespace {

constexpr std::string_view kKinds[] = {"move", "pin", "forbid", "bucket"};

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts;
    while (true) {
        const size_t end = text.find(separator);
        parts.emplace_back(text.substr(0, end));
        if (end == std::string_view::npos)
            return parts;
        text.remove_prefix(end + 1);
    }
}

bool isPlacement(const Edit& edit) {
    return edit.kind != Edit::Kind::Bucket;
}

} // namespace

std::string editText(const Edit& edit) {
    const std::string_view kind = kKinds[static_cast<size_t>(edit.kind)];
    switch (edit.kind) {
    case Edit::Kind::Move:
    case Edit::Kind::Pin:
        return fmt::format("{}:{}:{}", kind, edit.node, edit.anchor);
    case Edit::Kind::Forbid:
        return fmt::format("{}:{}", kind, edit.node);
    case Edit::Kind::Bucket:
        return fmt::format("{}:{}", kind, fmt::join(edit.members, ","));
    }
    return {};
}

std::vector<std::string> editTexts(const Edits& edits) {
    std::vector<std::string> texts;
    for (const Edit& edit : edits)
        texts.push_back(editText(edit));
    return texts;
}

Result<Edit> parseEdit(std::string_view text) {
    const Error error{"usage",
                      fmt::format("\"{}\" is no edit", text),
                      {},
                      "the forms are move:NODE:ANCHOR, pin:NODE:ANCHOR, forbid:NODE, bucket:A,B,C"};
    const std::vector<std::string> parts = split(text, ':');
    const auto* kind = std::find(std::begin(kKinds), std::end(kKinds), parts.front());
    if (kind == std::end(kKinds) ||
        std::any_of(parts.begin(), parts.end(), [](const std::string& part) { return part.empty(); }))
        return error;
    Edit edit;
    edit.kind = static_cast<Edit::Kind>(kind - std::begin(kKinds));
    const bool anchored = edit.kind == Edit::Kind::Move || edit.kind == Edit::Kind::Pin;
    if (parts.size() != (anchored ? 3U : 2U))
        return error;
    if (edit.kind == Edit::Kind::Bucket) {
        edit.members = split(parts[1], ',');
        if (std::find(edit.members.begin(), edit.members.end(), "") != edit.members.end())
            return error;
        return edit;
    }
    edit.node = parts[1];
    if (anchored)
        edit.anchor = parts[2];
    return edit;
}

Edits withEdit(Edits edits, const Edit& edit) {
    if (isPlacement(edit)) {
        std::erase_if(edits, [&](const Edit& old) { return isPlacement(old) && old.node == edit.node; });
    } else {
        for (Edit& old : edits) {
            const size_t before = old.members.size();
            std::erase_if(old.members, [&](const std::string& member) {
                return std::find(edit.members.begin(), edit.members.end(), member) != edit.members.end();
            });
            if (before > 1 && old.members.size() == 1)
                old.members.clear();
        }
        std::erase_if(edits, [](const Edit& old) { return !isPlacement(old) && old.members.empty(); });
    }
    edits.push_back(edit);
    return edits;
}

Edits withoutEdits(Edits edits, std::string_view node) {
    std::erase_if(edits, [&](const Edit& edit) {
        return edit.node == node ||
               std::find(edit.members.begin(), edit.members.end(), node) != edit.members.end();
    });
    return edits;
}

const Edit* placementOf(const Edits& edits, std::string_view node) {
    const auto found = std::find_if(edits.begin(), edits.end(),
                                    [&](const Edit& edit) { return isPlacement(edit) && edit.node == node; });
    return found == edits.end() ? nullptr : &*found;
}

} // namespace gs

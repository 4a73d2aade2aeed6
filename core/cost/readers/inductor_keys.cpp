#include "cost/readers/inductor_keys.h"

#include "cost/readers/collective_names.h"
#include "cost/readers/json_cursor.h"
#include "cost/readers/op_signature.h"
#include "import/text_lines.h"

namespace gs {

namespace {

/// Text behind "key:" up to the next space; empty if there is none.
std::string_view fieldOf(std::string_view text, std::string_view key) {
    const size_t at = text.find(key);
    if (at == std::string_view::npos)
        return {};
    const std::string_view rest = text.substr(at + key.size());
    return rest.substr(0, rest.find_first_of(" ,"));
}

} // namespace

std::optional<MeasuredCollective> collectiveOfKey(std::string_view key) {
    MeasuredCollective out;
    out.kind = plainKind(collectiveOfName(key.substr(0, key.find(' '))));
    int64_t size = 0;
    if (out.kind == CollectiveKind::None || !parseInteger(fieldOf(key, "input_bytes:"), out.input_bytes) ||
        out.input_bytes < 0)
        return std::nullopt;
    if (parseInteger(fieldOf(key, "group_size:"), size) && size > 0)
        out.group_size = size;
    out.group = fieldOf(key, "group_name:");
    return out;
}

std::optional<std::string> typedKeyOf(std::string_view text) {
    text = trimmed(text);
    const size_t name_end = std::min(text.find(' '), text.size());
    std::string packet(text.substr(0, name_end));
    if (packet.empty())
        return std::nullopt;
    packet = packet.find_first_of(".:") == std::string::npos ? "aten." + packet : opPacket(packet);
    Signature items;
    for (size_t at = name_end; at < text.size();) {
        const size_t open = text.find('(', at);
        const size_t close = std::min(text.find(')', open), text.size());
        if (open == std::string_view::npos || close == text.size())
            break;
        SignatureItem item;
        item.dtype = dtypeOfTrace(trimmed(text.substr(at, open - at)));
        std::vector<int64_t>& shape = item.shapes.emplace_back();
        for (size_t i = open + 1; i < close;) {
            const size_t comma = std::min(text.find(',', i), close);
            int64_t value = 0;
            const std::string_view word = trimmed(text.substr(i, comma - i));
            if (!word.empty() && !parseInteger(word, value))
                return std::nullopt;
            if (!word.empty())
                shape.push_back(value);
            i = comma + 1;
        }
        if (item.dtype == DType::Unknown)
            return std::nullopt;
        items.push_back(std::move(item));
        at = close + 1;
    }
    return measuredKey(packet, signatureText(items, true));
}

} // namespace gs

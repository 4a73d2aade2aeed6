// Pieces of Python calls as programs print them; for readers that need a few facts of a call, not all of it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gs {

/// The identifier, or the dotted name, that the text begins with; may be empty.
std::string_view takeName(std::string_view text);
std::string_view takePath(std::string_view text);
bool startsWith(std::string_view text, std::string_view start);
/// Position behind the bracket that closes the one at `open`; the end of the text if it is cut.
size_t behindBracket(std::string_view text, size_t open);
/// Inside of tuple `index` among a call's arguments: "f((4, 2), (2, 1))", 0 → "4, 2". Empty if there is none.
std::string_view tupleAt(std::string_view call, int index);
/// Value of a keyword argument up to the next comma outside brackets: "device(type='cuda')"; empty if absent.
std::string_view keywordOf(std::string_view call, std::string_view keyword);
/// First dtype named in the text, without "torch."; empty if there is none.
std::string_view dtypeIn(std::string_view text);
/// Plain names in the arguments of a call, in their order: no keywords, no attributes.
std::vector<std::string_view> namesIn(std::string_view arguments);
/// "reinterpret_tensor(buf0, (4, 2), (2, 1), 0)" stands for buf0: only which memory it is counts here.
std::string withoutViews(std::string_view text);

} // namespace gs

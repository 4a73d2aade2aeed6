// Lines of a text as programs print it: log prefixes, rank prefixes, quote marks and colours are taken off.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

namespace gs {

/// One line without what a logger or a mail program put around it. Views point into the text or into the
/// LineReader.
struct TextLine {
    std::string_view text;       ///< without prefix and line end; its own indentation is kept
    size_t offset = 0;           ///< of the physical line in the whole text
    uint32_t number = 0;         ///< line number, from 1
    uint32_t column = 1;         ///< column of text's first character, from 1
    uint64_t stream = 0;         ///< equal for the lines of one log message; 0 = no prefix
    int32_t rank = -1;           ///< of a "[rank3]:" prefix; -1 = none
    bool logged = false;         ///< has a prefix of PyTorch's logging
    std::string_view compile_id; ///< "0/0", "!1/0/0_1", …
    std::string_view tag;        ///< "aot_graphs" of "[__aot_graphs]"
};

/// Reads forward line by line. Prefixes are those of PyTorch's logging (torch/_logging/_internal.py), also
/// doubled, cut or shortened by hand, and torchrun's "[rank3]:". A line of a TORCH_TRACE log that begins with
/// a TAB is payload: it has the stream kPayloadStream and loses the TAB.
class LineReader {
public:
    static constexpr uint64_t kPayloadStream = 1;

    /// Reads text[offset, end); the first line has the number `line`. `trace` = leading TABs mark payload.
    LineReader(std::string_view text, size_t offset, size_t end, uint32_t line, bool trace);

    bool next(TextLine& line);
    void setTrace(bool trace) { trace_ = trace; }

private:
    std::string_view withoutColours(std::string_view line);

    std::string_view text_;
    size_t at_;
    size_t end_;
    uint32_t line_;
    bool trace_;
    bool coloured_;
    std::deque<std::string> scratch_; ///< lines that had colours; never freed while views are in use
};

/// Number of leading spaces and TABs.
size_t indentOf(std::string_view line);
/// Without spaces, TABs and other white space at both ends.
std::string_view trimmed(std::string_view text);
/// A character of a Python identifier.
inline bool isNameChar(char c) {
    static constexpr auto kTable = [] {
        std::array<bool, 256> table{};
        for (int i = 0; i < 256; ++i)
            table[static_cast<size_t>(i)] = i == '_' || (i >= 'a' && i <= 'z') || (i >= 'A' && i <= 'Z') ||
                                            (i >= '0' && i <= '9') || i >= 0x80;
        return table;
    }();
    return kTable[static_cast<unsigned char>(c)];
}
/// Position of `word` in a whole file, from `from` on; npos if it is not there. Much faster than
/// string_view::find, whose time goes up with every occurrence of the word's first character.
size_t findText(std::string_view text, std::string_view word, size_t from = 0);
inline bool containsText(std::string_view text, std::string_view word) {
    return findText(text, word) != std::string_view::npos;
}

} // namespace gs

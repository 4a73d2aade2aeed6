// Text of graphs made safe for HTML, XML and SVG, and tables of it. Everything that a file brings goes
// through escape(): labels are data.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gs::html {

/// Characters of a label that are shown; what is longer ends in "…".
inline constexpr size_t kLabelCharacters = 240;

/// Valid UTF-8 without surprises: broken bytes, control characters, noncharacters and marks that turn the
/// direction of text become U+FFFD, tabs and line ends a space. Cut after `max_characters` code points.
std::string cleanText(std::string_view text, size_t max_characters = kLabelCharacters);

/// cleanText() with & < > " ' as references: inert as content and in quoted attributes of HTML and XML.
std::string escape(std::string_view text, size_t max_characters = kLabelCharacters);

/// Code points of valid UTF-8; for guessing how wide a label is.
size_t characters(std::string_view text);

struct Column {
    std::string_view title;
    bool number = false; ///< right-aligned
    std::string_view hint = {};
};

/// An HTML table, cell by cell.
class Table {
public:
    Table(std::span<const Column> columns, std::string_view css_class = "data");

    Table& text(std::string_view data); ///< escaped
    Table& code(std::string_view data); ///< escaped, monospaced
    Table& html(std::string_view markup);
    void endRow();
    size_t rows() const { return rows_; }
    std::string str() const { return head_ + body_ + "</tbody></table>\n"; }

private:
    std::vector<Column> columns_;
    std::string head_, body_;
    size_t column_ = 0, rows_ = 0;
};

/// A word in a coloured frame. `css_class`: "good", "bad", "warn", "plain".
std::string pill(std::string_view css_class, std::string_view text);

/// `body` behind a line that opens and closes it.
std::string folded(std::string_view summary, std::string_view body);

} // namespace gs::html

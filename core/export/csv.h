// Comma-separated tables after RFC 4180.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gs {

/// Builds a table row by row; lines end in CR LF. Text that a spreadsheet would run as a formula (it starts
/// with = + - @, a tab or a line end) gets a leading apostrophe and is quoted; numbers never do.
/// Control characters but tabs and line ends become spaces.
class CsvTable {
public:
    explicit CsvTable(const std::vector<std::string_view>& columns);

    CsvTable& text(std::string_view cell);
    CsvTable& number(int64_t value);
    /// Shortest text that reads back as the same number.
    CsvTable& number(double value);
    CsvTable& empty() { return raw({}); }
    void endRow();
    const std::string& str() const { return out_; }

private:
    CsvTable& raw(std::string_view cell);

    std::string out_;
    bool row_begun_ = false;
};

} // namespace gs

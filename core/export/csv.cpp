#include "export/csv.h"

#include <cmath>
#include <fmt/format.h>

namespace gs {

CsvTable::CsvTable(const std::vector<std::string_view>& columns) {
    for (std::string_view column : columns)
        text(column);
    endRow();
}

CsvTable& CsvTable::raw(std::string_view cell) {
    if (row_begun_)
        out_ += ',';
    row_begun_ = true;
    out_ += cell;
    return *this;
}

CsvTable& CsvTable::text(std::string_view cell) {
    const bool formula =
        !cell.empty() && std::string_view("=+-@\t\r\n").find(cell.front()) != std::string_view::npos;
    std::string clean(cell);
    for (char& c : clean) {
        if ((static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\r' && c != '\n') || c == 0x7F)
            c = ' ';
    }
    if (!formula && clean.find_first_of(",\"\r\n") == std::string::npos)
        return raw(clean);
    std::string quoted = formula ? "\"'" : "\"";
    for (char c : clean)
        quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return raw(quoted + "\"");
}

CsvTable& CsvTable::number(int64_t value) {
    return raw(std::to_string(value));
}

CsvTable& CsvTable::number(double value) {
    return std::isfinite(value) ? raw(fmt::format("{}", value)) : empty();
}

void CsvTable::endRow() {
    out_ += "\r\n";
    row_begun_ = false;
}

} // namespace gs

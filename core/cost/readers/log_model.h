// Costs by the labels and names that a log of document 000 has.
#pragma once

#include "cost/cost_model.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace gs {

struct LogRow {
    int64_t ns = 0;
    int64_t calls = 0;
    std::string word; ///< "measured" or "analytical"
};

struct LogCosts {
    std::string path;
    std::string file_name;
    std::unordered_map<std::string, std::vector<LogRow>> rows; ///< "compute|label" or "collective|label"
    std::unordered_map<std::string, int64_t> launches;         ///< node name → comm of a placement line
};

/// A node gets the row with its label, or with its label and key ("label {key}", which the exporter writes
/// where several entries share a label). Several rows of one label: the one with as many calls as the graph
/// has equal nodes, else the mean over the calls (Interpolated). A launch without a row gets the time of its
/// placement line, which is rounded to 0.1 µs.
CostModelPtr makeLogModel(LogCosts costs);

/// Text as a field of an ESTLINE row: bars and control characters are replaced.
std::string estlineField(std::string_view text);

} // namespace gs

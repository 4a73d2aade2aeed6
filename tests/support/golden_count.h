// What the golden tests compared, for the table that the last test prints: each test leaves its counts in the
// build tree.
#pragma once

#include <map>
#include <string>

namespace gs::test {

/// Counts of one test. A row is one result of a reference, as goldenRows() counts them.
struct GoldenCount {
    size_t compared = 0; ///< equal to the reference's result
    size_t errors = 0;   ///< rows where the reference crashes and ours gave a valid answer
    /// Rows that could not be compared, by the corpus file that is not in this checkout ("costs/x.json").
    std::map<std::string, size_t> not_run;
};

/// Rows of the goldens at hand by folder: "latest_safe_launch", "overlap003", …; 0 where none is.
std::map<std::string, size_t> goldenRows();

/// Writes the counts for the table, over those of an earlier run. `part` tells several tests of one kind
/// apart.
void reportGoldens(const std::string& kind, const std::string& part, const GoldenCount& count);

/// Reads what the tests reported, by kind and part, and removes it: the next table needs a new run.
std::map<std::string, std::map<std::string, GoldenCount>> takeGoldenCounts();

} // namespace gs::test
